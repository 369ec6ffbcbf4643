"""Pedantic: operands for which the standard leaves the result of a function open.

Under the profile `pedantic` each check here raises UnspecifiedError if it finds one;
under others it does nothing. They are called where `profile.guarded` is set and before
the kernel runs, look at every element, and take their time: what counts is that no
case gets past, and that none which is specified is refused.

Which cases these are, and which cannot be found: docs/reference/unspecified.md.

Next: `pedantic_sums.py`, then `pedantic_keys.py`.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from refarray._base import profile
from refarray._base.dtypes import KINDS, DType
from refarray._base.limits import IINFO
from refarray._base.profile import unspecified
from refarray._base.promotion import SCALAR_PROMOTION
from refarray._compute.engine import NUMPY_DTYPES, call

_Array = np.ndarray[Any, Any]

_REAL, _COMPLEX = KINDS["real floating"], KINDS["complex floating"]
_FLOATING = _REAL | _COMPLEX


def on(*operands: Any) -> bool:
    """Tell whether the profile in force wants operands checked: those on the host."""
    if not (profile.guarded and profile.active().unspecified == "raise"):
        return False
    return all(isinstance(x, (np.ndarray, np.generic)) for x in operands)


# Elementwise functions ---------------------------------------------------------------


def unary(name: str, dtype: DType, x: Any) -> None:
    """Check the operand of an elementwise function."""
    check = _UNARY.get(name)
    if check is not None and on(x):
        # Not with `call`: in its context no profile is in force.
        with np.errstate(all="ignore"):
            check(name, dtype, x)


def binary(name: str, dtype: DType, x1: Any, x2: Any) -> None:
    """Check the operands of an elementwise function, which meet in `dtype`."""
    check = _BINARY.get(name)
    if not on(x1, x2):
        return
    if name == "nextafter" and x1.dtype != x2.dtype:
        unspecified(
            f"{name} of {x1.dtype} and {x2.dtype}",
            f"{name}, x2: of the same data type",
            "convert one of them with astype",
        )
    if check is not None:
        common = NUMPY_DTYPES[dtype]
        operands = [np.asarray(x).astype(common, copy=False) for x in (x1, x2)]
        with np.errstate(all="ignore"):
            check(name, dtype, *np.broadcast_arrays(*operands))


def overflow(name: str, dtype: DType, found: Any) -> None:
    """Raise if `found`, which says where a result is out of the range of `dtype`."""
    if np.any(found):
        unspecified(
            f"{name} with a result that {dtype} cannot hold",
            f"{name}: overflow of integers is not mentioned",
            "convert to a wider dtype first",
        )


def in_range(name: str, dtype: DType, values: Iterable[int]) -> None:
    """Raise unless an integer `dtype` can hold all of these."""
    least, greatest = IINFO[dtype].min, IINFO[dtype].max
    overflow(name, dtype, any(not least <= value <= greatest for value in values))


def _abs(name: str, dtype: DType, x: _Array) -> None:
    if dtype.family == "signed integer":
        overflow(name, dtype, x == IINFO[dtype].min)


def _negative(name: str, dtype: DType, x: _Array) -> None:
    _abs(name, dtype, x)
    if dtype.family == "unsigned integer":
        overflow(name, dtype, x != 0)


def _square(name: str, dtype: DType, x: _Array) -> None:
    _multiply(name, dtype, x, x)


def _sign(name: str, dtype: DType, x: _Array) -> None:
    if dtype in _COMPLEX and np.any(np.isinf(x)):
        unspecified(
            f"{name} of an infinite complex number",
            "sign and divide, special cases",
            "exclude it with isinf first",
        )


def _add(name: str, dtype: DType, x1: _Array, x2: _Array) -> None:
    if dtype.family == "signed integer":
        total = x1 + x2
        overflow(name, dtype, ((x1 ^ total) & (x2 ^ total)) < 0)
    elif dtype.family == "unsigned integer":
        overflow(name, dtype, x1 + x2 < x1)


def _subtract(name: str, dtype: DType, x1: _Array, x2: _Array) -> None:
    if dtype.family == "signed integer":
        overflow(name, dtype, ((x1 ^ x2) & (x1 ^ (x1 - x2))) < 0)
    elif dtype.family == "unsigned integer":
        overflow(name, dtype, x1 < x2)


def _multiply(name: str, dtype: DType, x1: _Array, x2: _Array) -> None:
    if dtype in IINFO:
        # A product that wrapped around does not divide back.
        divisor = np.where(x1 == 0, 1, x1).astype(x1.dtype)
        overflow(name, dtype, (x1 != 0) & ((x1 * x2) // divisor != x2))
        if dtype.family == "signed integer":
            # Except for this one, whose quotient wraps around as well.
            overflow(name, dtype, (x1 == -1) & (x2 == IINFO[dtype].min))
    else:
        _infinite_parts(name, dtype, x1, x2)


def _infinite_parts(name: str, dtype: DType, x1: _Array, x2: _Array) -> None:
    if dtype in _COMPLEX:
        # All four parts NaN is the one case that is specified.
        all_nan = np.isnan(x1.real) & np.isnan(x1.imag)
        all_nan &= np.isnan(x2.real) & np.isnan(x2.imag)
        if np.any(~(np.isfinite(x1) & np.isfinite(x2)) & ~all_nan):
            unspecified(
                f"{name} of complex numbers with an infinite part or NaN",
                f"{name}, special cases",
                "exclude them with isfinite first",
            )


def _power(name: str, dtype: DType, x1: _Array, x2: _Array) -> None:
    if dtype in IINFO:
        pairs = zip(x1.ravel().tolist(), x2.ravel().tolist(), strict=True)
        # No power of 64 or more of a number beyond 1 fits; negative ones are refused.
        powers = (
            base ** min(exponent, 64 + exponent % 2)
            for base, exponent in pairs
            if exponent >= 0
        )
        in_range(name, dtype, powers)


def _floor_divide(name: str, dtype: DType, x1: _Array, x2: _Array) -> None:
    _remainder(name, dtype, x1, x2)
    if dtype.family == "signed integer":
        overflow(name, dtype, (x1 == IINFO[dtype].min) & (x2 == -1))
    elif dtype in _REAL:
        infinite1, infinite2 = np.isinf(x1), np.isinf(x2)
        open_ = infinite1 & np.isfinite(x2) & (x2 != 0)
        open_ |= np.isfinite(x1) & infinite2 & (x1 * x2 < 0)
        if np.any(open_):
            unspecified(
                f"{name} with an infinite operand",
                "floor_divide, special cases: as floor(x1 / x2) or as in Python",
                "use floor(divide(x1, x2))",
            )


def _remainder(name: str, dtype: DType, x1: _Array, x2: _Array) -> None:
    if dtype in IINFO and np.any(x2 == 0):
        unspecified(
            f"{name} of integers by zero",
            f"{name}, notes",
            "replace the zeros with where first",
        )


def _left_shift(name: str, dtype: DType, x1: _Array, x2: _Array) -> None:
    _right_shift(name, dtype, x1, x2)
    if np.any(x2 >= dtype.bits):
        unspecified(
            f"{name} of {dtype} by {dtype.bits} places or more",
            f"{name}: whether bits beyond the dtype are lost is not mentioned",
            "limit the places with clip first",
        )


def _right_shift(name: str, dtype: DType, x1: _Array, x2: _Array) -> None:
    # By the width and more it is floor division by a power of two, like any other.
    if np.any(x2 < 0):
        unspecified(
            f"{name} by a negative number of places", f"{name}, x2", "shift back"
        )


_UNARY: dict[str, Callable[[str, DType, _Array], None]] = {
    "abs": _abs,
    "negative": _negative,
    "sign": _sign,
    "square": _square,
}

_BINARY: dict[str, Callable[[str, DType, _Array, _Array], None]] = {
    "add": _add,
    "bitwise_left_shift": _left_shift,
    "bitwise_right_shift": _right_shift,
    "divide": _infinite_parts,
    "floor_divide": _floor_divide,
    "multiply": _multiply,
    "pow": _power,
    "remainder": _remainder,
    "subtract": _subtract,
}


def limits(low: Any, high: Any) -> None:
    """Check the limits of `clip`, in the dtype of `x` or None."""
    if on(low, high) and np.any(np.greater(low, high)):
        unspecified(
            "clip with min greater than max", "clip, notes", "order the limits first"
        )


# Conversion --------------------------------------------------------------------------


def conversion(x: Any, old: DType, new: DType) -> None:
    """Check the elements of a cast."""
    if old is new or not on(x):
        return
    if new in IINFO and old in IINFO:
        in_range("astype", new, (int(x.min()), int(x.max())) if x.size else ())
    elif new in IINFO and old in _REAL:
        cut = np.trunc(x)
        # In a dtype that has them exactly, as powers of two have.
        least, beyond = float(IINFO[new].min), float(IINFO[new].max + 1)
        if not np.all((cut >= least) & (cut < beyond)):
            unspecified(
                f"astype from {old} to {new} of NaN, infinity or a number beyond the "
                "limits of that",
                "astype, notes",
                "replace such elements with where first",
            )
    elif new in _FLOATING and old in _FLOATING:
        converted = call(x.astype, NUMPY_DTYPES[new])
        if np.any(np.isfinite(x) & ~np.isfinite(converted)):
            unspecified(
                f"astype from {old} to {new} of a number beyond the limits of that",
                "astype: not mentioned",
                "limit the elements with clip first",
            )


def scalar(value: Any, dtype: DType) -> None:
    """Check a Python scalar that becomes an element of `dtype`."""
    if dtype not in _FLOATING or not on():
        return
    try:
        element = call(NUMPY_DTYPES[dtype].type, value)
    except OverflowError:
        return  # an error in any case
    if np.isfinite(element):
        lost = isinstance(value, int) and int(element.real) != value
    else:
        lost = isinstance(value, int) or cmath.isfinite(value)
    if lost:
        unspecified(
            f"{value!r} in an array of {dtype}",
            "asarray and full, notes: a value that exceeds the precision",
            "use a wider dtype",
        )


def fill(name: str, value: Any, dtype: DType) -> None:
    """Check the value of `full` or `full_like`, a Python scalar."""
    if name == "full":
        fits = (type(value), dtype) in SCALAR_PROMOTION
    else:
        fits = dtype.family.endswith(_FAMILIES[type(value)])
    if not fits:
        unspecified(
            f"{name} of {dtype} with {value!r}, which is of another kind",
            f"{name}, fill_value and dtype",
            "write a value of the kind of the dtype",
        )


# How the families end whose kind is that of a Python type.
_FAMILIES: dict[type, str] = {
    bool: "bool",
    int: "integer",
    float: "floating",
    complex: "complex floating",
}


def ends(start: complex, stop: complex, dtype: DType) -> None:
    """Check the ends and the dtype of `linspace`."""
    if dtype in IINFO:
        unspecified(
            f"linspace with dtype={dtype}",
            "linspace, dtype and notes",
            "convert the result with floor and astype",
        )
        return  # integers of any size
    for end in (start, stop):
        scalar(end, dtype)
    if not cmath.isfinite(complex(stop) - complex(start)):
        unspecified(
            f"linspace from {start!r} to {stop!r}, whose difference is not finite",
            "linspace: not mentioned",
            "use finite ends",
        )


def taken(places: Any) -> None:
    """Check the indices of `take`: before 2024.12, negative ones."""
    if not on(places) or profile.active().api_version >= "2024.12":
        return
    if np.any(places < 0):
        unspecified(
            "take with negative indices in a version of the standard before 2024.12",
            "take, changes",
            "count from the first element",
        )


# Order -------------------------------------------------------------------------------


def sorted_values(known: _Array, wanted: Any, order: Any) -> None:
    """Check the operands of `searchsorted`; `order` sorts the values or is None."""
    if on(known):
        no_nan("searchsorted", "searchsorted, notes", known, wanted)
        if order is not None:
            # Out of range it is an error in any case.
            known = known.take(order, mode="clip")
        if np.any(known[1:] < known[:-1]):
            unspecified(
                "searchsorted in values that are not in ascending order",
                "searchsorted, x1",
                "sort them first",
            )


def hermitian(name: str, x: _Array) -> None:
    """Check that matrices are Hermitian, but for rounding."""
    if on(x) and x.size:
        with np.errstate(all="ignore"):
            size = np.abs(x).max(axis=(-2, -1), keepdims=True)
            difference = np.abs(x - x.swapaxes(-1, -2).conj())
            found = difference > size * math.sqrt(np.finfo(x.dtype).eps)
        if np.any(found):
            unspecified(
                f"{name} of a matrix that is not Hermitian",
                f"{name}, notes",
                "use (x + conj(x.mT)) / 2",
            )


def no_nan(name: str, clause: str, *operands: Any) -> None:
    """Raise for NaN, which has no place in an order."""
    if on(*operands) and any(np.any(np.isnan(x)) for x in operands):
        unspecified(f"{name} with NaN", clause, "exclude NaN with isnan first")
