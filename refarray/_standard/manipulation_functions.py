"""Manipulation functions. Source: array API 2025.12, manipulation functions.

Whatever a layout can express is a view of the same memory: axes permuted, added,
removed, reversed, broadcast. The rest writes into new memory. IndexError for an axis
out of range, ValueError for an axis named twice except in `roll`. Lists are taken for
tuples.

Next: `searching_functions.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from refarray._base import layout, profile
from refarray._base.layout import (
    Unknown,
    check_shape,
    normalize_axes,
    normalize_axis,
    reshaped_strides,
    size_of,
)
from refarray._compute import freedom, movement
from refarray._compute.arguments import (
    check,
    check_copy,
    check_device,
    check_python,
    check_tuple,
    indices,
    integer,
    shape_tuple,
    tuple_of_list,
)
from refarray._compute.array import Array
from refarray._compute.indexing import share
from refarray._compute.pipeline import INTEGRAL, check_array
from refarray._memory.native import ArrayBase, join, view

__all__ = [
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "concat",
    "expand_dims",
    "flip",
    "moveaxis",
    "permute_dims",
    "repeat",
    "reshape",
    "roll",
    "squeeze",
    "stack",
    "tile",
    "unstack",
]


# Broadcasting ------------------------------------------------------------------------


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Shape in which arrays of these shapes meet; () for no shapes.

    ValueError for shapes that do not broadcast.
    """
    given = [shape_tuple("broadcast_shapes", shape) for shape in shapes]
    return layout.broadcast_shapes(*given)


def broadcast_to(x: Array, /, shape: tuple[int, ...]) -> Array:
    """View of `x` as an array of `shape`, read-only since elements share memory.

    ValueError for a shape that `x` does not broadcast to.
    """
    check_array("broadcast_to", x)
    target = shape_tuple("broadcast_to", shape)
    strides = layout.broadcast_strides(x._shape, x._strides, target)
    return share(x, 0, target, strides, True)


def broadcast_arrays(*arrays: Array) -> tuple[Array, ...]:
    """The arrays broadcast against one another; those of the full shape unchanged.

    ValueError for shapes that do not broadcast, and for two devices.
    """
    for x in arrays:
        check_array("broadcast_arrays", x)
    check_device("broadcast_arrays", *arrays)
    shape = layout.broadcast_shapes(*(x._shape for x in arrays))
    out = [x if x._shape == shape else broadcast_to(x, shape) for x in arrays]
    return tuple(map(freedom.apart, out)) if profile.guarded else tuple(out)


# Axes --------------------------------------------------------------------------------


def permute_dims(x: Array, /, axes: tuple[int, ...]) -> Array:
    """View whose axis i is axis `axes[i]` of `x`.

    ValueError unless `axes` is a permutation of all axes.
    """
    check_array("permute_dims", x)
    order = _axes("permute_dims", axes, x.ndim)
    if len(order) != x.ndim:
        raise ValueError(
            f"permute_dims takes a permutation of all {x.ndim} axes, got {axes} "
            "(array API 2025.12, permute_dims)"
        )
    return _permuted(x, order)


def moveaxis(
    x: Array,
    source: int | tuple[int, ...],
    destination: int | tuple[int, ...],
    /,
) -> Array:
    """View with the axes `source` at the places `destination`, the others in order.

    ValueError unless both name the same number of axes.
    """
    check_array("moveaxis", x)
    from_ = _axes("moveaxis", source, x.ndim)
    to = _axes("moveaxis", destination, x.ndim)
    if len(from_) != len(to):
        raise ValueError(
            f"moveaxis takes as many destinations as sources, got {source} and "
            f"{destination} (array API 2025.12, moveaxis)"
        )
    return _permuted(x, layout.moved(x.ndim, from_, to))


def _permuted(x: Array, order: layout.Axes) -> Array:
    shape, strides = layout.permuted(x._shape, x._strides, order)
    return share(x, 0, shape, strides)


def expand_dims(x: Array, /, axis: int | tuple[int, ...]) -> Array:
    """View with axes of size one at the positions `axis` of the result."""
    check_array("expand_dims", x)
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    added = _axes("expand_dims", axis, x.ndim + count)
    shape, strides = layout.expanded(x._shape, x._strides, added)
    return share(x, 0, shape, strides)


def squeeze(x: Array, /, axis: int | tuple[int, ...]) -> Array:
    """View without the axes `axis`, which have size one; ValueError for another."""
    check_array("squeeze", x)
    removed = _axes("squeeze", axis, x.ndim)
    for i in removed:
        if x._shape[i] != 1:
            raise ValueError(
                f"squeeze removes axes of size 1, axis {i} has size {x._shape[i]} "
                "(array API 2025.12, squeeze)"
            )
    return _permuted(x, tuple([i for i in range(x.ndim) if i not in removed]))


