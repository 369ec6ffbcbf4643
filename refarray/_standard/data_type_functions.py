"""Data type functions: casting, promotion, limits and kinds.

Source: array API 2025.12, data type functions.

Next: `elementwise_functions.py`.
"""

from __future__ import annotations

import builtins
from functools import reduce
from typing import TYPE_CHECKING

from refarray._base import profile, promotion
from refarray._base.devices import Device, as_device
from refarray._base.dtypes import KINDS, DType, as_dtype
from refarray._base.profile import mixes_with_numpy
from refarray._base.promotion import promote, scalar_dtype
from refarray._compute import conversion
from refarray._compute.array import Array
from refarray._compute.pipeline import check_array, is_scalar, plain_scalar
from refarray._memory.native import ArrayBase

if TYPE_CHECKING:
    from refarray._base.limits import FInfo, IInfo


def astype(
    x: Array,
    dtype: DType,
    /,
    *,
    copy: builtins.bool = True,
    device: Device | None = None,
) -> Array:
    """Elements of `x` as `dtype`, in new memory.

    With `copy=False`, `x` itself if it has that dtype and device already. TypeError
    from complex to real: take `real` or `imag` first. Integers wrap around. A real
    number becomes an integer without its fraction, the nearest limit if it is out of
    range, and NaN the lowest one.
    """
    check_array("astype", x)
    dtype = as_dtype(dtype, held=True)
    target = x.device if device is None else as_device(device)
    return conversion.moved("astype", x, dtype, target, copy)


def can_cast(from_: DType | Array, to: DType, /) -> builtins.bool:
    """Whether promotion takes the dtype `from_`, or that of an array, to `to`."""
    return promotion.can_cast(_dtype_of(from_), as_dtype(to, held=True))


def finfo(type: DType | Array, /) -> FInfo:
    """Limits of a floating-point dtype, of its components if complex.

    TypeError for any other dtype.
    """
    from refarray._base.limits import FINFO

    dtype = _dtype_of(type)
    if dtype not in FINFO:
        raise TypeError(
            f"finfo takes a floating-point dtype, or an array of one, not {dtype} "
            "(array API 2025.12, finfo)"
        )
    return FINFO[dtype]


def iinfo(type: DType | Array, /) -> IInfo:
    """Limits of an integer dtype. TypeError for any other dtype."""
    from refarray._base.limits import IINFO

    dtype = _dtype_of(type)
    if dtype not in IINFO:
        raise TypeError(
            f"iinfo takes an integer dtype, or an array of one, not {dtype} "
            "(array API 2025.12, iinfo)"
        )
    return IINFO[dtype]


def isdtype(dtype: DType, kind: DType | str | tuple[DType | str, ...]) -> builtins.bool:
    """Whether `dtype` is `kind`, belongs to that kind, or to one of several.

    ValueError for a kind that the standard does not name.
    """
    dtype = as_dtype(dtype, held=True)
    kinds = kind if isinstance(kind, tuple) else (kind,)
    # No short cut: a misspelt kind is an error even where another one matches.
    return any([_belongs(dtype, k) for k in kinds])


def result_type(*arrays_and_dtypes: Array | complex | DType) -> DType:
    """Dtype in which arrays, dtypes and Python scalars meet.

    ValueError without any array or dtype, TypeError where promotion is not defined.
    """
    found, scalars = [], []
    for x in arrays_and_dtypes:
        if isinstance(x, (DType, ArrayBase)):
            found.append(x if isinstance(x, DType) else x.dtype)
        elif is_scalar(x):
            scalars.append(type(plain_scalar(x)))
        elif mixes_with_numpy():
            found.append(as_dtype(x))
        else:
            check_array("result_type", x)
    if not found:
        raise ValueError(
            "result_type takes at least one array or dtype "
            "(array API 2025.12, result_type)"
        )
    if (
        profile.guarded
        and len({x.device for x in arrays_and_dtypes if isinstance(x, ArrayBase)}) > 1
    ):
        profile.unspecified(
            "result_type of arrays on different devices",
            "result_type, notes",
            "pass their dtypes",
        )
    # The first with itself as well, which refuses a held dtype that stands alone.
    common = reduce(promote, found, found[0])
    for scalar in scalars:
        common = scalar_dtype(scalar, common)
    return common


def _dtype_of(x: DType | Array) -> DType:
    return x.dtype if isinstance(x, ArrayBase) else as_dtype(x, held=True)


def _belongs(dtype: DType, kind: DType | str) -> builtins.bool:
    if isinstance(kind, DType):
        return dtype is kind
    if not isinstance(kind, str):
        if mixes_with_numpy():
            return dtype is as_dtype(kind)
        raise TypeError(
            f"a kind is a dtype or a string, or a tuple of those, not {kind!r} "
            "(array API 2025.12, isdtype)"
        )
    if kind not in KINDS:
        raise ValueError(
            f"no kind of dtype is named {kind!r}; the kinds are "
            f"{', '.join(map(repr, KINDS))} (array API 2025.12, isdtype)"
        )
    return dtype in KINDS[kind]
