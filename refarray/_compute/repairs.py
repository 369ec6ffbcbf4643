"""Kernels: NumPy's, but for those that disagree with the standard.

Each repair is one function and names the clause that it restores. It runs NumPy's
kernel, looks whether any element needs the repair, and computes again only those.

Next: `freedom.py`.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from refarray._base.dtypes import KINDS, DType
from refarray._compute.engine import Kernel

_Array = np.ndarray[Any, Any]


def kernel(name: str, dtype: DType) -> Kernel:
    """Return the kernel of an elementwise function for operands of `dtype`."""
    for repaired_name, kinds, repaired in _REPAIRS:
        if name == repaired_name and dtype in kinds:
            return repaired
    return getattr(np, name)  # type: ignore[no-any-return]


# The methods any() and all() take longer than the addition of two short arrays.
def _any(flags: Any) -> bool:
    return b"\1" in flags.tobytes()


def _all_finite(x: Any) -> bool:
    if x.ndim == 0:
        return math.isfinite(x)
    return b"\0" not in np.isfinite(x).tobytes()


# Real numbers ------------------------------------------------------------------------


def floor_divide(x1: Any, x2: Any, out: _Array) -> None:
    """Divide and round down, infinities included.

    NumPy follows Python, where inf // 2.0 is NaN and 1.0 // -inf is -1. The standard's
    special cases ask for floor(x1 / x2): infinity, and negative zero.
    """
    np.floor_divide(x1, x2, out=out)
    if not (_all_finite(x1) and _all_finite(x2)):
        infinite1, infinite2 = np.isinf(x1), np.isinf(x2)
        special = infinite1 & np.isfinite(x2) & (x2 != 0)
        special |= np.isfinite(x1) & infinite2
        np.copyto(out, np.true_divide(x1, x2), where=special)


def power(x1: Any, x2: Any, out: _Array) -> None:
    """Raise to a power, with the exponent 1/2 like any other.

    NumPy takes x**0.5 for a square root, so (-inf)**0.5 is NaN and (-0)**0.5 is -0. The
    standard's special cases give +infinity and +0.
    """
    np.power(x1, x2, out=out)
    half = x2 == 0.5
    if _any(half):
        special = half & (np.isinf(x1) | (x1 == 0))
        np.copyto(out, np.abs(x1), where=special)


def integer_power(x1: Any, x2: Any, out: _Array) -> None:
    """Raise integers to a power, and say in refarray's words what is refused.

    The standard leaves negative powers open.
    """
    try:
        np.power(x1, x2, out=out)
    except ValueError:
        raise ValueError(
            "pow takes integers to powers of 0 or more, and a power here is negative; "
            "convert the base with astype to a floating-point dtype first"
        ) from None


def maximum(x1: Any, x2: Any, out: _Array) -> None:
    """Greater of two; NumPy 2.4 takes `out` by its name alone here."""
    np.maximum(x1, x2, out=out)


def minimum(x1: Any, x2: Any, out: _Array) -> None:
    """Lesser of two; see `maximum`."""
    np.minimum(x1, x2, out=out)


@cache
def clip() -> Kernel:
    """Return the ufunc behind NumPy's method of that name, which takes half the time.

    It has no public name, but NumPy shows it to operands with `__array_ufunc__`.
    """

    class Catch:
        def __array_ufunc__(self, ufunc: Any, *args: Any, **kwargs: Any) -> Any:
            return ufunc

    ufunc = np.zeros(1).clip(Catch(), Catch())  # type: ignore[call-overload]
    return ufunc if isinstance(ufunc, np.ufunc) else np.ndarray.clip


# Complex numbers ---------------------------------------------------------------------


def real(x: _Array, out: _Array) -> None:
    """Copy the real part; NumPy's own gives a view."""
    np.copyto(out, x.real)


def imag(x: _Array, out: _Array) -> None:
    """Copy the imaginary part; NumPy's own gives a view."""
    np.copyto(out, x.imag)


def acosh(x: _Array, out: _Array) -> None:
    """On the imaginary axis the imaginary part is pi/2, even where x is NaN.

    NumPy before 2.3 gives NaN there. The standard's special case has pi/2 of either
    sign.
    """
    np.acosh(x, out=out)
    special = (x.real == 0) & np.isnan(x.imag)
    if _any(special):
        out.imag[special] = np.pi / 2


