"""Searching functions. Source: array API 2025.12, searching functions.

Indices have the default index dtype, int64. IndexError for an axis out of range.

Next: `set_functions.py`.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from refarray._base import dtypes, profile
from refarray._base.layout import broadcast_shapes, normalize_axis
from refarray._base.profile import defaults
from refarray._compute import casting, freedom, pedantic, reductions
from refarray._compute.arguments import check, check_device, indices, operands
from refarray._compute.array import Array
from refarray._compute.engine import adopt, call, compute, elementwise, kernels
from refarray._compute.engine import view as kernel_view
from refarray._compute.pipeline import (
    ANY,
    BOOL,
    INTEGRAL,
    REAL,
    REAL_FLOATING,
    device_error,
    ready,
    remember,
)
from refarray._memory.native import ArrayBase, allocate

__all__ = ["argmax", "argmin", "count_nonzero", "nonzero", "searchsorted", "where"]


def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Index of the first maximum along `axis`, or in the flattened array; NaN wins.

    ValueError where there are no elements to search.
    """
    return _extreme("argmax", x, axis, keepdims)


def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Index of the first minimum along `axis`, or in the flattened array; NaN wins.

    ValueError where there are no elements to search.
    """
    return _extreme("argmin", x, axis, keepdims)


def _extreme(name: str, x: Array, axis: int | None, keepdims: bool) -> Array:
    check(name, x, REAL)
    i = None if axis is None else normalize_axis(axis, x.ndim)
    before, after = ((), ()) if i is None else (x._shape[:i], x._shape[i + 1 :])
    if keepdims:
        before += (1,) * (x.ndim if i is None else 1)
    out: Array = allocate(before + after, defaults(x.device).indexing, x.device, False)
    if out._size and not x._size:
        raise ValueError(
            f"{name} takes at least one element, got shape {x._shape}, "
            f"axis={axis} (array API 2025.12, {name})"
        )
    if profile.guarded:
        pedantic.no_nan(name, f"{name}: not mentioned", kernel_view(x))
    search = getattr(kernel_view(x), name)
    if out.dtype is dtypes.DEFAULT_INDEX:
        call(search, axis=i, out=kernel_view(out), keepdims=keepdims)
    else:
        kernel_view(out)[...] = call(search, axis=i, keepdims=keepdims)
    return out


def count_nonzero(
    x: Array,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
) -> Array:
    """Number of elements along `axis` that are not zero; NaN is not zero."""
    check("count_nonzero", x)
    mask = x if x.dtype is dtypes.bool else casting.cast(x, dtypes.bool)
    return reductions.reduce("add", mask, axis, keepdims, defaults(x.device).indexing)


def nonzero(x: Array, /) -> tuple[Array, ...]:
    """Indices of the elements that are not zero, in row-major order, for each axis.

    ValueError for an array without dimensions.
    """
    check("nonzero", x)
    if x.ndim == 0:
        raise ValueError(
            "nonzero takes arrays with at least one dimension "
            "(array API 2025.12, nonzero)"
        )
    if profile.guarded:
        profile.check_data_dependent("nonzero")
    places = call(kernel_view(x).nonzero)
    shape = (profile.size_from_values(len(places[0])),)
    index = defaults(x.device).indexing
    return tuple(adopt(i, index, x.device, shape) for i in places)


def searchsorted(
    x1: Array,
    x2: Array | int | float,
    /,
    *,
    side: Literal["left", "right"] = "left",
    sorter: Array | None = None,
) -> Array:
    """Where to insert the elements of `x2` so that `x1` stays sorted.

    Before equal elements on the left, after them on the right. `sorter` holds the
    indices that sort `x1`. NaN counts as larger than any number, as in `sort`.
    ValueError unless `x1` has one dimension, `sorter` its shape, and `side` is "left"
    or "right".
    """
    known, wanted, _, device = operands("searchsorted", REAL, x1, x2)
    check("searchsorted", x1, REAL)
    if x1.ndim != 1:
        raise ValueError(
            f"searchsorted takes x1 of one dimension, got shape {x1._shape} "
            "(array API 2025.12, searchsorted)"
        )
    if side not in ("left", "right"):
        raise ValueError(
            f"side is 'left' or 'right', not {side!r} (array API 2025.12, searchsorted)"
        )
    order = None
    if sorter is not None:
        check("searchsorted", sorter, INTEGRAL)
        check_device("searchsorted", x1, sorter)
        if sorter._shape != x1._shape:
            raise ValueError(
                f"searchsorted takes a sorter of the shape of x1, {x1._shape}, got "
                f"{sorter._shape} (array API 2025.12, searchsorted)"
            )
        order = indices(sorter)
    if profile.guarded:
        pedantic.sorted_values(known, wanted, order)
    places = call(kernels(device).searchsorted, known, wanted, side, order)
    if profile.guarded and freedom.nan_first() and x1.dtype in REAL_FLOATING.dtypes:
        places = _search_backwards(known, wanted, side, order)
    shape = x2._shape if isinstance(x2, Array) else ()
    return adopt(places, defaults(device).indexing, device, shape)


def _search_backwards(known: Any, wanted: Any, side: str, order: Any) -> Any:
    """Search as where NaN comes first: read backwards, the negatives have it last."""
    if order is not None:
        known = known[order]
    other: Any = {"left": "right", "right": "left"}[side]
    return len(known) - np.searchsorted(-known[::-1], np.negative(wanted), other)


def where(
    condition: Array,
    x1: Array | bool | int | float | complex,
    x2: Array | bool | int | float | complex,
    /,
) -> Array:
    """Elements of `x1` where `condition` is true, of `x2` elsewhere, broadcast.

    One of `x1` and `x2` may be a Python scalar. TypeError for a condition of another
    dtype than bool, and for dtypes that do not promote.
    """
    done: Array | None = elementwise(ready["where"], x1, x2, condition)
    if done is not None:
        return done
    check("where", condition, BOOL)
    v1, v2, dtype, device = operands("where", ANY, x1, x2)
    if condition.device is not device:
        raise device_error("where", device, condition.device)
    shape = condition._shape
    for x in (x1, x2):
        if isinstance(x, ArrayBase) and x._shape != shape:
            shape = broadcast_shapes(shape, x._shape)
    if device.memory != "device":
        remember("where", _choose, dtype, x1, x2, condition)
    out: Array = compute(_choose, shape, dtype, device, v1, v2, condition)
    return out


def _choose(x1: Any, x2: Any, condition: Any, out: Any) -> None:
    out[...] = x2
    # The one of NumPy, or of the library to which the memory is shown.
    np.copyto(out, x1, where=condition)
