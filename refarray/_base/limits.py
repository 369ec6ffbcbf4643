"""The limits of dtypes, loaded when they are asked for.

Next: `promotion.py`.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

from refarray._base.dtypes import (
    KINDS,
    DType,
    complex64,
    complex128,
    float32,
    float64,
)
from refarray._base.layout import shown


class IInfo(NamedTuple):
    """Limits of an integer dtype, as Python integers.

    Source: array API 2025.12, data type functions, iinfo.
    """

    bits: int
    max: int
    min: int
    dtype: DType


def _integer_limits() -> dict[DType, IInfo]:
    table = {}
    for dtype in KINDS["signed integer"]:
        half = 2 ** (dtype.bits - 1)
        table[dtype] = IInfo(dtype.bits, half - 1, -half, dtype)
    for dtype in KINDS["unsigned integer"]:
        table[dtype] = IInfo(dtype.bits, 2**dtype.bits - 1, 0, dtype)
    return table


IINFO = _integer_limits()


def check_int_range(value: int, dtype: DType) -> None:
    """Raise OverflowError if an integer `dtype` cannot hold `value`.

    The standard leaves this case open. Other dtypes have no integer bounds and pass.
    """
    limits = IINFO.get(dtype)
    if limits is not None and not limits.min <= value <= limits.max:
        raise OverflowError(
            f"{shown(value)} is outside the range of {dtype}, {limits.min} to "
            f"{limits.max}"
        )


def too_large_error(value: int, dtype: DType) -> OverflowError:
    """Return the error for an integer beyond the largest floating-point number."""
    return OverflowError(
        f"an integer of {value.bit_length()} bits is outside the range of {dtype}"
    )


class FInfo(NamedTuple):
    """Limits of a real floating-point dtype, as Python numbers.

    Source: array API 2025.12, data type functions, finfo.
    """

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


_MAX32 = (2 - 2.0**-23) * 2.0**127
_SINGLE = FInfo(32, 2.0**-23, _MAX32, -_MAX32, 2.0**-126, float32)

_MAX64 = sys.float_info.max
_DOUBLE = FInfo(64, 2.0**-52, _MAX64, -_MAX64, 2.0**-1022, float64)

# A complex dtype has the limits of its components.
FINFO = {
    float32: _SINGLE,
    float64: _DOUBLE,
    complex64: _SINGLE,
    complex128: _DOUBLE,
}
