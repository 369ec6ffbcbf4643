"""Indexing: reading by integers, slices, ellipsis, None, masks and index arrays; take.

Slices are compared with Python's own slicing of a list of positions, within the bounds
that the standard requires. Assignment is in `check_assignment.py`.
"""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np

from refarray.testing.standard import arrays, layouts
from refarray.testing.standard.arrays import DTYPES, INTEGERS
from refarray.testing.standard.calls import Calls, default_dtype
from refarray.testing.standard.runner import Check, Report
from refarray.testing.standard.samples import Values, distinct, everywhere, filled

GET = "__getitem__"


def positions(key: Any, shape: tuple[int, ...]) -> Values:
    """The flat positions that a key of integers, slices, ... and None selects.

    Slices act as on Python lists. The result has the shape of the selection.
    """
    keys = list(key) if isinstance(key, tuple) else [key]
    given = sum(k is not None and k is not Ellipsis for k in keys)
    rest = [slice(None)] * (len(shape) - given)
    if Ellipsis in keys:
        at = keys.index(Ellipsis)
        keys[at : at + 1] = rest
    else:
        keys += rest
    chosen: list[list[int]] = []
    out_shape: list[int] = []
    axis = 0
    for k in keys:
        if k is None:
            out_shape.append(1)
            continue
        whole = list(range(shape[axis]))
        axis += 1
        if isinstance(k, slice):
            chosen.append(whole[k])
            out_shape.append(len(chosen[-1]))
        else:
            chosen.append([whole[operator.index(k)]])
    strides = [int(np.prod(shape[a + 1 :], dtype=int)) for a in range(len(shape))]
    flat = [
        sum(i * s for i, s in zip(at, strides, strict=True))
        for at in itertools.product(*chosen)
    ]
    return np.asarray(flat, "int64").reshape(out_shape)


def selected(x: Values, key: Any) -> Values:
    """The elements that a key of integers, slices, ellipsis and None selects."""
    return np.asarray(x.reshape(-1)[positions(key, x.shape)], x.dtype)


def _get(
    xp: Any, report: Report, x: Values, key: Any, clause: str, layout: str = "fresh"
) -> None:
    given = f"array of shape {x.shape}[{_text(key)}]"
    given += "" if layout == "fresh" else f" on a {layout} array"
    with report.case(GET, dtype=x.dtype.name, given=given, clause=clause) as case:
        made = layouts.make(xp, x, layout)
        if made is not None:
            case.equal(made[key], selected(x, key))


def _text(key: Any) -> str:
    if isinstance(key, tuple):
        return "(" + ", ".join(map(_text, key)) + ",)"
    if isinstance(key, slice):
        return ":".join(
            "" if v is None else str(v) for v in (key.start, key.stop, key.step)
        )
    return "..." if key is Ellipsis else repr(key)


def slices(n: int) -> list[slice]:
    """Every slice that the standard requires an axis of n elements to support."""
    found = []
    for step in (None, 1, 2, 3, -1, -2, -3):
        forward = step is None or step > 0
        starts = [None, *range(-n, n + 1)]
        low, high = (-n, n) if forward else (-n - 1, max(0, n - 1))
        stops = [None, *range(low, high + 1)]
        found += [slice(a, b, step) for a in starts for b in stops]
    return found


def one_axis(xp: Any, report: Report) -> None:
    """Every integer and every slice of short axes."""
    integer = "an integer selects one element, a negative one from the end"
    some = "a slice i:j:k selects as for a Python list"
    for n in (0, 1, 2, 4):
        x = filled((n,), "float32")
        made = arrays.make(xp, x)
        for i in range(-n, n):
            _get(xp, report, x, i, integer)
            _get(xp, report, x, (i,), integer, "reversed")
        for key in slices(n):
            given = f"array of shape ({n},)[{_text(key)}]"
            with report.case(GET, dtype="float32", given=given, clause=some) as case:
                case.equal(made[key], selected(x, key))
    for key in slices(3)[::7]:
        for layout in ("strided", "reversed", "offset", "broadcast"):
            _get(xp, report, distinct((3,), "int64"), key, some, layout)