def flip(x: Array, /, *, axis: int | tuple[int, ...] | None = None) -> Array:
    """View with the order of elements reversed along `axis`, or along all axes."""
    check_array("flip", x)
    reversed_axes = normalize_axes(tuple_of_list(axis), x.ndim)
    shape, strides = x._shape, list(x._strides)
    offset = 0
    for i in reversed_axes:
        offset += (shape[i] - 1) * strides[i]
        strides[i] = -strides[i]
    return share(x, offset if x._size else 0, shape, tuple(strides))


def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The slices along `axis`, as views."""
    check_array("unstack", x)
    i = normalize_axis(axis, x.ndim)
    shape, strides = x._shape, x._strides
    if type(shape[i]) is Unknown:
        raise profile.unknown_size(f"unstack along axis {i}")
    rest = shape[:i] + shape[i + 1 :], strides[:i] + strides[i + 1 :]
    step = strides[i] if size_of(rest[0]) else 0
    return tuple(share(x, n * step, *rest) for n in range(shape[i]))


def _axes(name: str, axes: object, ndim: int) -> tuple[int, ...]:
    if type(axes) is int:
        return (normalize_axis(axes, ndim),)
    if axes is None:
        raise TypeError(
            f"{name} takes an axis or a tuple of axes, not None "
            f"(array API 2025.12, {name})"
        )
    return normalize_axes(tuple_of_list(axes), ndim)


# Shape -------------------------------------------------------------------------------


def reshape(x: Array, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Array:
    """The elements of `x` in row-major order, as an array of `shape`.

    A view where a layout allows it, unless `copy=True`; with `copy=False`, ValueError
    where none does. One size may be -1 and follows from the others. ValueError for a
    shape with another number of elements.
    """
    check_array("reshape", x)
    check_copy("reshape", copy)
    target = _inferred(x, shape)
    if copy is not True:
        compact = x._row_major
        strides = None
        if not compact:
            strides = reshaped_strides(x._shape, x._strides, target)
        if compact or strides is not None:
            # What `copy=None` makes possible is the library's to say; False is a word.
            return (share if copy is None else view)(x, 0, target, strides, False)
        if copy is False:
            raise ValueError(
                f"copy=False, but the elements of this strided array of shape "
                f"{x._shape} must be copied to have shape {target} "
                "(array API 2025.12, reshape)"
            )
    return movement.reshape(x, target)


def _inferred(x: Array, shape: Any) -> tuple[int, ...]:
    given = shape
    if not isinstance(shape, tuple):
        check_tuple("reshape", shape)
        given = tuple(shape) if isinstance(shape, list) else (shape,)
    unknown = given.count(-1)
    if unknown > 1:
        raise ValueError(
            f"reshape infers one size of -1, got {shape} (array API 2025.12, reshape)"
        )
    size = x._size
    if unknown:
        i = given.index(-1)
        before, after = check_shape(given[:i]), check_shape(given[i + 1 :])
        known = size_of(before + after)
        if known and size % known == 0:
            return (*before, size // known, *after)
    else:
        target = check_shape(given)
        known = size_of(target)
        if known == size:
            return target
        if type(size) is Unknown and type(known) is not Unknown:
            raise profile.unknown_size("reshape to a shape without -1")
    raise ValueError(
        f"an array of shape {x._shape} with {size} elements cannot have shape "
        f"{shape} (array API 2025.12, reshape)"
    )


# Joining -----------------------------------------------------------------------------


def concat(
    arrays: tuple[Array, ...] | list[Array], /, *, axis: int | None = 0
) -> Array:
    """The arrays joined along `axis`; along one axis of all elements for None.

    In the dtype to which theirs promote. ValueError for shapes that differ elsewhere
    than along `axis`, and for no arrays; TypeError for dtypes that do not promote.
    """
    done: Array | None = join(np.concatenate, arrays, axis)
    if done is not None:
        return done
    _check_arrays("concat", arrays)
    if axis is None:
        return movement.join("concat", arrays, (sum(x._size for x in arrays),), None)
    first = arrays[0]._shape
    i = normalize_axis(axis, len(first))
    size = 0
    for x in arrays:
        shape = x._shape
        if shape != first and not layout.agree_elsewhere(shape, first, i):
            raise ValueError(
                f"concat along axis {i} takes shapes that agree elsewhere, got "
                f"{first} and {shape} (array API 2025.12, concat)"
            )
        size += shape[i]
    return movement.join("concat", arrays, (*first[:i], size, *first[i + 1 :]), i)


def stack(arrays: tuple[Array, ...] | list[Array], /, *, axis: int = 0) -> Array:
    """The arrays joined along a new axis at position `axis` of the result.

    In the dtype to which theirs promote. ValueError for shapes that differ, and for no
    arrays; TypeError for dtypes that do not promote.
    """
    _check_arrays("stack", arrays)
    first = arrays[0]
    for x in arrays:
        if x._shape != first._shape:
            raise ValueError(
                f"stack takes arrays of one shape, got {first._shape} and {x._shape} "
                "(array API 2025.12, stack)"
            )
    i = normalize_axis(axis, first.ndim + 1)
    shape = (*first._shape[:i], len(arrays), *first._shape[i:])
    return movement.join("stack", [expand_dims(x, i) for x in arrays], shape, i)


def _check_arrays(name: str, arrays: object) -> None:
    if not isinstance(arrays, (tuple, list)):
        raise TypeError(
            f"{name} takes a tuple or list of arrays, not {type(arrays).__name__} "
            f"(array API 2025.12, {name})"
        )
    if not arrays:
        raise ValueError(f"{name} takes at least one array (array API 2025.12, {name})")
    check(name, arrays[0])
    dtype = arrays[0].dtype
    for x in arrays:
        if not isinstance(x, ArrayBase) or x.dtype is not dtype:
            check(name, x)


# Repeating ---------------------------------------------------------------------------


def repeat(x: Array, repeats: int | Array, /, *, axis: int | None = None) -> Array:
    """Each element, or each slice along `axis`, `repeats` times in a row.

    `repeats` is one number, or an array with one for each element. ValueError for a
    negative number and for an array of another size, TypeError for one that holds no
    integers.
    """
    check("repeat", x)
    i = None if axis is None else normalize_axis(axis, x.ndim)
    if isinstance(repeats, ArrayBase):
        check("repeat", repeats, INTEGRAL)
        check_device("repeat", x, repeats)
        size = x._size if i is None else x._shape[i]
        if repeats._shape not in ((), (1,), (size,)):
            raise ValueError(
                f"repeat takes an array of 1 or {size} repeats, got shape "
                f"{repeats._shape} (array API 2025.12, repeat)"
            )
        if profile.guarded:
            profile.check_data_dependent("repeat with an array of repeats")
            if repeats.ndim == 0:
                check_python("repeat", "repeats", repeats)
        if repeats._size != 1:
            return movement.repeat_each(x, repeats, i)
        times = profile.size_from_values(int(indices(repeats).reshape(())))
    else:
        times = integer("repeat", "repeats", repeats)
    if times < 0:
        raise movement.negative("repeat", times)
    return movement.repeat(x, times, i)


def tile(x: Array, repetitions: tuple[int, ...], /) -> Array:
    """Copies of `x` side by side, `repetitions[i]` of them along axis i.

    Axes are counted from the last; where one side has fewer, ones are put in front.
    ValueError for a negative number.
    """
    check("tile", x)
    check_tuple("tile", repetitions)
    given = repetitions if isinstance(repetitions, (tuple, list)) else (repetitions,)
    counts = [integer("tile", "repetitions", n) for n in given]
    if min(counts, default=0) < 0:
        raise movement.negative("tile", min(counts))
    counts = [1] * (x.ndim - len(counts)) + counts
    return movement.tile(x, counts)


def roll(
    x: Array,
    /,
    shift: int | tuple[int, ...],
    *,
    axis: int | tuple[int, ...] | None = None,
) -> Array:
    """The elements shifted by `shift` places along `axis`, the last ones to the front.

    With `axis=None` as if all elements lay along one axis. An axis that is named twice
    is shifted twice. ValueError unless there is one shift, or one for each axis.
    """
    check("roll", x)
    several = isinstance(shift, (tuple, list))
    given = tuple_of_list(shift) if several else (shift,)
    shifts = [integer("roll", "shift", n) for n in given]
    axes = tuple_of_list(axis) if isinstance(axis, (tuple, list)) else (axis,)
    if several and (axis is None or len(shifts) != len(axes)):
        raise ValueError(
            f"roll takes one shift, or one for each axis, got {shift} for axis={axis} "
            "(array API 2025.12, roll)"
        )
    if axis is None:
        return reshape(movement.roll(reshape(x, (-1,)), (0,), shifts), x._shape)
    positions = tuple([normalize_axis(one, x.ndim) for one in axes])
    return movement.roll(x, positions, shifts if several else shifts * len(axes))
