"""Elementwise functions.

TypeError for an operand that is no array of refarray, for a dtype outside the category
that a function takes, and for operands without a common dtype. ValueError for shapes
that do not broadcast and for arrays on different devices. OverflowError for a Python
integer that the dtype of the array beside it cannot hold.

Source: array API 2025.12, elementwise functions.

Next: `indexing_functions.py`.
"""

from __future__ import annotations

from refarray._compute import clip as _clip
from refarray._compute.array import Array
from refarray._compute.pipeline import (
    ANY,
    BOOL,
    COMPLEX,
    FLOATING,
    INTEGRAL,
    INTEGRAL_OR_BOOL,
    NUMERIC,
    REAL,
    REAL_FLOATING,
    binary,
    boolean,
    component,
    unary,
)


def abs(x: Array, /) -> Array:
    """Magnitude of `x`, for complex numbers a real one of the same precision."""
    return unary("abs", NUMERIC, x, component)


def acos(x: Array, /) -> Array:
    """Inverse cosine of `x` in radians, 0 to pi."""
    return unary("acos", FLOATING, x)


def acosh(x: Array, /) -> Array:
    """Inverse hyperbolic cosine of `x`."""
    return unary("acosh", FLOATING, x)


def add(x1: Array | complex, x2: Array | complex, /) -> Array:
    """Sum of `x1` and `x2`."""
    return binary("add", NUMERIC, x1, x2)


def asin(x: Array, /) -> Array:
    """Inverse sine of `x` in radians, -pi/2 to pi/2."""
    return unary("asin", FLOATING, x)


def asinh(x: Array, /) -> Array:
    """Inverse hyperbolic sine of `x`."""
    return unary("asinh", FLOATING, x)


def atan(x: Array, /) -> Array:
    """Inverse tangent of `x` in radians, -pi/2 to pi/2."""
    return unary("atan", FLOATING, x)


def atan2(x1: Array | float, x2: Array | float, /) -> Array:
    """Angle of the point (`x2`, `x1`) in radians, -pi to pi."""
    return binary("atan2", REAL_FLOATING, x1, x2)


def atanh(x: Array, /) -> Array:
    """Inverse hyperbolic tangent of `x`."""
    return unary("atanh", FLOATING, x)


def bitwise_and(x1: Array | int, x2: Array | int, /) -> Array:
    """Bits set in both `x1` and `x2`, integers or booleans."""
    return binary("bitwise_and", INTEGRAL_OR_BOOL, x1, x2)


def bitwise_left_shift(x1: Array | int, x2: Array | int, /) -> Array:
    """Bits of `x1` shifted left by `x2` places."""
    return binary("bitwise_left_shift", INTEGRAL, x1, x2)


def bitwise_invert(x: Array, /) -> Array:
    """Bits of `x`, integers or booleans, each inverted."""
    return unary("bitwise_invert", INTEGRAL_OR_BOOL, x)


def bitwise_or(x1: Array | int, x2: Array | int, /) -> Array:
    """Bits set in `x1` or `x2`, integers or booleans."""
    return binary("bitwise_or", INTEGRAL_OR_BOOL, x1, x2)


def bitwise_right_shift(x1: Array | int, x2: Array | int, /) -> Array:
    """Bits of `x1` shifted right by `x2` places, the sign kept."""
    return binary("bitwise_right_shift", INTEGRAL, x1, x2)


def bitwise_xor(x1: Array | int, x2: Array | int, /) -> Array:
    """Bits set in one of `x1` and `x2`, integers or booleans."""
    return binary("bitwise_xor", INTEGRAL_OR_BOOL, x1, x2)


def ceil(x: Array, /) -> Array:
    """Least integer that is not less than `x`, in the dtype of `x`."""
    return unary("ceil", REAL, x)


def clip(
    x: Array, /, min: Array | float | None = None, max: Array | float | None = None
) -> Array:
    """`x` limited to [`min`, `max`]; NaN where any of the three is NaN.

    The limits convert to the dtype of `x`. Where `min` exceeds `max`, it gives `max`.
    """
    return _clip.clamp(x, min, max)