def many_axes(xp: Any, report: Report) -> None:
    """Mixed keys on zero to eight axes, in every layout and dtype."""
    clause = "each axis is indexed on its own; ... fills up, None adds an axis"
    s = slice
    keys: dict[tuple[int, ...], list[Any]] = {
        (): [(), ..., None, (None, ...), (..., None), (None, None)],
        (3,): [
            ..., (...,), (None, s(None)), (s(None), None), (..., 1), (1, ...),
            (None, 1),
        ],
        (2, 3): [
            (1, 2), (-1, -3), (0, s(None)), (s(None), -1), (..., 0), (1, ...),
            (s(None, None, -1), s(None, None, -2)), (s(0, 0), s(None)),
            (..., s(1, 3)),
            (s(None), None, 1), (..., None), (None, ..., None), (s(1, 2), ..., 0),
            (None, 1, None, 2), (...,),
            (s(None), s(None), None), (1, 1, ...), (..., 1, 1),
        ],
        (2, 1, 3): [
            (1, ..., 2), (..., 0, s(None, None, -1)), (s(1, None), 0, s(2, 0, -1)),
        ],
        (0, 3): [(s(None), 1), (s(0, 0), s(None)), (..., s(None, None, -1))],
        (1, 2, 1, 3, 1, 1, 2, 1): [
            (0, 1, 0, 2, 0, 0, 1, 0), (..., s(None, None, -1), 0), (0, ..., None, 0),
            (s(None), 1, ..., s(None), 0),
        ],
    }  # fmt: skip
    for shape, chosen in keys.items():
        for key, layout in itertools.product(chosen, layouts.LAYOUTS):
            _get(xp, report, distinct(shape, "int32"), key, clause, layout)
    for dtype in DTYPES:
        x = filled((2, 3), dtype)
        for key in ((1, s(None, None, -1)), (..., 1), (0, 2), (s(None), s(0, 2))):
            _get(xp, report, x, key, clause)
    with report.case(GET, given="x[xp.newaxis]", clause="newaxis is None") as case:
        case.true(xp.newaxis is None, xp.newaxis, None)
    _objects(xp, report)


class _Index:
    """An integer by `__index__` alone."""

    def __index__(self) -> int:
        return 1


def _objects(xp: Any, report: Report) -> None:
    clause = "an integer index is any object that operator.index accepts"
    x = distinct((3, 4), "int64")
    for name, key, wanted in (
        ("an object with __index__", _Index(), x[1, 3]),
        ("a 0-d integer array", arrays.make(xp, np.asarray(2)), x[2, 3]),
    ):
        given = f"x[{name}, 3]"
        with report.case(GET, given=given, clause=clause) as case:
            case.equal(arrays.make(xp, x)[key, 3], np.asarray(wanted))
    clause = "a one-dimensional array iterates over its elements"
    with report.case("__iter__", given="list(x)", clause=clause) as case:
        row = distinct((3,), "float32")
        came = list(arrays.make(xp, row))
        if case.true(len(came) == 3, len(came), 3):
            for got, wanted in zip(came, row, strict=True):
                case.equal(got, np.asarray(wanted))


def errors(xp: Any, report: Report) -> None:
    """Keys that the standard says raise IndexError."""
    x = arrays.make(xp, distinct((2, 3), "int64"))
    mask = arrays.make(xp, np.ones((2, 2), "bool"))
    deep = arrays.make(xp, np.ones((2, 3, 1), "bool"))
    for name, key, clause in (
        ("three integers", (0, 0, 0), "more indices than axes: IndexError"),
        ("three slices", (slice(None),) * 3, "more indices than axes: IndexError"),
        ("two ellipses", (..., 0, ...), "more than one ellipsis: IndexError"),
        ("a mask of shape (2, 2)", mask, "a mask of another size: IndexError"),
        ("a mask of three axes", deep, "a mask of more axes than x: IndexError"),
    ):
        given = f"array of shape (2, 3)[{name}]"
        with report.case(GET, given=given, clause=clause) as case:
            case.raises(IndexError, operator.getitem, x, key)


def masks(xp: Any, report: Report) -> None:
    """Masks over all or the first axes, of no element, zero-dimensional."""
    clause = "a mask selects in row-major order and replaces its axes by one"
    for x in everywhere(DTYPES, (2, 3)):
        for m in range(x.ndim + 1):
            size = int(np.prod(x.shape[:m], dtype=int))
            patterns = [np.arange(size) % 3 != 1, np.zeros(size), np.ones(size)]
            for pattern, layout in itertools.product(patterns, ("fresh", "transposed")):
                mask = np.asarray(pattern, "bool").reshape(x.shape[:m])
                places = [at for at in np.ndindex(*mask.shape) if mask[at]]
                wanted = np.empty((len(places), *x.shape[m:]), x.dtype)
                for row, at in enumerate(places):
                    wanted[row] = x[at]
                given = f"array of shape {x.shape}[mask of shape {mask.shape}]"
                given += "" if layout == "fresh" else f" on {layout} arrays"
                with report.case(
                    GET, dtype=x.dtype.name, given=given, clause=clause
                ) as case:
                    made = layouts.make(xp, x, layout)
                    by = layouts.make(xp, mask, layout if m > 1 else "fresh")
                    if made is not None:
                        case.equal(made[by], wanted)


