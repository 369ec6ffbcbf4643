"""Casting: the elements of an array in another dtype.

Values convert as C and IEEE 754 do it, with two exceptions. Complex numbers do not
become real ones unasked. And a floating-point number beyond the range of an integer
dtype becomes something definite, where C leaves it to the processor.

Next: `conversion.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from refarray._base import dtypes, profile
from refarray._base.dtypes import KINDS, DType
from refarray._base.limits import IINFO, IInfo
from refarray._base.promotion import held_error
from refarray._compute import freedom, pedantic
from refarray._compute.engine import call, kernels, view
from refarray._memory.host import widen_bfloat16
from refarray._memory.native import ArrayBase, allocate

if TYPE_CHECKING:
    # Defined above this file, which makes arrays through `allocate`.
    from refarray._compute.array import Array


_REAL = KINDS["integral"] | KINDS["real floating"]


def cast(x: Array, dtype: DType) -> Array:
    """Return a new array with the elements of `x` in `dtype`.

    TypeError from complex to real dtypes, from held dtypes to any but float32, and from
    any other to a held one.
    """
    check_cast(x.dtype, dtype)
    if profile.guarded:
        pedantic.conversion(view(x), x.dtype, dtype)
    out: Array = allocate(x._shape, dtype, x.device, False)
    convert(view(x), x.dtype, out)
    return out


def convert(source: Any, old: DType, out: ArrayBase) -> None:
    """Write a kernel's array of dtype `old` into `out`, in the dtype of that."""
    target, dtype = view(out), out.dtype
    if old is not dtype:
        if old is dtypes.bfloat16:
            source = widen_bfloat16(source)
        limits = IINFO.get(dtype)
        if limits is not None and old in KINDS["real floating"]:
            if source.size and not call(_within, source, limits):
                call(_saturate, source, limits, target)
                if profile.guarded:
                    freedom.fill(target, dtype, call(_beyond, source, limits))
                return
    call(kernels(out.device).copyto, target, source, casting="unsafe")


def check_cast(old: DType, new: DType) -> None:
    """Raise TypeError unless elements of dtype `old` convert to `new`."""
    if old is new:
        return
    if old.family == "held" and new is not dtypes.float32:
        raise held_error(old)
    if new.family == "held":
        raise TypeError(
            f"{old} does not convert to {new}: refarray holds data of that dtype from "
            f"other libraries, but does not make it; convert to {dtypes.float32!r}"
        )
    if old in KINDS["complex floating"] and new in _REAL:
        raise TypeError(
            f"{old} does not convert to {new}: which part is meant? Take real(), "
            "imag() or abs() first (array API 2025.12, astype)"
        )


def _within(source: Any, limits: IInfo) -> bool:
    """Tell whether all numbers, their fractions cut off, are within the limits."""
    least, greatest = source.min(), source.max()
    # NaN is least and greatest, and compares False. max + 1 is a power of two: unlike
    # max it is exact in any floating-point dtype.
    return bool(least >= limits.min and greatest < float(limits.max + 1))


def _beyond(source: Any, limits: IInfo) -> Any:
    """Tell which numbers are out of range; NaN is one."""
    return ~((source >= limits.min) & (source < float(limits.max + 1)))


def _saturate(source: Any, limits: IInfo, target: Any) -> None:
    """Convert NaN to the lowest limit, and what is out of range to the nearest.

    For int32 and int64 that is what x86 processors, and so NumPy there, make of NaN.
    """
    # NaN compares False, and so is among the low.
    low, high = ~(source >= limits.min), source >= float(limits.max + 1)
    usual = np.where(low | high, 0, source)
    np.copyto(target, usual, casting="unsafe")
    target[low] = limits.min
    target[high] = limits.max
