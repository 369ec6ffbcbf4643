"""Exact arithmetic on finite floating-point numbers, rounded once at the end.

Every finite float is a fraction, so the sum, product and quotient of two floats are
fractions too; `rounded` takes one to the nearest number of a dtype, ties to even, with
overflow to infinity and gradual underflow, as IEEE 754 defines the operations.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

Values = np.ndarray[Any, Any]

# dtype: (digits of the significand, exponent of the smallest subnormal, largest number)
_FORMATS = {
    "float32": (24, -149, float(np.finfo(np.float32).max)),
    "float64": (53, -1074, float(np.finfo(np.float64).max)),
}


def rounded(value: Fraction, dtype: str) -> float:
    """The number of ``dtype`` nearest to ``value``, ties to even."""
    digits, lowest, largest = _FORMATS[dtype]
    if value == 0:
        return 0.0
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if size < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** max(exponent - digits + 1, lowest)
    nearest = round(size / unit) * unit  # Fraction rounds half to even
    result = math.inf if nearest > Fraction(largest) else float(nearest)
    return -result if value < 0 else result


def _elementwise(
    operation: Callable[[float, float, str], float], x1: Values, x2: Values
) -> Values:
    dtype = x1.dtype.name
    pairs = zip(x1.ravel().tolist(), x2.ravel().tolist(), strict=True)
    values = [operation(a, b, dtype) for a, b in pairs]
    return np.asarray(values, dtype).reshape(x1.shape)


def add(x1: Values, x2: Values) -> Values:
    """x1 + x2 for finite numbers; an exact zero is +0 unless both are -0."""

    def one(a: float, b: float, dtype: str) -> float:
        if a == b == 0:
            return -0.0 if math.copysign(1, a) == math.copysign(1, b) == -1 else 0.0
        return rounded(Fraction(a) + Fraction(b), dtype)

    return _elementwise(one, x1, x2)


def multiply(x1: Values, x2: Values) -> Values:
    """x1 * x2 for finite numbers."""

    def one(a: float, b: float, dtype: str) -> float:
        size = rounded(abs(Fraction(a) * Fraction(b)), dtype)
        return size * math.copysign(1, a) * math.copysign(1, b)

    return _elementwise(one, x1, x2)


def divide(x1: Values, x2: Values) -> Values:
    """x1 / x2 for finite numbers, x2 not zero."""

    def one(a: float, b: float, dtype: str) -> float:
        size = rounded(abs(Fraction(a) / Fraction(b)), dtype)
        return size * math.copysign(1, a) * math.copysign(1, b)

    return _elementwise(one, x1, x2)


def remainder(x1: Values, x2: Values) -> Values:
    """x1 % x2 as Python defines it, for finite numbers, x2 not zero."""

    def one(a: float, b: float, dtype: str) -> float:
        return math.copysign(rounded(Fraction(a) % Fraction(b), dtype), b)

    return _elementwise(one, x1, x2)


def floor_quotient(x1: Values, x2: Values) -> Values:
    """Floor of the exact quotient of finite numbers, x2 not zero, rounded once."""

    def one(a: float, b: float, dtype: str) -> float:
        quotient = Fraction(a) / Fraction(b)
        sign = math.copysign(1, a) * math.copysign(1, b)
        return math.copysign(rounded(Fraction(math.floor(quotient)), dtype), sign)

    return _elementwise(one, x1, x2)
