"""Promotion: the dtype in which two arrays, or an array and a Python scalar, meet.

The standard gives tables; these are the sentences behind them. Within a kind the wider
dtype wins. An unsigned integer of n bits fits into a signed one of 2n bits, a real
number of n bits into a complex one of 2n bits. Every other mixture is an error.

Next: `formats.py`.
"""

from __future__ import annotations

from refarray._base import dtypes
from refarray._base.dtypes import KINDS, STANDARD, DType

_WIDENING = (
    ("unsigned integer", "signed integer"),
    ("real floating", "complex floating"),
)

_OF_FAMILY = {(dtype.family, dtype.bits): dtype for dtype in STANDARD}


def _common(d1: DType, d2: DType) -> DType | None:
    if d1.family == d2.family:
        return d1 if d1.bits >= d2.bits else d2
    if (d2.family, d1.family) in _WIDENING:
        d1, d2 = d2, d1
    if (d1.family, d2.family) not in _WIDENING:
        return None
    return _OF_FAMILY.get((d2.family, max(2 * d1.bits, d2.bits)))


def _promotion_table() -> dict[tuple[DType, DType], DType]:
    table = {}
    for d1 in STANDARD:
        for d2 in STANDARD:
            common = _common(d1, d2)
            if common is not None:
                table[d1, d2] = common
    return table


# Every pair that has a common dtype, so that promotion is one look-up.
PROMOTION = _promotion_table()


def promote(d1: DType, d2: DType) -> DType:
    """Return the dtype in which arrays of `d1` and `d2` meet.

    TypeError where the standard defines none: mixed kinds, uint64 with a signed
    integer, and held dtypes.

    Source: array API 2025.12, type promotion rules.
    """
    common = PROMOTION.get((d1, d2))
    if common is None:
        raise _no_common_dtype(d1, d2)
    return common


def can_cast(from_: DType, to: DType) -> bool:
    """Tell whether promotion takes `from_` to `to`. Every dtype can stay itself.

    Source: array API 2025.12, data type functions, can_cast.
    """
    return from_ is to or PROMOTION.get((from_, to)) is to


def _no_common_dtype(d1: DType, d2: DType) -> TypeError:
    for dtype in (d1, d2):
        if dtype.family == "held":
            return held_error(dtype)
    if d1 in KINDS["integral"] and d2 in KINDS["integral"]:
        why = "no integer dtype holds the values of both"
    else:
        why = "bool, integer and floating-point dtypes do not mix"
    return TypeError(
        f"{d1} and {d2} have no common dtype: {why} "
        "(array API 2025.12, type promotion rules); convert one of them with astype"
    )


def held_error(dtype: DType) -> TypeError:
    """Return the error that refuses to compute with a held dtype."""
    return TypeError(
        f"{dtype} is data that refarray holds; convert it with astype(x, float32) first"
    )


def _scalar_table() -> dict[tuple[type, DType], DType]:
    table: dict[tuple[type, DType], DType] = {(bool, dtypes.bool): dtypes.bool}
    for dtype in KINDS["numeric"]:
        table[int, dtype] = dtype
    for dtype in KINDS["real floating"] | KINDS["complex floating"]:
        table[float, dtype] = dtype
        table[complex, dtype] = dtype
    # The one scalar that changes the dtype of its array; the precision stays.
    table[complex, dtypes.float32] = dtypes.complex64
    table[complex, dtypes.float64] = dtypes.complex128
    return table


# Every Python scalar type that an array takes, and the dtype of the result.
SCALAR_PROMOTION = _scalar_table()


def scalar_dtype(scalar_type: type, dtype: DType) -> DType:
    """Return the dtype in which an array of `dtype` and a Python scalar meet.

    `scalar_type` is the scalar's exact type: bool, int, float or complex. TypeError
    where the standard defines no result; `limits.py` tells whether an int fits.

    Source: array API 2025.12, type promotion rules, mixing arrays with Python scalars.
    """
    result = SCALAR_PROMOTION.get((scalar_type, dtype))
    if result is None:
        raise _no_scalar_dtype(scalar_type, dtype)
    return result


def _no_scalar_dtype(scalar_type: type, dtype: DType) -> TypeError:
    if dtype.family == "held":
        return held_error(dtype)
    allowed = [kind.__name__ for kind, d in SCALAR_PROMOTION if d is dtype]
    return TypeError(
        f"an array of dtype {dtype} does not combine with a scalar of type "
        f"{scalar_type.__name__}; allowed: Python {' or '.join(allowed)} "
        "(array API 2025.12, type promotion rules, mixing arrays with Python scalars)"
    )