def conj(x: Array, /) -> Array:
    """Complex conjugate of `x`; real numbers are their own."""
    return unary("conj", NUMERIC, x)


def copysign(x1: Array | float, x2: Array | float, /) -> Array:
    """Magnitude of `x1` with the sign of `x2`, zeros and NaN included."""
    return binary("copysign", REAL_FLOATING, x1, x2)


def cos(x: Array, /) -> Array:
    """Cosine of `x` in radians."""
    return unary("cos", FLOATING, x)


def cosh(x: Array, /) -> Array:
    """Hyperbolic cosine of `x`."""
    return unary("cosh", FLOATING, x)


def divide(x1: Array | complex, x2: Array | complex, /) -> Array:
    """Quotient of `x1` and `x2`, floating-point numbers; integers are refused."""
    return binary("divide", FLOATING, x1, x2)


def equal(x1: Array | complex, x2: Array | complex, /) -> Array:
    """Whether `x1` equals `x2`."""
    return binary("equal", ANY, x1, x2, boolean)


def exp(x: Array, /) -> Array:
    """Exponential function of `x`."""
    return unary("exp", FLOATING, x)


def expm1(x: Array, /) -> Array:
    """Exponential function of `x`, minus one; accurate near zero."""
    return unary("expm1", FLOATING, x)


def floor(x: Array, /) -> Array:
    """Greatest integer that is not greater than `x`, in the dtype of `x`."""
    return unary("floor", REAL, x)


def floor_divide(x1: Array | float, x2: Array | float, /) -> Array:
    """Quotient of `x1` and `x2`, rounded down."""
    return binary("floor_divide", REAL, x1, x2)


def greater(x1: Array | float, x2: Array | float, /) -> Array:
    """Whether `x1` is greater than `x2`."""
    return binary("greater", REAL, x1, x2, boolean)


def greater_equal(x1: Array | float, x2: Array | float, /) -> Array:
    """Whether `x1` is greater than or equal to `x2`."""
    return binary("greater_equal", REAL, x1, x2, boolean)


def hypot(x1: Array | float, x2: Array | float, /) -> Array:
    """Length of the hypotenuse over the legs `x1` and `x2`."""
    return binary("hypot", REAL_FLOATING, x1, x2)


def imag(x: Array, /) -> Array:
    """Imaginary part of `x`, complex numbers, as a copy."""
    return unary("imag", COMPLEX, x, component)


def isfinite(x: Array, /) -> Array:
    """Whether `x` is neither infinite nor NaN."""
    return unary("isfinite", NUMERIC, x, boolean)


def isinf(x: Array, /) -> Array:
    """Whether `x` is infinite; of a complex number, any part."""
    return unary("isinf", NUMERIC, x, boolean)


def isnan(x: Array, /) -> Array:
    """Whether `x` is NaN; of a complex number, any part."""
    return unary("isnan", NUMERIC, x, boolean)


def less(x1: Array | float, x2: Array | float, /) -> Array:
    """Whether `x1` is less than `x2`."""
    return binary("less", REAL, x1, x2, boolean)


def less_equal(x1: Array | float, x2: Array | float, /) -> Array:
    """Whether `x1` is less than or equal to `x2`."""
    return binary("less_equal", REAL, x1, x2, boolean)


def log(x: Array, /) -> Array:
    """Natural logarithm of `x`."""
    return unary("log", FLOATING, x)


def log1p(x: Array, /) -> Array:
    """Natural logarithm of 1 + `x`; accurate near zero."""
    return unary("log1p", FLOATING, x)


def log2(x: Array, /) -> Array:
    """Logarithm of `x` to base 2."""
    return unary("log2", FLOATING, x)


def log10(x: Array, /) -> Array:
    """Logarithm of `x` to base 10."""
    return unary("log10", FLOATING, x)


def logaddexp(x1: Array | float, x2: Array | float, /) -> Array:
    """Logarithm of exp(`x1`) + exp(`x2`), without their overflow."""
    return binary("logaddexp", REAL_FLOATING, x1, x2)


def logical_and(x1: Array | bool, x2: Array | bool, /) -> Array:
    """Whether both `x1` and `x2`, booleans."""
    return binary("logical_and", BOOL, x1, x2)


