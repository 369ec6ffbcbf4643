"""Indexing functions. Source: array API 2025.12, indexing functions.

Negative indices count from the end. IndexError for an index or an axis out of range.

Next: `info.py`.
"""

from __future__ import annotations

from typing import Any

from refarray._base import profile
from refarray._base.layout import broadcast_shapes, normalize_axis
from refarray._compute import arguments, pedantic
from refarray._compute.arguments import at_indices, check, check_device
from refarray._compute.array import Array
from refarray._compute.engine import adopt, kernels
from refarray._compute.engine import view as kernel_view
from refarray._compute.pipeline import INTEGRAL, check_array
from refarray._memory.native import allocate

__all__ = ["take", "take_along_axis"]


def take(x: Array, indices: Array, /, *, axis: int | None = None) -> Array:
    """Slices of `x` along `axis`, at a vector of indices.

    ValueError for `indices` of another number of dimensions than one, and without
    `axis` unless `x` has one dimension.
    """
    check_array("take", x)
    places = _indices("take", x, indices)
    if indices.ndim != 1:
        raise ValueError(
            f"take takes indices of one dimension, got shape {indices._shape} "
            "(array API 2025.12, take)"
        )
    if axis is None and x.ndim != 1:
        raise ValueError(
            f"take needs an axis for an array of shape {x._shape} "
            "(array API 2025.12, take)"
        )
    if profile.guarded:
        pedantic.taken(places)
    i = 0 if axis is None else normalize_axis(axis, x.ndim)
    shape = (*x._shape[:i], indices._size, *x._shape[i + 1 :])
    out: Array = allocate(shape, x.dtype, x.device, False)
    at_indices(x, kernels(x.device).take, kernel_view(x), places, i, kernel_view(out))
    return out


def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """Elements of `x` at `indices` along `axis`, the other axes broadcast.

    ValueError for shapes that do not fit.
    """
    check_array("take_along_axis", x)
    places = _indices("take_along_axis", x, indices)
    i = normalize_axis(axis, x.ndim)
    if indices.ndim != x.ndim:
        raise ValueError(
            f"take_along_axis takes as many dimensions of indices as of x, got "
            f"{indices.ndim} and {x.ndim} (array API 2025.12, take_along_axis)"
        )
    others = (*x._shape[:i], 1, *x._shape[i + 1 :])
    shape = broadcast_shapes(others, indices._shape)
    kernel = kernels(x.device).take_along_axis
    values = at_indices(x, kernel, kernel_view(x), places, i)
    return adopt(values, x.dtype, x.device, shape)


def _indices(name: str, x: Array, indices: Array) -> Any:
    check(name, indices, INTEGRAL)
    check_device(name, x, indices)
    return arguments.indices(indices)
