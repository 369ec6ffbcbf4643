"""Manipulation functions that join, repeat and broadcast.

The oracle is an index formula or plain Python; promotion of mixed dtypes is checked in
concat and stack because they take more than two arrays.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from refarray.testing.standard.arrays import DTYPES, INTEGERS
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

PROMOTED = (
    (("int8", "int16", "int64"), "int64"),
    (("uint8", "int8"), "int16"),
    (("int8", "uint16", "uint8"), "int32"),
    (("uint8", "uint32"), "uint32"),
    (("float32", "float64"), "float64"),
    (("float32", "complex64"), "complex64"),
    (("float64", "complex64"), "complex128"),
    (("complex64", "complex128"), "complex128"),
)
"""Dtypes to join and the dtype of the result, from the promotion tables."""


def concat(xp: Any, report: Report) -> None:
    """Existing axes, flattened arrays, empty pieces, mixed dtypes."""
    call = Calls(xp, report, "concat", "concat: joins along an existing axis")
    flattened = "concat: axis=None flattens before joining"
    for x in everywhere(DTYPES, (2, 3)):
        y = np.flip(x)
        flat = np.asarray([*x.ravel(), *y.ravel()], x.dtype)
        call.gives(flat, [x, y], axis=None, clause=flattened)
        for axis in range(-x.ndim, x.ndim):
            call.gives(_joined([x, y], axis % x.ndim), [x, y], axis=axis)
        if x.ndim:
            call.gives(_joined([x, y, x], 0), (x, y, x), layouts=("fresh",))
            call.gives(x, [x], layouts=("fresh",))
    x, y = distinct((2, 3), "int16"), distinct((4, 3), "int16")
    call.gives(_joined([x, y, x[:0]], 0), [x, y, x[:0]])
    call.gives(_joined([x, x[:, :1]], 1), [x, x[:, :1]], axis=1)
    mixed_shapes = [distinct((), "int16"), distinct((2, 2), "int16")]
    flat = np.asarray([v for m in mixed_shapes for v in m.ravel()], "int16")
    call.gives(flat, mixed_shapes, axis=None, clause=flattened)
    for dtypes, result in PROMOTED:
        pieces = [distinct((2,), dtype) for dtype in dtypes]
        wanted = np.asarray([v for p in pieces for v in p.tolist()], result)
        call.gives(wanted, pieces, clause="concat: the dtype follows type promotion")
    for axis in (2, -3):
        call.refused(Exception, [x, y], axis=axis, clause=AXIS)
    shapes = "concat: shapes agree except along the axis"
    call.refused(Exception, [x, y], axis=1, clause=shapes)


def _joined(pieces: list[Values], axis: int) -> Values:
    before = [0, *itertools.accumulate(p.shape[axis] for p in pieces)]
    shape = list(pieces[0].shape)
    shape[axis] = before[-1]
    out = np.empty(shape, pieces[0].dtype)
    for piece, start in zip(pieces, before, strict=False):
        for at in np.ndindex(*piece.shape):
            out[(*at[:axis], at[axis] + start, *at[axis + 1 :])] = piece[at]
    return out


def stack(xp: Any, report: Report) -> None:
    """Every place for the new axis, one array and three, mixed dtypes."""
    call = Calls(xp, report, "stack", "stack: joins along a new axis")
    for x in everywhere(DTYPES, (2, 3)):
        y = np.flip(x)
        for axis in range(-x.ndim - 1, x.ndim + 1):
            new = axis % (x.ndim + 1)
            parts = [np.expand_dims(p, new) for p in (x, y, x)]
            call.gives(_joined(parts, new), [x, y, x], axis=axis)
        call.gives(x.reshape(1, *x.shape), (x,), layouts=("fresh",))
    for dtypes, result in PROMOTED:
        pieces = [distinct((2,), dtype) for dtype in dtypes]
        wanted = np.asarray([p.tolist() for p in pieces], result)
        call.gives(wanted, pieces, clause="stack: the dtype follows type promotion")
    x = distinct((2, 3), "int8")
    for axis in (3, -4):
        call.refused(Exception, [x, x], axis=axis, clause=AXIS)
    call.refused(Exception, [x, x[:1]], clause="stack: all arrays have the same shape")


def repeat(xp: Any, report: Report) -> None:
    """A number and an array of repeats, by axis and flattened."""
    call = Calls(xp, report, "repeat", "repeat: each element, repeats times")
    flattened = "repeat: axis=None repeats the flattened elements"
    per_element = "repeat: an array of repeats counts for each element"
    for x in everywhere(DTYPES, (2, 3)):
        for n in (0, 1, 3):
            wanted = _repeated(x.reshape(-1), [n] * x.size, 0)
            call.gives(wanted, x, n, clause=flattened)
            for axis in range(-x.ndim, x.ndim):
                counts = [n] * x.shape[axis]
                wanted = _repeated(x, counts, axis % x.ndim)
                call.gives(wanted, x, n, axis=axis, layouts=("fresh", "reversed"))
        for axis in range(x.ndim):
            counts = [(3 * i + 2) % 4 for i in range(x.shape[axis])]
            wanted = _repeated(x, counts, axis)
            repeats = np.asarray(counts, "int64")
            call.gives(wanted, x, repeats, axis=axis, clause=per_element)
    x = distinct((2, 3), "int8")
    counts = [0, 2, 1, 0, 3, 1]
    wanted = _repeated(x.reshape(-1), counts, 0)
    call.gives(wanted, x, np.asarray(counts, "int64"), clause=per_element)
    integers = "repeat: repeats have any integer dtype"
    for dtype in INTEGERS:
        by = np.asarray([2, 0, 1], dtype)
        wanted = _repeated(x, [2, 0, 1], 1)
        call.gives(wanted, x, by, axis=1, clause=integers, layouts=("fresh",))
    one = np.asarray([2], "int64")
    single = "repeat: an array of one repeat is broadcast"
    call.gives(_repeated(x.reshape(-1), [2] * 6, 0), x, one, clause=single)
    call.gives(_repeated(x, [2] * 3, 1), x, one, axis=1, clause=single)
    for axis in (2, -3):
        call.refused(Exception, x, 2, axis=axis, clause=AXIS)


def _repeated(x: Values, counts: list[int], axis: int) -> Values:
    source = [i for i, n in enumerate(counts) for _ in range(n)]
    shape = (*x.shape[:axis], len(source), *x.shape[axis + 1 :])
    return gathered(
        x, shape, lambda *at: (*at[:axis], source[at[axis]], *at[axis + 1 :])
    )


def tile(xp: Any, report: Report) -> None:
    """Fewer, as many and more repetitions than axes, and zero."""
    call = Calls(xp, report, "tile", "tile: repeats the array along each axis")
    short = "tile: fewer repetitions than axes: ones are prepended"
    long = "tile: more repetitions than axes: axes of size 1 are prepended"
    for x in everywhere(DTYPES, (2, 3)):
        call.gives(_tiled(x, (2,) * x.ndim), x, (2,) * x.ndim)
        call.gives(_tiled(x, (3,)), x, (3,), clause=short if x.ndim > 1 else long)
        call.gives(x, x, (), clause=short, layouts=("fresh", "strided"))
        deep = (2, *(1,) * x.ndim)
        call.gives(_tiled(x, deep), x, deep, clause=long)
    x = distinct((2, 3), "int8")
    for counts in ((0, 2), (2, 0), (1, 3), (2, 1, 3), (0,), (2, 2, 1, 2)):
        call.gives(_tiled(x, counts), x, counts)


def _tiled(x: Values, counts: tuple[int, ...]) -> Values:
    ndim = max(x.ndim, len(counts))
    x = x.reshape((1,) * (ndim - x.ndim) + x.shape)
    counts = (1,) * (ndim - len(counts)) + counts
    shape = tuple(n * r for n, r in zip(x.shape, counts, strict=True))

    def source(*at: int) -> tuple[int, ...]:
        return tuple(i % n for i, n in zip(at, x.shape, strict=True))

    return gathered(x, shape, source)


def _stretched(x: Values, shape: tuple[int, ...]) -> Values:
    skipped = len(shape) - x.ndim

    def source(*at: int) -> tuple[int, ...]:
        inner = at[skipped:]
        return tuple(0 if n == 1 else i for i, n in zip(inner, x.shape, strict=True))

    return gathered(x, shape, source)


def broadcast_to(xp: Any, report: Report) -> None:
    """New axes, stretched axes, empty axes; shapes that do not fit."""
    clause = "broadcast_to: stretches axes of size 1 and adds axes in front"
    call = Calls(xp, report, "broadcast_to", clause)
    cases: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
        ((), ()), ((), (3,)), ((), (2, 0)), ((1,), (4,)), ((1,), (0,)), ((3,), (2, 3)),
        ((2, 1), (2, 3)), ((2, 1), (4, 2, 3)), ((1, 3), (2, 3)), ((0,), (3, 0)),
        ((2, 1, 1), (2, 3, 2)), ((1,) * 8, (2, 1, 2, 1, 1, 2, 1, 3)),
    )  # fmt: skip
    for old, new in cases:
        for dtype in ("float32", "uint8", "complex128"):
            x = filled(old, dtype)
            call.gives(_stretched(x, new), x, new)
    for x in everywhere(DTYPES, (2, 1)):
        call.gives(x, x, x.shape, layouts=("fresh", "offset"))
        call.gives(_stretched(x, (2, *x.shape)), x, (2, *x.shape))
    x = distinct((2, 3), "int8")
    unfit = "broadcast_to: an incompatible shape raises"
    for shape in ((3,), (2, 4), (2, 1), (3, 2, 1), (), (2, 3, 1)):
        call.refused(Exception, x, shape, clause=unfit)


def broadcast_arrays(xp: Any, report: Report) -> None:
    """Zero to three arrays, each keeping its dtype, returned in a tuple."""
    clause = "broadcast_arrays: a tuple (2025.12) of arrays of one shape, own dtypes"
    call = Calls(xp, report, "broadcast_arrays", clause)
    x, y, z = filled((2, 1), "float32"), filled((3,), "int64"), filled((), "bool")
    shape = (2, 3)
    call.gives((_stretched(x, shape), _stretched(y, shape)), x, y)
    call.gives(tuple(_stretched(v, shape) for v in (z, y, x)), z, y, x)
    call.gives((x,), x)
    empty = filled((0, 1), "int8")
    call.gives((_stretched(empty, (0, 3)), _stretched(y, (0, 3))), empty, y)
    for dtype in DTYPES:
        one, two = filled((1, 2), dtype), filled((3, 1), dtype, 1)
        call.gives((_stretched(one, (3, 2)), _stretched(two, (3, 2))), one, two)
    call.refused(Exception, distinct((2,), "int8"), distinct((3,), "int8"))


def broadcast_shapes(xp: Any, report: Report) -> None:
    """Shapes only, no arrays: a tuple of Python integers."""
    cases: tuple[tuple[tuple[tuple[int, ...], ...], tuple[int, ...]], ...] = (
        ((), ()), (((),), ()), (((2, 3),), (2, 3)), (((2, 1), (3,)), (2, 3)),
        (((1,), (0,)), (0,)), (((4, 1, 1), (2, 1), (3,)), (4, 2, 3)),
        (((0, 1), (1, 5)), (0, 5)), (((), (2, 1), (1, 2)), (2, 2)),
        (((1,) * 8, (2,)), (1, 1, 1, 1, 1, 1, 1, 2)),
    )  # fmt: skip
    clause = "broadcast_shapes: the broadcast shape, a tuple; () for no shapes"
    for shapes, wanted in cases:
        given = f"broadcast_shapes{shapes}"
        with report.case("broadcast_shapes", given=given, clause=clause) as case:
            got = xp.broadcast_shapes(*shapes)
            case.true(isinstance(got, tuple), type(got).__name__, "a tuple")
            case.true(tuple(got) == wanted, tuple(got), wanted)
    clause = "broadcast_shapes: shapes that do not fit: ValueError"
    call = Calls(xp, report, "broadcast_shapes", clause)
    for shapes in (((2,), (3,)), ((2, 1), (3, 1)), ((0,), (2,)), ((1, 2), (3, 3))):
        call.refused(ValueError, *shapes)


def many_axes(xp: Any, report: Report) -> None:
    """Joining and repeating along axes of an array that has eight."""
    x = distinct(SHAPES[-1], "int32")
    for axis in (0, 3, 7):
        call = Calls(xp, report, "concat", "concat: eight axes")
        call.gives(_joined([x, x], axis), [x, x], axis=axis)
        call = Calls(xp, report, "repeat", "repeat: eight axes")
        call.gives(_repeated(x, [2] * x.shape[axis], axis), x, 2, axis=axis)


CHECKS = (
    Check("concat", concat),
    Check("stack", stack),
    Check("repeat", repeat),
    Check("tile", tile),
    Check("broadcast_to", broadcast_to),
    Check("broadcast_arrays", broadcast_arrays),
    Check("broadcast_shapes", broadcast_shapes),
    Check("eight joined axes", many_axes),
)