def expm1(x: _Array, out: _Array) -> None:
    """Special cases as by exp(x) - 1.

    NumPy gives NaN where a part is infinite, and -0 for a real part of -0. The standard
    has a case for each.
    """
    np.expm1(x, out=out)
    special = (x == 0) | ~np.isfinite(x)
    if _any(special):
        values: Any = np.exp(x[special])
        values.real -= 1
        out[special] = values


def log1p(x: _Array, out: _Array) -> None:
    """Accurate near zero, and wherever 1 + x is near the unit circle.

    NumPy takes log(abs(1 + x)) for the real part, which is what the standard warns of.
    """
    np.log1p(x, out=out)
    near = np.abs(out.real) < 0.5
    if _any(near):
        x = x[near].astype(np.complex128)
        out.real[near] = np.log1p(_square_minus_one(x.real, x.imag)) / 2


def _square_minus_one(a: Any, b: Any) -> Any:
    """Return abs(1 + a + bj)**2 - 1 = 2a + a*a + b*b, rounded about once."""
    (aa, error1), (bb, error2) = _square(a), _square(b)
    total, error3 = _add(2 * a, aa)
    total, error4 = _add(total, bb)
    return total + (error1 + error2 + error3 + error4)


def _square(x: Any) -> tuple[Any, Any]:
    """Return x * x and its rounding error (Dekker: both halves have 26 bits)."""
    scaled = x * 134217729.0  # 2**27 + 1
    high = scaled - (scaled - x)
    low = x - high
    product = x * x
    return product, ((high * high - product) + 2 * high * low) + low * low


def _add(x: Any, y: Any) -> tuple[Any, Any]:
    """Return x + y and its rounding error (Knuth)."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def sign(x: _Array, out: _Array) -> None:
    """Divide by the magnitude, whatever that is.

    NumPy lets magnitudes overflow, and loses the digits of subnormal numbers.
    """
    magnitude = np.abs(x)
    np.divide(x.real, magnitude, out=out.real)
    np.divide(x.imag, magnitude, out=out.imag)
    limits = np.finfo(magnitude.dtype)
    special = ~((magnitude >= limits.smallest_normal) & (magnitude <= limits.max))
    if _any(special):
        values = x[special]
        # Powers of two, so that nothing is rounded: a magnitude within the usual range.
        values = np.where(np.abs(values) < 1, values * 2.0**64, values / 4)
        out[special] = np.sign(values)


def tan(x: _Array, out: _Array) -> None:
    """Limits at imaginary infinity, as those of tanh at the real one."""
    np.tan(x, out=out)
    infinite = np.isinf(x.imag)
    if _any(infinite):
        out.real[infinite] = np.copysign(0, x.real[infinite])


def tanh(x: _Array, out: _Array) -> None:
    """Limits at real infinity: 1 + 0j in the upper half-plane.

    C gives the zero the sign of sin(2b). The standard's special case has no such
    factor, and tanh(conj(x)) is conj(tanh(x)).
    """
    np.tanh(x, out=out)
    infinite = np.isinf(x.real)
    if _any(infinite):
        out.imag[infinite] = np.copysign(0, x.imag[infinite])


_REAL, _COMPLEX = KINDS["real floating"], KINDS["complex floating"]

# The first entry that fits counts. Some are no repairs: NumPy has no ufunc of the name.
_REPAIRS: tuple[tuple[str, frozenset[DType], Kernel], ...] = (
    ("floor_divide", _REAL, floor_divide),
    ("pow", _REAL, power),
    ("pow", KINDS["integral"], integer_power),
    ("maximum", KINDS["numeric"], maximum),
    ("minimum", KINDS["numeric"], minimum),
    ("real", _COMPLEX, real),
    ("real", KINDS["numeric"], np.positive),
    ("imag", _COMPLEX, imag),
    ("round", KINDS["integral"], np.positive),
    ("round", KINDS["numeric"], np.rint),
    ("acosh", _COMPLEX, acosh),
    ("expm1", _COMPLEX, expm1),
    ("log1p", _COMPLEX, log1p),
    ("sign", _COMPLEX, sign),
    ("tan", _COMPLEX, tan),
    ("tanh", _COMPLEX, tanh),
)