def logical_not(x: Array, /) -> Array:
    """Whether not `x`, booleans."""
    return unary("logical_not", BOOL, x)


def logical_or(x1: Array | bool, x2: Array | bool, /) -> Array:
    """Whether `x1` or `x2`, booleans."""
    return binary("logical_or", BOOL, x1, x2)


def logical_xor(x1: Array | bool, x2: Array | bool, /) -> Array:
    """Whether one of `x1` and `x2`, booleans."""
    return binary("logical_xor", BOOL, x1, x2)


def maximum(x1: Array | float, x2: Array | float, /) -> Array:
    """Greater of `x1` and `x2`; NaN if either is NaN."""
    return binary("maximum", REAL, x1, x2)


def minimum(x1: Array | float, x2: Array | float, /) -> Array:
    """Lesser of `x1` and `x2`; NaN if either is NaN."""
    return binary("minimum", REAL, x1, x2)


def multiply(x1: Array | complex, x2: Array | complex, /) -> Array:
    """Product of `x1` and `x2`."""
    return binary("multiply", NUMERIC, x1, x2)


def negative(x: Array, /) -> Array:
    """`x` with the opposite sign."""
    return unary("negative", NUMERIC, x)


def nextafter(x1: Array | float, x2: Array | float, /) -> Array:
    """Number next to `x1` in the direction of `x2`."""
    return binary("nextafter", REAL_FLOATING, x1, x2)


def not_equal(x1: Array | complex, x2: Array | complex, /) -> Array:
    """Whether `x1` differs from `x2`."""
    return binary("not_equal", ANY, x1, x2, boolean)


def positive(x: Array, /) -> Array:
    """`x` with its own sign, as a copy."""
    return unary("positive", NUMERIC, x)


def pow(x1: Array | complex, x2: Array | complex, /) -> Array:
    """`x1` raised to the power `x2`; ValueError for integers to negative powers."""
    return binary("pow", NUMERIC, x1, x2)


def real(x: Array, /) -> Array:
    """Real part of `x`, as a copy; real numbers are their own."""
    return unary("real", NUMERIC, x, component)


def reciprocal(x: Array, /) -> Array:
    """One divided by `x`."""
    return unary("reciprocal", FLOATING, x)


def remainder(x1: Array | float, x2: Array | float, /) -> Array:
    """Remainder of dividing `x1` by `x2`, with the sign of `x2`."""
    return binary("remainder", REAL, x1, x2)


def round(x: Array, /) -> Array:
    """Integer nearest to `x`, the even one of two; of complex numbers, each part."""
    return unary("round", NUMERIC, x)


def sign(x: Array, /) -> Array:
    """`x` divided by its magnitude; zero for zero."""
    return unary("sign", NUMERIC, x)


def signbit(x: Array, /) -> Array:
    """Whether the sign of `x` is negative, zeros and NaN included."""
    return unary("signbit", REAL_FLOATING, x, boolean)


def sin(x: Array, /) -> Array:
    """Sine of `x` in radians."""
    return unary("sin", FLOATING, x)


def sinh(x: Array, /) -> Array:
    """Hyperbolic sine of `x`."""
    return unary("sinh", FLOATING, x)


def square(x: Array, /) -> Array:
    """`x` times `x`."""
    return unary("square", NUMERIC, x)


def sqrt(x: Array, /) -> Array:
    """Square root of `x`; of complex numbers, that in the right half-plane."""
    return unary("sqrt", FLOATING, x)


def subtract(x1: Array | complex, x2: Array | complex, /) -> Array:
    """Difference of `x1` and `x2`."""
    return binary("subtract", NUMERIC, x1, x2)


def tan(x: Array, /) -> Array:
    """Tangent of `x` in radians."""
    return unary("tan", FLOATING, x)


def tanh(x: Array, /) -> Array:
    """Hyperbolic tangent of `x`."""
    return unary("tanh", FLOATING, x)


def trunc(x: Array, /) -> Array:
    """`x` rounded towards zero, in the dtype of `x`."""
    return unary("trunc", REAL, x)
