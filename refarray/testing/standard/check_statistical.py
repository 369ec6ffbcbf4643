"""Reductions: sum, prod, mean, var, std, max, min.

Sums and products of small integers are exact in every dtype, so they are compared
exactly; means and variances come from Python fractions and are compared within a few
units in the last place. Accumulations and `all`, `any`, `diff` are in
`check_accumulating.py`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from refarray.testing.standard.arrays import COMPLEX, FLOATS, INTEGERS, NUMBERS, REALS
from refarray.testing.standard.calls import AXIS, Calls, default_dtype
from refarray.testing.standard.layouts import SHORT
from refarray.testing.standard.oracle_reduce import choices, reduced
from refarray.testing.standard.runner import Check, Report
from refarray.testing.standard.samples import SHAPES, Values, distinct, filled

INF, NAN = math.inf, math.nan


def sum_dtype(xp: Any, dtype: str) -> str:
    """The dtype of a sum, product or trace of arrays of `dtype`."""
    default = default_dtype(xp, "integral")
    if dtype not in INTEGERS or np.iinfo(dtype).bits >= np.iinfo(default).bits:
        return dtype
    return default if np.dtype(dtype).kind == "i" else f"u{default}"


def sum_(xp: Any, report: Report) -> None:
    """Every axis and dtype, the upcast of small integers, infinities and NaN."""
    call = Calls(xp, report, "sum", "sum: along the axes; 0 of no elements")
    _reduction(call, sum)
    _upcast(call, sum, 120)
    _dtype_argument(call, sum)
    special = "sum: special cases as by successive addition"
    for dtype in REALS:
        large = float(np.finfo(dtype).max)
        for values, wanted in (
            ([INF, 1.0], INF), ([-INF, 1.0, -INF], -INF), ([INF, 2.0, -INF], NAN),
            ([1.0, NAN, 2.0], NAN), ([NAN, INF], NAN), ([large, large], INF),
            ([-large, -large], -INF), ([-0.0, 0.0], 0.0), ([large, -large], 0.0),
        ):  # fmt: skip
            x = np.asarray(values, dtype)
            call.gives(np.asarray(wanted, dtype), x, clause=special, signed_zeros=False)
        tiny = float(np.finfo(dtype).smallest_subnormal)
        x = np.asarray([tiny] * 5, dtype)
        subnormal = "sum: subnormal numbers add up"
        call.gives(np.asarray(5 * tiny, dtype), x, clause=subnormal)
    for dtype in COMPLEX:
        x = np.asarray([complex(INF, 1), complex(-INF, 2)], dtype)
        call.gives(np.asarray(complex(NAN, 3), dtype), x, clause=special)
        x = np.asarray([complex(1, NAN), complex(2, 2)], dtype)
        call.gives(np.asarray(complex(3, NAN), dtype), x, clause=special)


def prod(xp: Any, report: Report) -> None:
    """Every axis and dtype, the upcast of small integers, infinities and NaN."""
    call = Calls(xp, report, "prod", "prod: along the axes; 1 of no elements")
    _reduction(call, math.prod)
    _upcast(call, math.prod, 3)
    _dtype_argument(call, math.prod)
    special = "prod: special cases as by successive multiplication"
    for dtype in REALS:
        large = float(np.finfo(dtype).max)
        for values, wanted in (
            ([INF, -2.0], -INF), ([INF, 0.0], NAN), ([NAN, 0.0], NAN), ([-0.0], -0.0),
            ([-0.0, 3.0, 2.0], -0.0), ([-0.0, -3.0], 0.0), ([large, 2.0], INF),
            ([large, 2.0, -1.0], -INF), ([1.0, NAN], NAN),
        ):  # fmt: skip
            call.gives(
                np.asarray(wanted, dtype), np.asarray(values, dtype), clause=special
            )


def small(shape: tuple[int, ...], dtype: str) -> Values:
    """Factors whose sums and products are exact in every dtype."""
    cycle = [2, 1, 3, 1, 1, 2] if np.dtype(dtype).kind == "u" else [2, -1, 3, 1, -2, 1]
    values = np.resize(np.asarray(cycle), shape).astype(dtype)
    return (
        values * (1 + 1j) if np.dtype(dtype).kind == "c" and values.size < 7 else values
    )


def _reduction(call: Calls, function: Callable[[list[Any]], Any]) -> None:
    for dtype in ("float32", "int64", "uint8"):
        result = sum_dtype(call.xp, dtype)
        for shape in SHAPES:
            x = small(shape, dtype)
            for axis in choices(x.ndim):
                for keepdims in (False, True):
                    call.gives(
                        reduced(x, function, result, axis, keepdims),
                        x,
                        axis=axis,
                        keepdims=keepdims,
                        layouts=SHORT,
                    )
    for dtype in NUMBERS:
        result = sum_dtype(call.xp, dtype)
        x = small((2, 3), dtype)
        call.gives(reduced(x, function, result), x)
        call.gives(reduced(x, function, result, 0), x, axis=0)
        call.gives(reduced(x, function, result, -1), x, axis=-1)
    x = distinct((2, 3), "float64")
    for wrong in (2, -3, (0, 2)):
        call.refused(Exception, x, axis=wrong, clause=AXIS)


def _upcast(call: Calls, function: Callable[[list[Any]], Any], value: int) -> None:
    name = call.function
    clause = f"{name}: small integers are summed up in the default integer dtype"
    for dtype in INTEGERS:
        x = np.full(9, value, dtype)
        call.gives(reduced(x, function, sum_dtype(call.xp, dtype)), x, clause=clause)
        if dtype.startswith("i"):
            x = np.full(9, -value, dtype)
            wanted = reduced(x, function, sum_dtype(call.xp, dtype))
            call.gives(wanted, x, clause=clause)


def _dtype_argument(call: Calls, function: Callable[[list[Any]], Any]) -> None:
    clause = f"{call.function}: dtype= casts before computing"
    for dtype, result in (
        ("int8", "int32"), ("int8", "int16"), ("uint8", "uint32"), ("int32", "int64"),
        ("float32", "float64"), ("complex64", "complex128"), ("int16", "float64"),
        ("int64", "float32"), ("float32", "complex64"), ("float64", "complex128"),
    ):  # fmt: skip
        x = small((2, 3), dtype)
        to = np.dtype(result)
        call.gives(reduced(x, function, result), x, dtype=to, clause=clause)
        wanted = reduced(x, function, result, 1, True)
        call.gives(wanted, x, axis=1, dtype=to, keepdims=True, clause=clause)
    if call.function == "sum":
        x = np.asarray([2.0**24, 1, 1, 1, -(2.0**24)], "float32")
        call.gives(np.asarray(3.0), x, dtype=np.dtype("float64"), clause=clause)


def mean(xp: Any, report: Report) -> None:
    """Every axis, against fractions; NaN and infinities."""
    call = Calls(xp, report, "mean", "mean: the arithmetic mean; NaN of no elements")
    for dtype in FLOATS:
        _averages(call, dtype, _mean)
    special = "mean: NaN propagates; infinities as by addition"
    for dtype in REALS:
        for values, wanted in (
            ([1.0, NAN], NAN), ([INF, 1.0], INF), ([-INF, 1.0], -INF),
            ([INF, -INF], NAN), ([NAN, INF], NAN),
        ):  # fmt: skip
            call.gives(
                np.asarray(wanted, dtype), np.asarray(values, dtype), clause=special
            )


def var(xp: Any, report: Report) -> None:
    """Every axis and several corrections, against fractions."""
    call = Calls(xp, report, "var", "var: mean squared distance from the mean")
    for dtype in REALS:
        _averages(call, dtype, _variance)
    _corrections(call, _variance)


def std(xp: Any, report: Report) -> None:
    """Every axis and several corrections, against fractions."""
    call = Calls(xp, report, "std", "std: the square root of the variance")
    for dtype in REALS:
        _averages(call, dtype, _deviation)
    _corrections(call, _deviation)


def _mean(values: list[Any]) -> Any:
    if not values:
        return complex(NAN, NAN)
    real = sum(Fraction(complex(v).real) for v in values) / len(values)
    imag = sum(Fraction(complex(v).imag) for v in values) / len(values)
    return complex(float(real), float(imag))


def _variance(values: list[Any], correction: float = 0) -> Any:
    divisor = len(values) - Fraction(correction)
    if divisor <= 0:
        return NAN
    exact = [Fraction(v) for v in values]
    center = sum(exact) / len(exact)
    return float(sum((v - center) ** 2 for v in exact) / divisor)


def _deviation(values: list[Any], correction: float = 0) -> Any:
    return math.sqrt(_variance(values, correction))


def _averages(call: Calls, dtype: str, function: Callable[[list[Any]], Any]) -> None:
    def wanted(x: Values, axis: Any = None, keepdims: bool = False) -> Values:
        exact = reduced(x, function, "complex128", axis, keepdims)
        return (exact if dtype in COMPLEX else exact.real).astype(dtype)

    tolerance = 16 * float(np.finfo(dtype).eps)
    for shape in SHAPES:
        x = distinct(shape, dtype) / np.asarray(3, dtype)
        bound = tolerance * (1 + float(np.max(np.abs(x), initial=0))) ** 2
        for axis in choices(x.ndim):
            for keepdims in (False, True):
                call.gives(
                    wanted(x, axis, keepdims),
                    x,
                    axis=axis,
                    keepdims=keepdims,
                    tolerance=bound,
                    layouts=SHORT,
                )
    x = (distinct((300,), dtype) / np.asarray(7, dtype)).astype(dtype)
    bound = 300 * tolerance * float(np.max(np.abs(x)))
    call.gives(wanted(x), x, tolerance=bound)
    for wrong in (2, -3, (0, 2)):
        call.refused(Exception, distinct((2, 3), dtype), axis=wrong, clause=AXIS)


def _corrections(call: Calls, function: Callable[[list[Any], float], Any]) -> None:
    name = call.function
    clause = f"{name}: divides by M - correction; NaN unless that is positive"
    propagates = f"{name}: NaN propagates"
    for dtype in REALS:
        x = (distinct((2, 5), dtype) / np.asarray(4, dtype)).astype(dtype)
        bound = 64 * float(np.finfo(dtype).eps) * float(np.max(np.abs(x))) ** 2
        for correction in (0, 1, 2, 0.5, 1.0, 4, 5, 6.5):
            for axis in (None, 0, -1):
                by = functools.partial(_corrected, function, correction)
                exact = reduced(x, by, dtype, axis)
                call.gives(
                    exact,
                    x,
                    axis=axis,
                    correction=correction,
                    tolerance=bound,
                    clause=clause,
                    layouts=SHORT,
                )
        with_nan = np.asarray([[1.0, NAN, 3.0], [1.0, 2.0, 3.0]], dtype)
        exact = np.asarray([NAN, function([1.0, 2.0, 3.0], 0)], dtype)
        call.gives(exact, with_nan, axis=1, tolerance=bound, clause=propagates)


def _corrected(function: Any, correction: float, values: list[Any]) -> Any:
    return function(values, correction)


def max_(xp: Any, report: Report) -> None:
    """Extreme integers, infinities, NaN, every axis."""
    call = Calls(xp, report, "max", "max: the largest value; NaN propagates")
    _extreme(call, max)


def min_(xp: Any, report: Report) -> None:
    """Extreme integers, infinities, NaN, every axis."""
    call = Calls(xp, report, "min", "min: the smallest value; NaN propagates")
    _extreme(call, min)


def _extreme(call: Calls, pick: Callable[[list[Any]], Any]) -> None:
    def function(values: list[Any]) -> Any:
        return NAN if any(v != v for v in values) else pick(values)

    for dtype in (*INTEGERS, *REALS):
        arrays = [
            filled((2, 3), dtype),
            filled((6,), dtype, 1),
            filled((4, 5), dtype, 2),
        ]
        arrays += [distinct((3, 5), dtype), filled((1,), dtype)]
        for x in arrays:
            for axis in choices(x.ndim):
                wanted = reduced(x, function, dtype, axis)
                call.gives(wanted, x, axis=axis, signed_zeros=False)
    for shape in (*SHAPES, (300,)):
        x = distinct(shape, "float64")
        for axis in choices(x.ndim):
            if x.size == 0 and 0 in np.add.reduce(x, axis=axis, keepdims=True).shape:
                pass  # nothing is reduced: an empty result is right
            elif x.size == 0:
                continue  # the standard leaves the extreme of no elements open
            for keepdims in (False, True):
                wanted = reduced(x, function, "float64", axis, keepdims)
                call.gives(wanted, x, axis=axis, keepdims=keepdims, layouts=SHORT)
    for position in (0, 1, 37, 64, 299):
        x = distinct((300,), "float32")
        x[position] = NAN
        call.gives(np.asarray(NAN, "float32"), x)
    for wrong in (2, -3, (0, 2)):
        call.refused(Exception, distinct((2, 3), "int8"), axis=wrong, clause=AXIS)


CHECKS = (
    Check("sum", sum_),
    Check("prod", prod),
    Check("mean", mean),
    Check("var", var),
    Check("std", std),
    Check("max", max_),
    Check("min", min_),
)
