"""Clip: the one elementwise function of three operands, two of which may be missing.

Next: `arguments.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from refarray._base import profile
from refarray._base.layout import broadcast_shapes, shown
from refarray._base.limits import IINFO, check_int_range
from refarray._base.promotion import can_cast
from refarray._compute import freedom, pedantic, repairs
from refarray._compute.engine import NUMPY_DTYPES, call, compute, elementwise, view
from refarray._compute.pipeline import (
    REAL,
    REAL_FLOATING,
    category_error,
    check_array,
    device_error,
    plain_scalar,
    plan_for_scalar,
    ready,
    remember,
    same,
    scalar_value,
)
from refarray._memory.native import ArrayBase, allocate

if TYPE_CHECKING:
    # Defined above this file, which makes arrays through `allocate`.
    from refarray._compute.array import Array


def clamp(x: Array, lower: Array | float | None, upper: Array | float | None) -> Array:
    """Limit `x` to [`lower`, `upper`], both in the dtype of `x`."""
    out: Array | None = elementwise(ready["clip"], x, lower, upper)
    if out is not None:
        return out
    check_array("clip", x)
    if x.dtype.key not in REAL.keys:
        raise category_error("clip", REAL, x.dtype)
    low = None if lower is None else _as_limit(x, lower, "min")
    high = None if upper is None else _as_limit(x, upper, "max")
    if profile.guarded:
        pedantic.limits(low, high)
    shape = x._shape
    for limit in (lower, upper):
        if isinstance(limit, ArrayBase) and limit._shape != shape:
            shape = broadcast_shapes(shape, limit._shape)
    if low is None and high is None:
        if profile.guarded and (shared := freedom.unchanged(x, shape)) is not None:
            return shared
        copied: Array = allocate(shape, x.dtype, x.device, False)
        call(np.copyto, view(copied), view(x))
        return copied
    if type(lower) is type(upper) is float:
        remember("clip", repairs.clip(), x.dtype, x, lower, upper)
    out = compute(view(x).clip, shape, x.dtype, x.device, low, high)
    if profile.guarded and low is not None and high is not None:
        freedom.fill(view(out), x.dtype, np.greater(low, high))
    return out


def _as_limit(x: Array, limit: Array | float, which: str) -> Any:
    if isinstance(limit, ArrayBase):
        if limit.device is not x.device:
            raise device_error("clip", x.device, limit.device)
        if not can_cast(limit.dtype, x.dtype):
            raise TypeError(
                f"clip takes {which} of the dtype of x or one that promotes to it, got "
                f"{limit.dtype} and x of {x.dtype} (array API 2025.12, clip)"
            )
        if limit.dtype is not x.dtype:
            profile.unspecified(
                f"clip of {x.dtype} with {which} of {limit.dtype}",
                "clip, notes",
                "convert the limit with astype",
            )
        return view(limit).astype(NUMPY_DTYPES[x.dtype], copy=False)
    if type(limit) is not float or x.dtype.key not in REAL_FLOATING.keys:
        plan_for_scalar("clip", REAL, x, limit, same)  # refuses what does not fit
        limit = plain_scalar(limit)  # type: ignore[assignment]
    limits = IINFO.get(x.dtype) if type(limit) is int else None
    if limits is not None:
        # Beyond the range of the dtype, on the side where every element is within.
        if limit < limits.min if which == "min" else limit > limits.max:
            profile.unspecified(
                f"clip of {x.dtype} with {which} of {shown(limit)}",
                "clip, notes: outside the bounds of the dtype",
                "leave out a limit which no element reaches",
            )
            return None
        check_int_range(limit, x.dtype)  # type: ignore[arg-type]
    return scalar_value(limit, x.dtype) if profile.guarded else limit
