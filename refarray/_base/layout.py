"""Layout: how shape, strides and an offset address the elements of a buffer.

Element (i, j, ...) lies at `offset + i * strides[0] + j * strides[1] + ...`. Everything
here is arithmetic on such integers: no arrays, no memory. Strides and offsets count
elements, not bytes. A size may be one that the program must not know: `Unknown`. Arrays
have it so in `_shape` and `_size`, and show None in `shape` and `size`.

Next: `profile.py`.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from operator import index
from typing import Any, TypeAlias

from refarray._base import profile

Shape: TypeAlias = tuple[int, ...]
Strides: TypeAlias = tuple[int, ...]
Axes: TypeAlias = tuple[int, ...]

MAX_NDIM = 64
MAX_NBYTES = 2**63 - 1

# Most programs use the same few shapes again and again. For functions of shapes, axes
# and strides that have been checked: to a cache, True and 1 are the same.
remembered = lru_cache(maxsize=1024)


def shown(obj: object) -> str:
    """Return the repr of what was given, for an error message.

    What stands for it where that fails, as for an integer of more digits than Python
    writes: or the message's own error would be lost. `ra_shown` does the same in C.
    """
    try:
        return repr(obj)
    except Exception:
        return f"<{type(obj).__name__} that cannot be shown>"


def _integer(obj: object, what: str) -> int:
    # bool has __index__, but True as a size or an axis is a mistake.
    if isinstance(obj, bool):
        raise TypeError(f"{what} is an integer, not {obj}")
    try:
        value = index(obj)  # type: ignore[arg-type]
    except TypeError:
        if hasattr(type(obj), "__index__"):
            raise  # an array, say, which knows best why it is no integer
        raise TypeError(f"{what} is an integer, not {type(obj).__name__}") from None
    if profile.guarded and not isinstance(obj, int):
        profile.unspecified(
            f"{what} given as {type(obj).__name__}",
            "shapes and axes are Python integers",
            "convert it with int()",
        )
    return value


# Unknown sizes -----------------------------------------------------------------------


class Unknown(int):
    """A size that the program must not know, though the memory has it.

    It depends on values, under a profile where values are not computed unasked. What is
    computed from such a size is another. It equals no known size, not even its own:
    code that runs by chance must not pass.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "None"

    def __eq__(self, other: object) -> bool:
        return type(other) is Unknown and int(self) == int(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = int.__hash__

    def __add__(self, other: int) -> Unknown:
        return _unknown(int.__add__(self, other))

    def __sub__(self, other: int) -> Unknown:
        return _unknown(int.__sub__(self, other))

    def __rsub__(self, other: int) -> Unknown:
        return _unknown(int.__rsub__(self, other))

    def __mul__(self, other: int) -> Unknown:
        return _unknown(int.__mul__(self, other))

    def __floordiv__(self, other: int) -> Unknown:
        return _unknown(int.__floordiv__(self, other))

    __radd__ = __add__
    __rmul__ = __mul__


def _unknown(n: int) -> Unknown:
    # If NotImplemented, it is the turn of the other operand, a float say.
    return Unknown(n) if isinstance(n, int) else n


def from_sizes(n: int, *sizes: int) -> int:
    """Return `n`, which was computed from `sizes`; unknown if one of these is.

    For the computations that `Unknown` cannot carry on by itself, such as `min`.
    """
    return Unknown(n) if any(type(size) is Unknown for size in sizes) else n


# Shape and size ----------------------------------------------------------------------


def check_shape(obj: object) -> Shape:
    """Return the shape given as an integer, or as a tuple or list of integers.

    TypeError for anything else, bool and float included; ValueError for a size that is
    negative or does not fit into 64 bits, and for more than `MAX_NDIM` axes. Unknown
    sizes stay what they are.
    """
    if profile.guarded and isinstance(obj, list):
        profile.unspecified(
            "a list as a shape", "shape is a tuple of integers", "write a tuple"
        )
    sizes: Any = obj if isinstance(obj, (tuple, list)) else (obj,)
    if len(sizes) > MAX_NDIM:
        raise ValueError(f"a shape has at most {MAX_NDIM} axes, not {len(sizes)}")
    for n in sizes:
        if type(n) is not int or not 0 <= n <= MAX_NBYTES:
            return tuple([_size(n, axis) for axis, n in enumerate(sizes)])
    return tuple(sizes)


def _size(obj: object, axis: int) -> int:
    if type(obj) is Unknown:
        n: int = obj
    elif obj is None:
        raise TypeError(
            "the size of an axis is an integer, not None: a size that depends on "
            "values is not known under data_dependent_shapes='unknown', as in "
            "profile 'dask' (array API 2025.12, array.shape)"
        )
    else:
        n = _integer(obj, "the size of an axis")
    if n < 0:
        raise ValueError(f"size {shown(n)} of axis {axis} is negative")
    if n > MAX_NBYTES:
        raise ValueError(f"size {shown(n)} of axis {axis} exceeds {MAX_NBYTES}")
    return n


def size_of(shape: Shape) -> int:
    """Return the number of elements; a shape without axes has one."""
    return prod(shape)


def agree_elsewhere(shape1: Shape, shape2: Shape, axis: int) -> bool:
    """Tell whether two shapes differ in the size of one axis at most."""
    return (
        len(shape1) == len(shape2)
        and shape1[:axis] == shape2[:axis]
        and shape1[axis + 1 :] == shape2[axis + 1 :]
    )


# Axes --------------------------------------------------------------------------------


def normalize_axis(axis: object, ndim: int) -> int:
    """Return `axis` counted from the first axis, 0 to ndim - 1.

    IndexError if there is no such axis, TypeError if it is no integer.
    """
    position = axis if type(axis) is int else _integer(axis, "an axis")
    if not -ndim <= position < ndim:
        allowed = f"allowed: {-ndim} to {ndim - 1}" if ndim else "there are no axes"
        raise IndexError(f"axis {shown(position)} is out of range; {allowed}")
    return position % ndim


def normalize_axes(axes: object, ndim: int) -> Axes:
    """Return the axes that `axes` means: one, several (a tuple), or all of them (None).

    Their order is kept. ValueError if one is named twice.
    """
    if axes is None:
        return tuple(range(ndim))
    if not isinstance(axes, tuple):
        return (normalize_axis(axes, ndim),)
    positions = tuple([normalize_axis(axis, ndim) for axis in axes])
    if len(set(positions)) != len(positions):
        raise ValueError(f"axes {axes} name an axis twice")
    return positions


# Strides -----------------------------------------------------------------------------


@remembered
def row_major_strides(shape: Shape) -> Strides:
    """Return the strides of compact elements with the last axis fastest."""
    strides = []
    step = 1
    for n in shape[::-1]:
        strides.append(step)
        # An empty array keeps the strides it would have with one element there.
        step *= n or 1
    return tuple(strides[::-1])


@remembered
def moved(ndim: int, sources: Axes, destinations: Axes) -> Axes:
    """Return the order of axes in which each source stands at its destination."""
    order = [axis for axis in range(ndim) if axis not in sources]
    for place in sorted(destinations):
        order.insert(place, sources[destinations.index(place)])
    return tuple(order)


@remembered
def permuted(shape: Shape, strides: Strides, order: Axes) -> tuple[Shape, Strides]:
    """Return the layout whose axis i is axis `order[i]`; axes may be left out."""
    return tuple([shape[i] for i in order]), tuple([strides[i] for i in order])


@remembered
def expanded(shape: Shape, strides: Strides, added: Axes) -> tuple[Shape, Strides]:
    """Return the layout with axes of size one, `added` their places in the result."""
    for i in sorted(added):
        shape = (*shape[:i], 1, *shape[i:])
        strides = (*strides[:i], 0, *strides[i:])
    return shape, strides


@remembered
def reshaped_strides(shape: Shape, strides: Strides, new: Shape) -> Strides | None:
    """Return strides that read the same elements, in row-major order, as shape `new`.

    None if no strides do, so that the elements must be copied. Both shapes have the
    same number of elements.
    """
    if profile.guarded:  # no size is unknown before
        shape, new = tuple(map(int, shape)), tuple(map(int, new))
    if 0 in new:
        return row_major_strides(new)
    # Axes that one stride walks together count as one: (size, stride of the last).
    runs: list[tuple[int, int]] = []
    for n, stride in zip(shape, strides, strict=True):
        if n != 1:
            if runs and runs[-1][1] == n * stride:
                n *= runs.pop()[0]
            runs.append((n, stride))
    # Each new axis must lie within one of them.
    result = []
    left = step = 1
    for n in new[::-1]:
        if left == 1 and n != 1:
            left, step = runs.pop()
        if left % n:
            return None
        result.append(step)
        step *= n
        left //= n
    return tuple(result[::-1])


# Broadcasting ------------------------------------------------------------------------


def broadcast_shapes(*shapes: Shape) -> Shape:
    """Return the shape in which arrays of these shapes meet; () if none is given.

    ValueError if two sizes of an axis differ and neither is one. An unknown size meets
    one and unknown ones, with an unknown result; no other, as in Dask.

    Source: array API 2025.12, broadcasting.
    """
    result = shapes[0] if shapes else ()
    for shape in shapes:
        if shape != result:
            result = _broadcast(result, shape)
    return result


@remembered
def broadcast_strides(shape: Shape, strides: Strides, target: Shape) -> Strides:
    """Return strides that read elements again and again, as an array of shape `target`.

    ValueError for a shape that `shape` does not broadcast to.
    """
    if broadcast_shapes(shape, target) != target:
        raise ValueError(
            f"an array of shape {shape} does not broadcast to {target} "
            "(array API 2025.12, broadcast_to)"
        )
    steps = [0] * (len(target) - len(shape))
    for n, stride in zip(shape, strides, strict=True):
        steps.append(0 if int(n) == 1 else stride)
    return tuple(steps)


@remembered
def _broadcast(shape1: Shape, shape2: Shape) -> Shape:
    long, short = (shape1, shape2) if len(shape1) >= len(shape2) else (shape2, shape1)
    result = list(long)
    # Axes are matched from the last; where one shape has no more, it has size one.
    for axis, n in enumerate(short, start=len(long) - len(short)):
        size = result[axis]
        if size == 1:
            result[axis] = n
        elif n != 1 and n != size:
            if type(n) is type(size) is Unknown and 1 in (int(n), int(size)):
                # What would turn out when values are computed.
                result[axis] = n if int(size) == 1 else size
                continue
            why = "differ and neither is 1"
            if type(n) is not type(size):
                why = (
                    "may differ: None depends on values, and is not known under "
                    "data_dependent_shapes='unknown', as in profile 'dask'"
                )
            raise ValueError(
                f"shapes {shape1} and {shape2} do not broadcast: sizes {size} and {n} "
                f"at axis {axis - len(long)} {why} (array API 2025.12, broadcasting)"
            )
    return tuple(result)
