"""Manipulation functions that move elements: flip, roll, permute, reshape, squeeze.

The oracle is an index formula for each function: where element (i, j, ...) of the
result comes from. Joining, repeating and broadcasting are in `check_joining.py`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from refarray.testing.standard.arrays import DTYPES
from refarray.testing.standard.calls import AXIS, Calls
from refarray.testing.standard.runner import Check, Report
from refarray.testing.standard.samples import (
    SHAPES,
    Values,
    distinct,
    everywhere,
    filled,
    gathered,
)


def flip(xp: Any, report: Report) -> None:
    """Every combination of axes, positive and negative."""
    call = Calls(xp, report, "flip", "flip: reverses the given axes, all for None")
    for x in everywhere(DTYPES, (2, 3)):
        call.gives(_flipped(x, range(x.ndim)), x)
        for axis in range(x.ndim):
            call.gives(_flipped(x, [axis]), x, axis=axis, layouts=("fresh",))
            call.gives(_flipped(x, [axis]), x, axis=axis - x.ndim)
        if x.ndim > 1:
            call.gives(_flipped(x, [0, x.ndim - 1]), x, axis=(0, -1))
            call.gives(_flipped(x, [1]), x, axis=(1,))
    for wrong in (2, -3, (0, 2)):
        call.refused(Exception, distinct((2, 3), "int8"), axis=wrong, clause=AXIS)


def _flipped(x: Values, axes: Any) -> Values:
    def source(*at: int) -> tuple[int, ...]:
        return tuple(x.shape[a] - 1 - i if a in axes else i for a, i in enumerate(at))

    return gathered(x, x.shape, source)


def roll(xp: Any, report: Report) -> None:
    """Shifts beyond the size, negative shifts, several axes, the flattened array."""
    call = Calls(xp, report, "roll", "roll: shifts toward larger indices, cyclically")
    for x in everywhere(DTYPES, (2, 3)):
        for shift in (1, -2, 5):
            flat = gathered(
                x.ravel(), (x.size,), lambda i, s=shift, n=x.size: (i - s) % n
            )
            call.gives(
                flat.reshape(x.shape),
                x,
                shift,
                clause="roll: axis=None shifts the flattened array",
            )
            for axis in range(-1, x.ndim):
                if x.ndim:
                    wanted = _rolled(x, {axis % x.ndim: shift})
                    call.gives(wanted, x, shift, axis=axis)
        if x.ndim > 1:
            last = x.ndim - 1
            call.gives(_rolled(x, {0: 1, last: -1}), x, (1, -1), axis=(0, -1))
            call.gives(_rolled(x, {0: 4, last: 4}), x, 4, axis=(0, -1))
            twice = "roll: each given axis is shifted by its element of shift"
            call.gives(_rolled(x, {0: 3}), x, (1, 2), axis=(0, 0), clause=twice)
            same = _rolled(x, {0: 1, last: 4})
            call.gives(same, x, (5, 1, -1), axis=(-1, 0, last), clause=twice)
    x = distinct((2, 3), "int8")
    call.refused(Exception, x, 1, axis=2, clause=AXIS)
    call.refused(Exception, x, 1, axis=-3, clause=AXIS)


def _rolled(x: Values, shifts: dict[int, int]) -> Values:
    def source(*at: int) -> tuple[int, ...]:
        return tuple((i - shifts.get(a, 0)) % x.shape[a] for a, i in enumerate(at))

    return gathered(x, x.shape, source)


def permute_dims(xp: Any, report: Report) -> None:
    """Every permutation up to three axes, some of eight, negative axes."""
    clause = "permute_dims: axis k of the result is axis axes[k] of x"
    call = Calls(xp, report, "permute_dims", clause)
    for x in everywhere(DTYPES, (2, 3)):
        for axes in _permutations(x.ndim):
            call.gives(_permuted(x, axes), x, axes)
        negative = tuple(a - x.ndim for a in reversed(range(x.ndim)))
        call.gives(
            _permuted(x, tuple(reversed(range(x.ndim)))),
            x,
            negative,
            clause="permute_dims: a negative axis counts from the last (2025.12)",
        )
    for axes in ((0, 2), (0, -3)):
        call.refused(Exception, distinct((2, 3), "int8"), axes, clause=AXIS)


def _permutations(ndim: int) -> Iterator[tuple[int, ...]]:
    if ndim <= 3:
        yield from itertools.permutations(range(ndim))
    else:
        yield tuple(reversed(range(ndim)))
        yield (*range(3, ndim), 0, 1, 2)


def _permuted(x: Values, axes: tuple[int, ...]) -> Values:
    def source(*at: int) -> tuple[int, ...]:
        return tuple(at[axes.index(a)] for a in range(x.ndim))

    return gathered(x, tuple(x.shape[a] for a in axes), source)


def matrix_transpose(xp: Any, report: Report) -> None:
    """Single matrices and stacks, by the function and the alias in linalg."""
    for name in ("matrix_transpose", "linalg.matrix_transpose"):
        if name.startswith("linalg") and not hasattr(xp, "linalg"):
            continue
        clause = "matrix_transpose: exchanges the last two axes"
        call = Calls(xp, report, name, clause)
        for x in everywhere(DTYPES, (2, 3)):
            if x.ndim >= 2:
                axes = (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
                call.gives(_permuted(x, axes), x)


def moveaxis(xp: Any, report: Report) -> None:
    """One axis and several, the others keeping their order."""
    clause = "moveaxis: moves axes, the others keep their order"
    call = Calls(xp, report, "moveaxis", clause)
    for x in everywhere(DTYPES, (2, 3)):
        for source, target in itertools.product(range(-1, min(x.ndim, 3)), repeat=2):
            if x.ndim:
                call.gives(_moved(x, [source], [target]), x, source, target)
        if x.ndim > 1:
            call.gives(_moved(x, [0, -1], [1, 0]), x, (0, -1), (1, 0))
            call.gives(_moved(x, [1], [-2]), x, (1,), (-2,))
    x = distinct((2, 3), "int8")
    for source, target in ((2, 0), (0, 2), (-3, 0), (0, -3)):
        call.refused(Exception, x, source, target, clause=AXIS)


def _moved(x: Values, sources: list[int], targets: list[int]) -> Values:
    from_ = [a % x.ndim for a in sources]
    to = [a % x.ndim for a in targets]
    rest = [a for a in range(x.ndim) if a not in from_]
    axes = [from_[to.index(k)] if k in to else rest.pop(0) for k in range(x.ndim)]
    return _permuted(x, tuple(axes))


def reshape(xp: Any, report: Report) -> None:
    """Row-major order for every memory layout; one inferred axis."""
    call = Calls(xp, report, "reshape", "reshape: the elements in row-major order")
    for x in everywhere(DTYPES, (2, 6)):
        targets: list[tuple[int, ...]] = [(x.size,), x.shape, (1, x.size, 1)]
        if x.size == 12:
            targets += [(3, 4), (6, 2), (2, 2, 3), (1, 2, 1, 3, 1, 2, 1, 1)]
        if x.size == 1:
            targets += [()]
        if x.size == 0:
            targets += [(0, 5), (5, 0, 2)]
        flat = [x[at] for at in np.ndindex(*x.shape)]
        for shape in targets:
            wanted = np.asarray(flat, x.dtype).reshape(shape)
            call.gives(wanted, x, shape)
            call.gives(wanted, x, shape, copy=True)
            call.gives(wanted, x, shape, copy=None, layouts=("fresh",))
        if x.size:
            wanted = np.asarray(flat, x.dtype)
            inferred = "reshape: an axis of -1 is inferred from the others"
            call.gives(wanted, x, (-1,), clause=inferred)
            call.gives(wanted.reshape(1, -1), x, (1, -1), clause=inferred)
    x = distinct((2, 3), "int8")
    one = "reshape: at most one axis may be -1"
    call.refused(Exception, x, (-1, -1), clause=one)
    call.refused(Exception, x, (4, 2), clause="reshape: the shape must be compatible")
    call.refused(Exception, x, (4, -1), clause="reshape: the shape must be compatible")


def expand_dims(xp: Any, report: Report) -> None:
    """Integer and tuple axes, negative ones counted in the result."""
    clause = "expand_dims: a tuple of axes counts in the result (2025.12)"
    for x in everywhere(DTYPES, (2, 3)):
        call = Calls(
            xp, report, "expand_dims", "expand_dims: inserts an axis of size 1"
        )
        for axis in range(-x.ndim - 1, x.ndim + 1):
            wanted = _expanded(x, [axis % (x.ndim + 1)])
            call.gives(wanted, x, axis, layouts=("fresh", "strided"))
        many = x.ndim + 2
        for axes in ((0, 1), (0, -1), (-1, 0), (-1, -2), (many - 1, 0)):
            wanted = _expanded(x, [a % many for a in axes])
            call.gives(wanted, x, axes, clause=clause, layouts=("fresh",))
        call.gives(x, x, (), clause=clause, layouts=("fresh",))
    call = Calls(xp, report, "expand_dims", "expand_dims: an invalid axis: IndexError")
    x = distinct((2, 3), "int8")
    for axis in (3, -4):
        call.refused(IndexError, x, axis)
    twice = "expand_dims: each entry of axis is a different position"
    call.refused(Exception, x, (0, 0), clause=twice)
    call.refused(Exception, x, (0, -4), clause=twice)


def _expanded(x: Values, axes: list[int]) -> Values:
    rest = list(x.shape)
    shape = [1 if a in axes else rest.pop(0) for a in range(x.ndim + len(axes))]
    return x.reshape(shape)


def squeeze(xp: Any, report: Report) -> None:
    """Single and several axes; a larger axis is refused."""
    call = Calls(xp, report, "squeeze", "squeeze: removes the given axes of size 1")
    for shape in (*SHAPES, (1, 1, 3), (1, 2, 1)):
        x = filled(shape, "float32")
        ones = [a for a, n in enumerate(shape) if n == 1]
        for axis in ones:
            wanted = x.reshape(shape[:axis] + shape[axis + 1 :])
            call.gives(wanted, x, axis)
            call.gives(wanted, x, axis - len(shape), layouts=("fresh",))
        if len(ones) > 1:
            rest = tuple(n for n in shape if n != 1)
            call.gives(x.reshape(rest), x, tuple(ones))
            call.gives(x.reshape(rest), x, tuple(a - len(shape) for a in ones[::-1]))
    for dtype in DTYPES:
        x = filled((1, 4), dtype)
        call.gives(x.reshape(4), x, (0,), layouts=("fresh", "strided"))
    x = distinct((2, 1), "int8")
    larger = "squeeze: an axis larger than one: ValueError"
    call.refused(ValueError, x, 0, clause=larger)
    call.refused(ValueError, x, (0, 1), clause=larger)
    call.refused(Exception, x, 2, clause=AXIS)
    call.refused(Exception, x, -3, clause=AXIS)


def unstack(xp: Any, report: Report) -> None:
    """Along every axis, into a tuple of arrays."""
    call = Calls(xp, report, "unstack", "unstack: the slices along an axis, a tuple")
    for x in everywhere(DTYPES, (2, 3)):
        for axis in range(-x.ndim, x.ndim):
            pieces = np.moveaxis(x, axis, 0)
            wanted = tuple(pieces[i] for i in range(x.shape[axis]))
            call.gives(wanted, x, axis=axis)
    x = distinct((2, 3), "int8")
    call.gives((x[0], x[1]), x, clause="unstack: axis is 0 by default")
    for axis in (2, -3):
        call.refused(Exception, x, axis=axis, clause=AXIS)


def many_axes(xp: Any, report: Report) -> None:
    """A hypercube of eight axes through the functions that reorder."""
    x = distinct((2,) * 8, "int32")
    axes = (7, 0, 6, 1, 5, 2, 4, 3)
    Calls(xp, report, "permute_dims", "permute_dims: eight axes").gives(
        _permuted(x, axes), x, axes
    )
    Calls(xp, report, "flip", "flip: eight axes").gives(
        _flipped(x, [1, 3, 7]), x, axis=(1, -5, 7)
    )
    size = math.prod(x.shape)
    Calls(xp, report, "reshape", "reshape: eight axes").gives(x.reshape(size), x, (-1,))


CHECKS = (
    Check("flip", flip),
    Check("roll", roll),
    Check("permute_dims", permute_dims),
    Check("matrix_transpose", matrix_transpose),
    Check("moveaxis", moveaxis),
    Check("reshape", reshape),
    Check("expand_dims", expand_dims),
    Check("squeeze", squeeze),
    Check("unstack", unstack),
    Check("eight axes", many_axes),
)
