"""Searching functions: argmax, argmin, count_nonzero, nonzero, searchsorted, where.

The oracle is Python's own comparison of the elements, one by one. Where the standard
leaves the place of NaN or of signed zeros open, every place is accepted.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from refarray.testing.standard.arrays import COMPLEX_OF, DTYPES, INTEGERS, REALS
from refarray.testing.standard.calls import AXIS, Calls, default_dtype
from refarray.testing.standard.layouts import SHORT
from refarray.testing.standard.oracle_reduce import choices, reduced
from refarray.testing.standard.runner import Check, Report
from refarray.testing.standard.samples import SHAPES, Values, distinct, filled

INF, NAN = math.inf, math.nan


def argmax(xp: Any, report: Report) -> None:
    """The first of equal maxima, extreme integers, infinities."""
    clause = "argmax: the first index of the maximum, in the default index dtype"
    _extreme(Calls(xp, report, "argmax", clause), max)


def argmin(xp: Any, report: Report) -> None:
    """The first of equal minima, extreme integers, infinities."""
    clause = "argmin: the first index of the minimum, in the default index dtype"
    _extreme(Calls(xp, report, "argmin", clause), min)


def _extreme(call: Calls, pick: Callable[[list[Any]], Any]) -> None:
    index = default_dtype(call.xp, "indexing")

    def function(values: list[Any]) -> int:
        return values.index(pick(values))

    for dtype in (*INTEGERS, *REALS):
        whole = filled((4, 5), dtype, 2)
        x = np.where(np.isnan(whole) | (whole == 0), 1, whole).astype(dtype)
        for axis in (None, 0, 1, -1):
            call.gives(reduced(x, function, index, axis), x, axis=axis)
        for size in (8, 40, 300):
            x = np.resize(np.asarray([3, 1, 7, 1, 7, 2], dtype), size)
            call.gives(reduced(x, function, index), x, layouts=SHORT)
    for shape in SHAPES:
        x = distinct(shape, "float64") // 3
        for axis in (None, *range(-x.ndim, x.ndim)):
            reduced_axis = x.size if axis is None else x.shape[axis]
            if reduced_axis == 0:
                continue  # left open
            for keepdims in (False, True):
                wanted = reduced(x, function, index, axis, keepdims)
                call.gives(wanted, x, axis=axis, keepdims=keepdims, layouts=SHORT)
    for wrong in (2, -3):
        call.refused(Exception, distinct((2, 3), "int8"), axis=wrong, clause=AXIS)


def count_nonzero(xp: Any, report: Report) -> None:
    """Every dtype and axis; NaN counts, zeros of either sign do not."""
    clause = "count_nonzero: an array of the default index dtype"
    call = Calls(xp, report, "count_nonzero", clause)
    index = default_dtype(xp, "indexing")
    for dtype in DTYPES:
        for x in (filled((3, 5), dtype), np.zeros((2, 3), dtype), filled((40,), dtype)):
            for axis in choices(x.ndim):
                call.gives(reduced(x, _count, index, axis), x, axis=axis, layouts=SHORT)
    for shape in SHAPES:
        x = distinct(shape, "int8")
        for axis in choices(x.ndim):
            for keepdims in (False, True):
                wanted = reduced(x, _count, index, axis, keepdims)
                call.gives(wanted, x, axis=axis, keepdims=keepdims, layouts=SHORT)
    for wrong in (2, -3, (0, 2)):
        call.refused(Exception, distinct((2, 3), "int8"), axis=wrong, clause=AXIS)


def _count(values: list[Any]) -> int:
    return sum(1 for value in values if value != 0)


def nonzero(xp: Any, report: Report) -> None:
    """Every dtype; row-major order whatever the layout; no 0-d array."""
    clause = "nonzero: a tuple of index arrays in row-major order"
    call = Calls(xp, report, "nonzero", clause)
    index = default_dtype(xp, "indexing")
    inputs = [filled((3, 5), dtype) for dtype in DTYPES]
    inputs += [distinct(shape, "int8") for shape in SHAPES if shape]
    inputs += [np.zeros((2, 3), "float32"), np.ones((2, 2), "bool")]
    for x in inputs:
        places = [at for at in np.ndindex(*x.shape) if x[at] != 0]
        wanted = np.asarray(places, index).reshape(len(places), x.ndim)
        call.gives(tuple(wanted[:, a] for a in range(x.ndim)), x)
    zero_d = "nonzero: a zero-dimensional array raises"
    call.refused(Exception, np.asarray(1.0), clause=zero_d)


def searchsorted(xp: Any, report: Report) -> None:
    """Both sides, duplicates, a sorter, scalars, shapes of x2."""
    clause = "searchsorted: x1[i-1] < v <= x1[i] (left), x1[i-1] <= v < x1[i] (right)"
    call = Calls(xp, report, "searchsorted", clause)
    sorter_clause = "searchsorted: sorter holds the indices that sort x1"
    scalar = "searchsorted: x2 may be a Python scalar (2025.12)"
    for dtype in (*INTEGERS, *REALS):
        values = {v for v in filled((12,), dtype).tolist() if v == v}
        known = sorted(values - {2, 0.0} | {1})
        x1 = np.asarray([v for v in known for _ in range(2)], dtype)
        x2 = np.asarray([*known, 2, 0, 3], dtype)
        for side in ("left", "right"):
            wanted = _places(xp, x1, x2, side)
            call.gives(wanted, x1, x2, side=side)
            square = x2[:4].reshape(2, 2)
            call.gives(_places(xp, x1, square, side), x1, square, side=side)
            order = np.argsort((np.arange(x1.size) * 5 + 2) % (x1.size + 1))
            shuffled = x1[order]
            by = np.argsort(shuffled, kind="stable").astype(
                default_dtype(xp, "indexing")
            )
            call.gives(wanted, shuffled, x2, side=side, sorter=by, clause=sorter_clause)
            for value in (1, 2, *([1.5, -INF, INF] if dtype in REALS else [])):
                one = _places(xp, x1, np.asarray(value, dtype), side)
                call.gives(one, x1, value, side=side, clause=scalar, layouts=SHORT)
    x1 = np.asarray([1, 3, 3, 5], "int32")
    for shape in SHAPES:
        x2 = distinct(shape, "int32")
        call.gives(_places(xp, x1, x2, "left"), x1, x2, clause=clause)
    none = np.zeros((0,), "int32")
    call.gives(_places(xp, none, x1, "left"), none, x1)
    for size in (17, 100):
        x1 = np.arange(size, dtype="float64") // 3
        x2 = np.arange(-1.0, size / 3 + 1, 0.5)
        for side in ("left", "right"):
            call.gives(_places(xp, x1, x2, side), x1, x2, side=side, layouts=SHORT)


def _places(xp: Any, x1: Values, x2: Values, side: str) -> Values:
    find = bisect.bisect_left if side == "left" else bisect.bisect_right
    out = np.empty(x2.shape, default_dtype(xp, "indexing"))
    for at in np.ndindex(*x2.shape):
        out[at] = find(x1.tolist(), x2[at].item())
    return out


def where(xp: Any, report: Report) -> None:
    """Broadcasting, promotion, every dtype bit for bit, scalars on either side."""
    call = Calls(xp, report, "where", "where: x1 where true, x2 elsewhere")
    truth = np.asarray([[True, False, True], [False, False, True]])
    for dtype in DTYPES:
        x1, x2 = filled((2, 3), dtype), filled((2, 3), dtype, 5)
        call.gives(_chosen(truth, x1, x2), truth, x1, x2)
        call.gives(_chosen(truth, x1[:1], x2[:, :1]), truth, x1[:1], x2[:, :1])
        call.gives(_chosen(truth[0], x1, x2[1]), truth[0], x1, x2[1])
    x = filled((3,), "float32")
    for value in (True, False):
        condition = np.asarray(value)
        call.gives(_chosen(condition, x, x[::-1]), condition, x, x[::-1])
    none = np.zeros((0, 1), "bool")
    call.gives(np.zeros((0, 3), "float32"), none, x, x)
    promotes = "where: the dtype follows type promotion"
    for one, two, result in (
        ("int8", "int32", "int32"), ("uint8", "int8", "int16"),
        ("float32", "float64", "float64"), ("float32", "complex64", "complex64"),
        ("float64", "complex64", "complex128"), ("uint16", "int16", "int32"),
    ):  # fmt: skip
        x1, x2 = distinct((2, 3), one), distinct((2, 3), two)
        wanted = _chosen(truth, x1.astype(result), x2.astype(result))
        call.gives(wanted, truth, x1, x2, clause=promotes)
        swapped = _chosen(truth, x2.astype(result), x1.astype(result))
        call.gives(swapped, truth, x2, x1, clause=promotes)
    scalars = "where: a Python scalar takes the dtype of the array (2024.12)"
    for dtype in DTYPES:
        x = filled((2, 3), dtype)
        for scalar, result in _scalars(dtype):
            x_, s = x.astype(result), np.asarray(scalar).astype(result)
            call.gives(_chosen(truth, x_, s), truth, x, scalar, clause=scalars)
            call.gives(_chosen(truth, s, x_), truth, scalar, x, clause=scalars)
    many = distinct(SHAPES[-1], "int16")
    call.gives(_chosen(many > 0, many, many * 0), many > 0, many, many * 0)
    shapes = "where: shapes that do not broadcast raise"
    call.refused(Exception, truth, np.zeros(2), np.zeros(3), clause=shapes)


def _scalars(dtype: str) -> list[tuple[Any, str]]:
    if dtype == "bool":
        return [(True, dtype), (False, dtype)]
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        return [(1, dtype), (int(info.max), dtype), (int(info.min), dtype)]
    wide = COMPLEX_OF.get(dtype, dtype)
    return [(-2, dtype), (NAN, dtype), (-0.0, dtype), (complex(-1, 2), wide)]


def _chosen(condition: Values, x1: Values, x2: Values) -> Values:
    condition, x1, x2 = np.broadcast_arrays(condition, x1, x2)
    out = np.empty(condition.shape, x1.dtype)
    for at in np.ndindex(*condition.shape):
        out[at] = x1[at] if condition[at] else x2[at]
    return out


CHECKS = (
    Check("argmax", argmax),
    Check("argmin", argmin),
    Check("count_nonzero", count_nonzero),
    Check("nonzero", nonzero),
    Check("searchsorted", searchsorted),
    Check("where", where),
)