def index_arrays(xp: Any, report: Report) -> None:
    """Integer arrays and integers for every axis, broadcast, negative, repeated."""
    clause = "integer arrays for every axis select by broadcast coordinates (2024.12)"
    index = default_dtype(xp, "indexing")
    keys: list[tuple[tuple[int, ...], tuple[Any, ...]]] = [
        ((4,), ([0, -1, 0, 2],)), ((4,), ([[1, 2], [-4, 3]],)), ((4,), ([],)),
        ((4, 4), ([0, 1], [2, 3])), ((3, 4), ([[0], [2]], [1, -1, 1])),
        ((3, 4), ([0, 2], 1)), ((3, 4), (-1, [3, 0, 3])), ((3, 4), ([[0, 1]], 2)),
        ((2, 3, 2), ([0, 1], [[2], [-3]], [1])), ((2, 3, 2), (1, [0, 2], -2)),
        ((3, 4), (1, 2)),
    ]  # fmt: skip
    for shape, key in keys:
        for dtype, layout in itertools.product(
            ("int16", "float32", "complex128", "bool"),
            ("fresh", "transposed", "strided"),
        ):
            x = filled(shape, dtype)
            parts = [np.asarray(k, index) for k in key]
            full = np.broadcast_arrays(*parts)
            wanted = np.empty(full[0].shape, dtype)
            for at in np.ndindex(*wanted.shape):
                wanted[at] = x[tuple(int(f[at]) for f in full)]
            given = f"array of shape {shape}[{key}] on {layout} arrays"
            with report.case(GET, dtype=dtype, given=given, clause=clause) as case:
                made = layouts.make(xp, x, layout)
                by = tuple(
                    k if isinstance(k, int) else arrays.make(xp, p)
                    for k, p in zip(key, parts, strict=True)
                )
                if made is not None:
                    case.equal(made[by], wanted)
    with report.case(GET, given="x[[0, 1], [0, 1, 2]]", clause=clause) as case:
        x_ = arrays.make(xp, distinct((3, 4), "int64"))
        one = arrays.make(xp, np.asarray([0, 1], index))
        two = arrays.make(xp, np.asarray([0, 1, 2], index))
        case.raises(Exception, operator.getitem, x_, (one, two))


def take(xp: Any, report: Report) -> None:
    """Every axis, repeated and negative indices, none."""
    call = Calls(xp, report, "take", "take: elements along an axis")
    for x in everywhere(DTYPES, (2, 3)):
        for axis in range(-x.ndim, x.ndim):
            n = x.shape[axis]
            for chosen in ([], [0], [n - 1, 0, 0, -1, -n]) if n else ([],):
                indices = np.asarray(chosen, "int64")
                moved = np.moveaxis(x, axis, 0)
                rows = np.empty((len(chosen), *moved.shape[1:]), x.dtype)
                for row, i in enumerate(chosen):
                    rows[row] = moved[i % n]
                call.gives(np.moveaxis(rows, 0, axis), x, indices, axis=axis)
    x = distinct((5,), "float32")
    integers = "take: indices have any integer dtype"
    for dtype in INTEGERS:
        indices = np.asarray([3, 0, 4], dtype)
        call.gives(x[[3, 0, 4]], x, indices, clause=integers, layouts=("fresh",))
    optional = "take: axis is optional for one axis, required for more"
    indices = np.asarray([3, 0, -2], "int64")
    call.gives(x[[3, 0, 3]], x, indices, clause=optional)
    call.refused(Exception, distinct((2, 5), "int8"), indices, clause=optional)


def take_along_axis(xp: Any, report: Report) -> None:
    """Every axis, broadcasting of the other axes, negative indices."""
    clause = "take_along_axis: element indices[i, j] along an axis (2024.12)"
    call = Calls(xp, report, "take_along_axis", clause)
    for x in everywhere(DTYPES, (2, 3)):
        for axis in range(-x.ndim, x.ndim):
            if x.size == 0:
                continue
            shape = list(x.shape)
            shape[axis] = 4
            n = x.shape[axis]
            indices = (np.arange(np.prod(shape)) * 5 % (2 * n) - n).reshape(shape)
            call.gives(_along(x, indices, axis), x, indices.astype("int64"), axis=axis)
    x, y = distinct((3, 1, 4), "int64"), np.asarray([[[0], [1], [2], [-1]]])
    wanted = _along(np.broadcast_to(x, (3, 4, 4)), np.broadcast_to(y, (3, 4, 1)), -1)
    call.gives(wanted, x, y.astype("int64"), axis=-1)
    call.gives(wanted, x, y.astype("int64"), clause="take_along_axis: last by default")
    for wrong in (3, -4):
        call.refused(Exception, x, y.astype("int64"), axis=wrong)


def _along(x: Values, indices: Values, axis: int) -> Values:
    axis %= x.ndim
    out = np.empty(indices.shape, x.dtype)
    for at in np.ndindex(*indices.shape):
        i = int(indices[at]) % x.shape[axis]
        out[at] = x[(*at[:axis], i, *at[axis + 1 :])]
    return out


CHECKS = (
    Check(GET, one_axis),
    Check(GET, many_axes),
    Check(GET, errors),
    Check(GET, masks),
    Check(GET, index_arrays),
    Check("take", take),
    Check("take_along_axis", take_along_axis),
)
