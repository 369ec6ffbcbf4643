"""sort and argsort: order, stability, and freedom where the standard gives it.

The place of NaN among numbers, and of -0 and +0 among zeros, is left open; so NaN may
come anywhere and zeros of either sign count as equal. Everything else is exact.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from refarray.testing.standard import arrays
from refarray.testing.standard.arrays import INTEGERS, REALS
from refarray.testing.standard.calls import AXIS, Calls, default_dtype
from refarray.testing.standard.runner import Case, Check, Report
from refarray.testing.standard.samples import SHAPES, Values, distinct, filled

DESCENDING = "descending=True: ordered from the largest, equal elements in order"
MODES: tuple[dict[str, Any], ...] = (
    {},
    {"stable": False},
    {"descending": True},
    {"descending": True, "stable": False},
)


def inputs() -> list[Values]:
    """Arrays with duplicates, extremes and NaN, long enough for every algorithm."""
    found = [distinct(shape, "float64") // 2 for shape in SHAPES if shape]
    found += [distinct(SHAPES[-1], "int32")]
    for dtype in (*INTEGERS, *REALS):
        found += [filled((3, 8), dtype), filled((12,), dtype, 3)]
        cycle = np.resize(np.asarray([5, 1, 3, 1, 0, 5, 2], dtype), 150)
        found += [cycle, np.sort(cycle)]
    return found


def sort(xp: Any, report: Report) -> None:
    """Ascending and descending, stable and not, along every axis."""
    call = Calls(xp, report, "sort", "sort: ordered by value; same elements")
    for x in inputs():
        for axis in _some_axes(x.ndim):
            for mode in MODES:

                def judge(
                    case: Case, got: Any, x: Any = x, axis: Any = axis, mode: Any = mode
                ) -> None:
                    if case.is_array(got, x.dtype.name, x.shape):
                        _ordered(case, x, arrays.read(got), axis, **mode)

                clause = DESCENDING if mode.get("descending") else ""
                call.judged(judge, x, axis=axis, clause=clause, **mode)
    x = distinct((2, 3), "float32")
    call.gives(np.asarray(sorted_rows(x), "float32"), x)
    for axis in (2, -3):
        call.refused(Exception, x, axis=axis, clause=AXIS)


def argsort(xp: Any, report: Report) -> None:
    """As sort; where stable, equal elements keep their order in both directions."""
    call = Calls(xp, report, "argsort", "argsort: the indices that sort x, stable")
    index = default_dtype(xp, "indexing")
    for x in inputs():
        for axis in _some_axes(x.ndim):
            for mode in MODES:

                def judge(
                    case: Case, got: Any, x: Any = x, axis: Any = axis, mode: Any = mode
                ) -> None:
                    if case.is_array(got, index, x.shape):
                        _sorting(case, x, arrays.read(got), axis, **mode)

                clause = DESCENDING if mode.get("descending") else ""
                call.judged(judge, x, axis=axis, clause=clause, **mode)
    x = distinct((2, 3), "float32")
    rows = [sorted(range(3), key=row.__getitem__) for row in x.tolist()]
    call.gives(np.asarray(rows, index), x)
    default = "argsort: stable by default"
    ties = np.resize(np.asarray([1, 0], "int16"), 64)
    wanted = [*range(1, 64, 2), *range(0, 64, 2)]
    call.gives(np.asarray(wanted, index), ties, clause=default)
    for axis in (2, -3):
        call.refused(Exception, x, axis=axis, clause=AXIS)


def sorted_rows(x: Values) -> list[list[Any]]:
    """Each row of a matrix without NaN, sorted by Python."""
    return [sorted(row) for row in x.tolist()]


def _some_axes(ndim: int) -> list[int]:
    return [-1] if ndim == 1 else [0, -1, 1 - ndim]


def _lanes(x: Values, axis: int) -> list[list[Any]]:
    moved: list[list[Any]] = (
        np.moveaxis(x, axis, -1).reshape(-1, x.shape[axis]).tolist()
    )
    return moved


def _ordered(
    case: Case,
    x: Values,
    got: Values,
    axis: int,
    descending: bool = False,
    stable: bool = True,
) -> None:
    """Each lane of `got` holds the elements of that lane of x, in order."""
    if x.size == 0:
        return
    case.report.values += x.size
    for given, came in zip(_lanes(x, axis), _lanes(got, axis), strict=True):
        numbers = sorted((v for v in given if v == v), reverse=descending)
        ordered = [v for v in came if v == v]
        if not case.true(ordered == numbers, ordered, numbers):
            return
        signs = sorted(math.copysign(1, v) for v in given if v == 0)
        kept = sorted(math.copysign(1, v) for v in came if v == 0)
        if stable and not case.true(
            signs == kept, came, "zeros of the same signs as in x"
        ):
            return


def _sorting(
    case: Case,
    x: Values,
    got: Values,
    axis: int,
    descending: bool = False,
    stable: bool = True,
) -> None:
    """Each lane of `got` is a permutation that sorts that lane of x."""
    if x.size == 0:
        return
    case.report.values += x.size
    for given, order in zip(_lanes(x, axis), _lanes(got, axis), strict=True):
        if not case.true(
            sorted(order) == list(range(len(given))), order, "all indices"
        ):
            return
        came = [(given[i], i) for i in order if given[i] == given[i]]
        wanted = sorted(
            ((v, i) for i, v in enumerate(given) if v == v),
            key=lambda pair: -pair[0] if descending else pair[0],
        )
        values = [v for v, _ in came]
        if not case.true(values == [v for v, _ in wanted], values, "sorted values"):
            return
        came, wanted = ([p for p in pairs if p[0] != 0] for pairs in (came, wanted))
        if stable and came != wanted:
            case.true(False, [i for _, i in came], [i for _, i in wanted])
            return


CHECKS = (Check("sort", sort), Check("argsort", argsort))
