"""Movement: elements copied into new memory, joined, repeated or rolled.

Each result is written once, in place, through views of it. Memory beside the result is
needed where its size depends on data, in `repeat_each`, and where the view would have
more axes than an array can have.

Next folder: `_standard/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from operator import mul
from typing import Any

from refarray._base import profile
from refarray._base.layout import MAX_NBYTES, MAX_NDIM, Shape, check_shape, shown
from refarray._compute import freedom
from refarray._compute.arguments import common, indices
from refarray._compute.array import Array
from refarray._compute.engine import adopt, call, compute, kernels
from refarray._compute.engine import view as kernel_view
from refarray._memory.native import ArrayBase, allocate


def reshape(x: ArrayBase, shape: Shape) -> Array:
    """Return the elements in row-major order as an array of `shape`."""
    out: Array = allocate(shape, x.dtype, x.device, False)
    kernel_view(out).reshape(x._shape)[...] = kernel_view(x)
    return out


def join(
    name: str, arrays: Sequence[ArrayBase], shape: Shape, axis: int | None
) -> Array:
    """Return the arrays one after another, in the dtype to which theirs promote."""
    dtype, device = common(name, arrays)
    if profile.guarded and len(arrays) == 1:
        if (shared := freedom.unchanged(arrays[0], shape)) is not None:
            return shared
    views = [x._view for x in arrays]
    kernel = kernels(device).concatenate
    out: Array = compute(kernel, shape, dtype, device, views, axis)
    return out


def repeat(x: ArrayBase, times: int, axis: int | None) -> Array:
    """Return each element, or each slice along `axis`, as often as `times`."""
    shape, inner = x._shape, x.ndim
    result: Shape = (x._size * times,)
    if axis is not None:
        inner, result = (
            axis + 1,
            (*shape[:axis], shape[axis] * times, *shape[axis + 1 :]),
        )
    result = check_shape(result)
    if profile.guarded and (shared := freedom.unchanged(x, result)) is not None:
        return shared
    if x.ndim == MAX_NDIM:
        return _computed(x, result, "repeat", times, axis)
    # Seen with an axis more, which runs over the copies, the result is x broadcast.
    out: Array = allocate(result, x.dtype, x.device, False)
    spread = kernel_view(out).reshape((*shape[:inner], times, *shape[inner:]))
    spread[...] = kernel_view(x)[(*(slice(None),) * inner, None)]
    return out


def repeat_each(x: ArrayBase, repeats: ArrayBase, axis: int | None) -> Array:
    """Return element i, or slice i along `axis`, as often as `repeats[i]`.

    ValueError for a negative number, and for more elements than memory can have.
    """
    counts = indices(repeats)
    lowest = int(counts.min(initial=0))
    if lowest < 0:
        raise negative("repeat", lowest)
    # The kernel adds in int64, and writes past its memory if that overflows.
    total = float(counts.sum(dtype="float64"))
    if total > MAX_NBYTES / 2:
        raise ValueError(
            f"repeat cannot make an array of {total:g} elements: an array has at most "
            f"{MAX_NBYTES} bytes"
        )
    size = profile.size_from_values(int(total))
    if axis is None:
        shape: Shape = (size,)
    else:
        shape = (*x._shape[:axis], size, *x._shape[axis + 1 :])
    return _computed(x, shape, "repeat", counts, axis)


def _computed(x: ArrayBase, shape: Shape, kernel: str, *args: Any) -> Array:
    """Return what a kernel makes of `x` in memory of its own."""
    values = call(getattr(kernels(x.device), kernel), kernel_view(x), *args)
    return adopt(values, x.dtype, x.device, shape)


def negative(name: str, times: int) -> ValueError:
    """Return the error for a negative number of repetitions."""
    return ValueError(
        f"{name} takes numbers of repetitions from 0 up, got {shown(times)} "
        f"(array API 2025.12, {name})"
    )


def tile(x: ArrayBase, counts: Sequence[int]) -> Array:
    """Return copies of `x` side by side; `counts` has at least as many axes as `x`."""
    sizes = [1] * (len(counts) - x.ndim) + list(x._shape)
    shape = check_shape(tuple(map(mul, counts, sizes)))
    if profile.guarded and (shared := freedom.unchanged(x, shape)) is not None:
        return shared
    # Seen with an axis more for each that is repeated, the result is x broadcast.
    spread: list[int] = []
    key: list[Any] = []
    for n, size in zip(counts, sizes, strict=True):
        spread += [size] if n == 1 else [n, size]
        key += [slice(None)] if n == 1 else [None, slice(None)]
    if len(spread) > MAX_NDIM:
        return _computed(x, shape, "tile", counts)
    out: Array = allocate(shape, x.dtype, x.device, False)
    source = kernel_view(x)[(None,) * (len(counts) - x.ndim)]
    kernel_view(out).reshape(spread)[...] = source[tuple(key)]
    return out


def roll(x: ArrayBase, axes: Sequence[int], shifts: Sequence[int]) -> Array:
    """Return the elements shifted cyclically along each axis by its shift.

    Along an axis that is named twice the shifts add up.
    """
    total = dict.fromkeys(axes, 0)
    for axis, shift in zip(axes, shifts, strict=True):
        total[axis] += shift
    # Along each axis two parts change places: (axis, where to, where from).
    parts = []
    for axis, shift in total.items():
        size = x._shape[axis]
        n = shift % size if size else 0
        if n:
            parts.append(
                (
                    (axis, slice(n, None), slice(None, size - n)),
                    (axis, slice(None, n), slice(size - n, None)),
                )
            )
    if profile.guarded and not parts:
        if (shared := freedom.unchanged(x, x._shape)) is not None:
            return shared
    out: Array = allocate(x._shape, x.dtype, x.device, False)
    target, source = kernel_view(out), kernel_view(x)
    for choice in product(*parts):
        to, from_ = [slice(None)] * x.ndim, [slice(None)] * x.ndim
        for axis, new, old in choice:
            to[axis], from_[axis] = new, old
        target[tuple(to)] = source[tuple(from_)]
    return out
