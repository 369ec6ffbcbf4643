"""Accumulations and utility functions: cumulative_sum, cumulative_prod, all, any, diff.

The oracle is plain Python on the elements before each position; see `oracle_reduce.py`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from refarray.testing.standard.arrays import COMPLEX, DTYPES, INTEGERS, NUMBERS, REALS
from refarray.testing.standard.calls import AXIS, Calls
from refarray.testing.standard.check_statistical import small, sum_dtype
from refarray.testing.standard.layouts import SHORT
from refarray.testing.standard.oracle_reduce import accumulated, choices, reduced
from refarray.testing.standard.runner import Check, Report
from refarray.testing.standard.samples import SHAPES, Values, distinct, filled

INF, NAN = math.inf, math.nan


def cumulative_sum(xp: Any, report: Report) -> None:
    """Every axis, the initial zero, the upcast, infinities and NaN."""
    clause = "cumulative_sum: the sums up to each element"
    call = Calls(xp, report, "cumulative_sum", clause)
    _accumulation(call, sum, 0, 100)
    special = "cumulative_sum: special cases as by successive addition"
    for dtype in REALS:
        large = float(np.finfo(dtype).max)
        for values, wanted in (
            ([1.0, INF, 2.0, -INF, 1.0], [1.0, INF, INF, NAN, NAN]),
            ([1.0, NAN, 2.0], [1.0, NAN, NAN]),
            ([large, large], [large, INF]),
            ([0.5, -0.25, 8.0], [0.5, 0.25, 8.25]),
        ):
            x = np.asarray(values, dtype)
            call.gives(np.asarray(wanted, dtype), x, clause=special)
    for dtype in COMPLEX:
        x = np.asarray([complex(1, INF), complex(2, 1), complex(NAN, -INF)], dtype)
        sums = [complex(1, INF), complex(3, INF), complex(NAN, NAN)]
        call.gives(np.asarray(sums, dtype), x, clause=special)


def cumulative_prod(xp: Any, report: Report) -> None:
    """Every axis, the initial one, the upcast, infinities and NaN."""
    clause = "cumulative_prod: the products up to each element"
    call = Calls(xp, report, "cumulative_prod", clause)
    _accumulation(call, math.prod, 1, 2)
    special = "cumulative_prod: special cases as by successive multiplication"
    for dtype in REALS:
        large = float(np.finfo(dtype).max)
        for values, wanted in (
            ([-2.0, INF, 0.0, 1.0], [-2.0, -INF, NAN, NAN]),
            ([1.0, NAN, 0.0], [1.0, NAN, NAN]),
            ([large, -2.0], [large, -INF]),
            ([3.0, -0.0, -1.0], [3.0, -0.0, 0.0]),
        ):
            x = np.asarray(values, dtype)
            call.gives(np.asarray(wanted, dtype), x, clause=special)


def _accumulation(
    call: Calls, function: Callable[[list[Any]], Any], initial: int, value: int
) -> None:
    name = call.function
    include = f"{name}: include_initial puts {initial} in front"
    for dtype in NUMBERS:
        result = sum_dtype(call.xp, dtype)
        for shape in SHAPES if dtype in ("float32", "int64", "uint8") else ((2, 3),):
            x = small(shape, dtype)
            for axis in range(-x.ndim, x.ndim):
                wanted = accumulated(x, function, result, axis)
                call.gives(wanted, x, axis=axis)
                first = np.full(
                    [1 if a == axis % x.ndim else n for a, n in enumerate(shape)],
                    initial,
                    result,
                )
                with_initial = np.concatenate([first, wanted], axis)
                call.gives(
                    with_initial,
                    x,
                    axis=axis,
                    include_initial=True,
                    clause=include,
                    layouts=SHORT,
                )
        x = small((5,), dtype)
        call.gives(accumulated(x, function, result, 0), x, layouts=SHORT)
    upcast = f"{name}: small integers accumulate in the default integer dtype"
    for dtype in INTEGERS:
        x = np.full(9, value, dtype)
        result = sum_dtype(call.xp, dtype)
        call.gives(accumulated(x, function, result, 0), x, clause=upcast)
    casts = f"{name}: dtype= casts before computing"
    for dtype, result in (
        ("int8", "int32"), ("uint8", "uint32"), ("float32", "float64"),
        ("int16", "float64"), ("complex64", "complex128"), ("float64", "complex128"),
    ):  # fmt: skip
        x = small((2, 3), dtype)
        wanted = accumulated(x, function, result, 1)
        call.gives(wanted, x, axis=1, dtype=np.dtype(result), clause=casts)
    x = distinct((2, 3), "float64")
    for wrong in (2, -3):
        call.refused(Exception, x, axis=wrong, clause=AXIS)
    needed = f"{name}: axis is required for more than one axis"
    call.refused(Exception, x, clause=needed)


def all_(xp: Any, report: Report) -> None:
    """Every dtype and axis; NaN is true, -0 is false, no element is true."""
    _truth(Calls(xp, report, "all", "all: NaN and infinities are true"), all)


def any_(xp: Any, report: Report) -> None:
    """Every dtype and axis; NaN is true, -0 is false, no element is false."""
    _truth(Calls(xp, report, "any", "any: NaN and infinities are true"), any)


def _truth(call: Calls, function: Callable[[list[Any]], bool]) -> None:
    for dtype in DTYPES:
        zero, one = np.asarray([0, 1], dtype)
        for x in (
            np.asarray([[zero, one, one], [one, one, one]], dtype),
            np.asarray([[zero, zero, one], [zero, zero, zero]], dtype),
            filled((3, 4), dtype),
        ):
            for axis in choices(2):
                call.gives(reduced(x, function, "bool", axis), x, axis=axis)
        for size in (33, 300):
            for position in (0, size // 2, size - 1):
                x = np.full(size, one, dtype)
                x[position] = zero
                call.gives(reduced(x, function, "bool"), x, layouts=SHORT)
                y = np.full(size, zero, dtype)
                y[position] = one
                call.gives(reduced(y, function, "bool"), y, layouts=SHORT)
    for shape in SHAPES:
        x = distinct(shape, "int8")
        for axis in choices(x.ndim):
            for keepdims in (False, True):
                wanted = reduced(x, function, "bool", axis, keepdims)
                call.gives(wanted, x, axis=axis, keepdims=keepdims, layouts=SHORT)
    for value in (NAN, INF, -0.0, 5e-324, complex(0, NAN), complex(-0.0, 5e-324)):
        x = np.asarray([value, value])
        call.gives(reduced(x, function, "bool"), x)
    for wrong in (2, -3, (0, 2)):
        call.refused(Exception, distinct((2, 3), "int8"), axis=wrong, clause=AXIS)


def diff(xp: Any, report: Report) -> None:
    """Orders zero to the size, every axis, values put before and after."""
    call = Calls(xp, report, "diff", "diff: x[i+1] - x[i] along an axis, n times")
    for dtype in NUMBERS:
        ascending = np.dtype(dtype).kind == "u"
        for shape in ((6,), (2, 3), (3, 1, 2)) if dtype != "float64" else SHAPES:
            x = distinct(shape, dtype)
            for axis, n in itertools.product(range(-x.ndim, x.ndim), (1, 2, 0)):
                if n > x.shape[axis]:
                    continue  # a negative size: left open
                if ascending:  # so that no difference wraps around
                    x = np.sort(x, axis=axis)
                    n = min(n, 1)
                call.gives(_differences(x, axis, n), x, axis=axis, n=n, layouts=SHORT)
    x = distinct((2, 4), "int64")
    call.gives(_differences(x, -1, 1), x, clause="diff: by default the last axis, once")
    call.gives(_differences(x, 1, 4), x, n=4)
    around = "diff: prepend and append join along the axis first"
    before, after = distinct((2, 2), "int64"), distinct((2, 1), "int64")
    ends: tuple[tuple[dict[str, Any], list[Values]], ...] = (
        ({"prepend": before}, [before, x]),
        ({"append": after}, [x, after]),
        ({"prepend": before, "append": after}, [before, x, after]),
    )
    for keywords, joined in ends:
        whole = np.concatenate(joined, axis=1)
        for n in (1, 3):
            call.gives(_differences(whole, 1, n), x, n=n, clause=around, **keywords)
    above = distinct((1, 4), "int64")
    whole = np.concatenate([above, x], axis=0)
    call.gives(_differences(whole, 0, 1), x, axis=0, prepend=above, clause=around)
    x = np.asarray([1.0, INF, INF, NAN, -INF, 2.0, -0.0, 0.0])
    wanted = np.asarray([INF, NAN, NAN, NAN, INF, -2.0, 0.0])
    call.gives(wanted, x, clause="diff: special cases as by subtraction")
    for wrong in (2, -3):
        call.refused(Exception, distinct((2, 3), "int8"), axis=wrong, clause=AXIS)


def _differences(x: Values, axis: int, n: int) -> Values:
    moved = np.moveaxis(x, axis, 0)
    for _ in range(n):
        moved = moved[1:] - moved[:-1]
    return np.moveaxis(moved, 0, axis)


CHECKS = (
    Check("cumulative_sum", cumulative_sum),
    Check("cumulative_prod", cumulative_prod),
    Check("all", all_),
    Check("any", any_),
    Check("diff", diff),
)
