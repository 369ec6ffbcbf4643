"""Elementwise functions whose results are exact, on every dtype, to the last bit.

The oracle is Python's own arithmetic. Integers include the extremes of each dtype,
floating-point numbers NaN, infinities, both zeros, subnormals and the largest.
"""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Any

import numpy as np

from refarray.testing.standard import arrays, oracle_python, special_cases
from refarray.testing.standard.functions import FUNCTIONS, clause
from refarray.testing.standard.runner import Check, Report

Values = np.ndarray[Any, Any]

# Not for these dtypes here: rounding makes them inexact (check_elementwise_accuracy),
# or the special cases govern them entirely (check_special_cases).
INEXACT = {
    "abs": arrays.COMPLEX,
    "add": arrays.FLOATS,
    "subtract": arrays.COMPLEX + arrays.REALS,
    "multiply": arrays.FLOATS,
    "pow": arrays.FLOATS,
    "square": arrays.FLOATS,
    "floor_divide": arrays.REALS,
    "remainder": arrays.REALS,
    "sign": arrays.COMPLEX,
}

# The sign of a zero is left open: sign(-0), and maximum or minimum of +0 and -0.
FREE_ZEROS = ("sign", "maximum", "minimum")


@cache
def samples(dtype: str) -> Values:
    """Numbers of a dtype with its extremes; one-dimensional."""
    if dtype == "bool":
        return np.asarray([False, True])
    rng = np.random.default_rng(11)
    if dtype in arrays.INTEGERS:
        info = np.iinfo(dtype)
        low, high = int(info.min), int(info.max)
        named = [0, 1, 2, 3, 5, 7, 8, 10, 31, 63, 100, high, high - 1, high // 2]
        named += [low, low + 1, low // 2, -1, -2, -3, -5, -7, -8, -10, -100]
        named += [2**k for k in range(info.bits) if 2**k <= high]
        named += [1 - 2**k for k in range(info.bits) if 1 - 2**k >= low]
        small = [int(v) for v in rng.integers(max(low, -20), 21, 20)]
        large = [int(v) for v in rng.integers(low, high, 20, dtype, endpoint=True)]
        fitting = [v for v in named + small + large if low <= v <= high]
        return np.asarray(fitting, dtype)
    if dtype in arrays.REALS:
        return special_cases.pool(dtype)
    real = samples("float32" if dtype == "complex64" else "float64")
    order = rng.permutation(real.size)
    values = np.empty(real.size, dtype)
    values.real, values.imag = real, real[order]
    return values


def result_dtype(function: str, dtype: str) -> str:
    """The dtype of the result of a function for operands of one dtype."""
    result = FUNCTIONS[function].result
    if result == "bool":
        return "bool"
    return arrays.REAL_OF.get(dtype, dtype) if result == "real" else dtype


def _dtypes(function: str) -> list[str]:
    left_out = INEXACT.get(function, ())
    return [d for d in FUNCTIONS[function].dtypes if d not in left_out]


def check_unary(function: str, xp: Any, report: Report) -> None:
    """A function of one operand."""
    for dtype in _dtypes(function):
        out = result_dtype(function, dtype)
        wanted, (x,) = oracle_python.evaluate(function, out, samples(dtype))
        with report.case(function, dtype=dtype, clause=clause(function)) as case:
            came = getattr(xp, function)(arrays.make(xp, x))
            signed = function not in FREE_ZEROS
            case.equal(came, wanted, signed_zeros=signed, given=(x,))


def check_binary(function: str, xp: Any, report: Report) -> None:
    """A function of two operands, each with many others."""
    rng = np.random.default_rng(2)
    for dtype in _dtypes(function):
        out = result_dtype(function, dtype)
        numbers = samples(dtype)
        x1 = np.concatenate([numbers] * 5)
        others = [rng.permutation(numbers) for _ in range(4)]
        x2 = np.concatenate([numbers, *others])
        if "shift" in function:
            width = np.iinfo(dtype).bits
            far = width if function == "bitwise_left_shift" else 2 * width
            x2 = rng.integers(0, min(far, 100), x1.size).astype(dtype)
        elif function == "pow":
            x1 = np.concatenate([x1, x1])
            x2 = np.concatenate([x2, rng.integers(0, 8, x2.size).astype(dtype)])
        wanted, (x1, x2) = oracle_python.evaluate(function, out, x1, x2)
        with report.case(function, dtype=dtype, clause=clause(function)) as case:
            came = getattr(xp, function)(arrays.make(xp, x1), arrays.make(xp, x2))
            signed = function not in FREE_ZEROS
            case.equal(came, wanted, signed_zeros=signed, given=(x1, x2))


def check_nextafter(xp: Any, report: Report) -> None:
    """The neighbour toward another number, found by counting bit patterns."""
    for dtype, integer in (("float32", np.int32), ("float64", np.int64)):
        if arrays.flushes_subnormals(xp, dtype):
            continue
        numbers = special_cases.pool(dtype)
        numbers = numbers[~np.isnan(numbers)]
        x1 = np.concatenate([numbers] * 3)
        rng = np.random.default_rng(4)
        x2 = np.concatenate([rng.permutation(numbers), -numbers, numbers])
        away = (np.abs(x2) > np.abs(x1)) & (np.signbit(x1) == np.signbit(x2))
        bits = np.where(away, 1, -1).astype(integer) + x1.view(integer)
        wanted = bits.view(dtype)
        tiny = np.copysign(np.finfo(dtype).smallest_subnormal, x2).astype(dtype)
        wanted = np.where(x1 == 0, tiny, wanted)
        wanted = np.where(x1 == x2, x2, wanted)
        with report.case("nextafter", dtype=dtype, clause=clause("nextafter")) as case:
            came = xp.nextafter(arrays.make(xp, x1), arrays.make(xp, x2))
            case.equal(came, wanted, given=(x1, x2))


def check_clip(xp: Any, report: Report) -> None:
    """Bounds as numbers, as arrays that broadcast, one of them, or none."""
    for dtype in FUNCTIONS["clip"].dtypes:
        x = samples(dtype)
        low, high = (1, 5) if dtype in arrays.UNSIGNED else (-2, 5)
        convert = float if dtype in arrays.REALS else int
        bounds: list[tuple[Any, Any]] = [
            (None, None),
            (low, None),
            (None, high),
            (low, high),
            (high, high),
            (None, 0),
        ]
        if dtype in arrays.REALS:
            bounds += [(-math.inf, 2.5), (0.5, math.inf)]
        else:
            info = np.iinfo(dtype)
            bounds += [(int(info.min), int(info.max)), (int(info.max), None)]
        for pair in bounds:
            minimum, maximum = (None if b is None else convert(b) for b in pair)
            wanted = np.asarray([_clipped(v, *pair) for v in x.tolist()], dtype)
            given = f"samples of {dtype}, min={minimum}, max={maximum}"
            for form in ("number", "0-d array", "array"):
                with report.case(
                    "clip",
                    dtype=dtype,
                    given=f"{given}, as {form}",
                    clause=clause("clip"),
                ) as case:
                    args = [_bound(xp, b, x, form) for b in (minimum, maximum)]
                    came = xp.clip(arrays.make(xp, x), *args)
                    case.equal(came, wanted, signed_zeros=False, given=(x,))
                    named = dict(zip(("min", "max"), args, strict=True))
                    came = xp.clip(arrays.make(xp, x), **named)
                    case.equal(came, wanted, signed_zeros=False, given=(x,))


def _bound(xp: Any, bound: Any, x: Values, form: str) -> Any:
    if bound is None or form == "number":
        return bound
    values = np.asarray(bound, x.dtype)
    return arrays.make(xp, values if form == "0-d array" else np.full_like(x, values))


def _clipped(value: Any, low: Any, high: Any) -> Any:
    if low is not None and value < low:
        return low
    if high is not None and value > high:
        return high
    return value


CHECKS = (
    *(Check(name, partial(check_unary, name)) for name in oracle_python.UNARY),
    *(Check(name, partial(check_binary, name)) for name in oracle_python.BINARY),
    Check("nextafter", check_nextafter),
    Check("clip", check_clip),
)
