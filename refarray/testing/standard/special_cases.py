"""The standard's special cases, read from special_cases.json and made executable.

The file is data for anyone; its first entries explain its vocabulary. Here a condition
becomes a predicate that picks operands from a pool of numbers, and a result becomes a
predicate on what came back.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from refarray.testing.standard import compare, exact
from refarray.testing.standard.functions import FUNCTIONS

Values = np.ndarray[Any, Any]
Row = dict[str, Any]

APPROXIMATION_ULPS = 4  # for results such as pi/2, "an approximation to" it


@cache
def table() -> dict[str, Any]:
    """The whole file."""
    folder = resources.files("refarray.testing.standard")
    text = folder.joinpath("special_cases.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def rows(function: str, operands: str) -> list[Row]:
    """The cases with a condition and a result for one function and kind of operand."""
    return [
        row
        for row in table()["cases"]
        if row["function"] == function
        and row["operands"] == operands
        and "result" in row
        and row.get("binding", True)
    ]


def clause(row: Row) -> str:
    """Where the standard says so: category, function, operands, place in the list."""
    function = row["function"]
    category = "statistical functions"
    if function in FUNCTIONS:
        category = "elementwise functions"
    elif function.startswith("__"):
        category = "array object"
    elif function in ("all", "any"):
        category = "utility functions"
    place = f"{row['operands']} operands, case {row['case']}"
    return f"{category}, {function}, special cases, {place}"


def describe(row: Row) -> str:
    """The conditions of a case in one line."""
    return ", ".join(f"{name}: {text}" for name, text in row["when"].items())


@cache
def pool(dtype: str, *, subnormals: bool = True) -> Values:
    """Numbers of a real floating-point dtype that reach every condition."""
    info = np.finfo(dtype)
    rng = np.random.default_rng(20251200)
    small = float(info.smallest_normal)
    named = [0, 1, 0.5, 1.5, 2, 2.5, 3, 3.5, 4, 5, 7, 8, 1023, 2**20 + 1, 0.25, 0.75]
    named += [math.pi, 1 / 3, float(info.max), small, float(info.eps), 1 + 2**-20]
    named += [1 - 2**-20, 2.0**24, math.inf]
    if subnormals:
        named += [float(info.smallest_subnormal), small / 2, small * 0.75]
    positive = np.asarray(
        [
            *named,
            *np.exp2(rng.uniform(info.minexp, info.maxexp - 1, 40)),
            *rng.uniform(0, 1, 30),
            *rng.uniform(0, 20, 30),
            *rng.integers(1, 1000, 15),
            *(rng.integers(0, 1000, 10) + 0.5),
        ]
    ).astype(dtype)
    nan = np.asarray([math.nan, math.copysign(math.nan, -1)], dtype)
    return np.concatenate([positive, -positive, nan])


def _odd(x: Values) -> Values:
    with np.errstate(invalid="ignore"):
        return np.asarray(np.isfinite(x) & (np.fmod(np.abs(x), 2) == 1))


def _whole(x: Values) -> Values:
    return np.asarray(np.isfinite(x) & (np.floor(x) == x))


CONDITIONS: dict[str, Callable[[Values], Values]] = {
    "nan": np.isnan,
    "+nan": lambda x: np.isnan(x) & ~np.signbit(x),
    "-nan": lambda x: np.isnan(x) & np.signbit(x),
    "+inf": lambda x: x == math.inf,
    "-inf": lambda x: x == -math.inf,
    "inf": np.isinf,
    "+0": lambda x: (x == 0) & ~np.signbit(x),
    "-0": lambda x: (x == 0) & np.signbit(x),
    "0": lambda x: x == 0,
    "1": lambda x: x == 1,
    "-1": lambda x: x == -1,
    "not one": lambda x: x != 1,
    "not zero": lambda x: ~np.isnan(x) & (x != 0),
    "any": lambda x: np.ones_like(x, bool),
    "not nan": lambda x: ~np.isnan(x),
    "finite": np.isfinite,
    "finite or nan": lambda x: ~np.isinf(x),
    "nonzero finite": lambda x: np.isfinite(x) & (x != 0),
    "positive finite": lambda x: np.isfinite(x) & (x > 0),
    "negative finite": lambda x: np.isfinite(x) & (x < 0),
    "positive": lambda x: x > 0,
    "negative": lambda x: x < 0,
    "> 1": lambda x: x > 1,
    "< 1": lambda x: x < 1,
    "< -1": lambda x: x < -1,
    "abs > 1": lambda x: np.abs(x) > 1,
    "abs < 1": lambda x: np.abs(x) < 1,
    "abs = 1": lambda x: np.abs(x) == 1,
    "integer-valued": _whole,
    "not integer-valued": lambda x: np.isfinite(x) & ~_whole(x),
    "halfway": lambda x: _odd(2 * x),
    "positive odd": lambda x: (x > 0) & _odd(x),
    "positive not odd": lambda x: (x > 0) & ~_odd(x),
    "negative odd": lambda x: (x < 0) & _odd(x),
    "negative not odd": lambda x: (x < 0) & ~_odd(x),
}

PAIRS: dict[str, Callable[[Values, Values], Values]] = {
    "same sign": lambda x1, x2: np.signbit(x1) == np.signbit(x2),
    "different signs": lambda x1, x2: np.signbit(x1) != np.signbit(x2),
    "x1 = x2": lambda x1, x2: x1 == x2,
    "x1 != x2": lambda x1, x2: x1 != x2,
    "x2 = -x1": lambda x1, x2: x2 == -x1,
}


def draw(row: Row, numbers: Values, count: int) -> dict[str, Values]:
    """Operands that meet the conditions of a case, ``count`` of each."""
    rng = np.random.default_rng(row.get("case", 0))
    conditions = dict(row["when"])
    pair = conditions.pop("pair", None)
    operands = {
        name: rng.choice(numbers[CONDITIONS[condition](numbers)], count)
        for name, condition in conditions.items()
    }
    if pair == "x2 = -x1":
        operands["x2"] = -operands["x1"]
    elif pair == "x1 = x2":
        operands["x2"] = operands["x1"].copy()
    elif pair:
        keep = PAIRS[pair](operands["x1"], operands["x2"])
        operands = {name: values[keep] for name, values in operands.items()}
    if "max" in operands:  # clip is unspecified where min > max
        low, high = operands["min"], operands["max"]
        swap = low > high
        operands["min"] = np.where(swap, high, low)
        operands["max"] = np.where(swap, low, high)
    return operands


def agrees(row: Row, operands: dict[str, Values], *got: Values) -> Values:
    """Which elements of the result (or its real and imaginary parts) are allowed."""
    fine = np.zeros(got[0].shape, bool)
    for result in (row["result"], row.get("or")):
        if result is not None:
            texts = result if isinstance(result, list) else [result]
            masks = [_agrees(t, operands, g) for t, g in zip(texts, got, strict=True)]
            fine |= np.logical_and.reduce(masks)
    return fine


_NUMBER = re.compile(r"(-?)(\d*)(pi)?(?:/(\d+))?")
_CIS = re.compile(r"([+-])(inf|0) \* (cos|sin)\(b\)")


def _agrees(result: str, operands: dict[str, Values], got: Values) -> Values:
    if result in ("True", "False"):
        return np.asarray(got == (result == "True"))
    if result in _BY_SIGN:
        return _BY_SIGN[result](got)
    if result in CONDITIONS and result not in ("1", "-1"):
        return CONDITIONS[result](got)
    if result == "inf with the sign of x1 * x2":
        negative = np.signbit(operands["x1"]) != np.signbit(operands["x2"])
        return np.asarray(np.isinf(got) & (np.signbit(got) == negative))
    if match := _CIS.fullmatch(result):
        sign, size, wave = match.groups()
        turn = (np.cos if wave == "cos" else np.sin)(operands["b"].astype(float))
        wanted = np.copysign(float(sign + size), turn if sign == "+" else -turn)
        return _same(got, wanted)
    if result == "either pi/2":
        return _near(np.abs(got), math.pi / 2)
    if match := _NUMBER.fullmatch(result):
        sign, factor, pi, divisor = match.groups()
        value = int(factor or 1) * (math.pi if pi else 1) / int(divisor or 1)
        return _near(got, -value if sign else value) if pi else got == int(result)
    if result in _COMPUTED:
        return _COMPUTED[result](got, operands)
    expression = re.fullmatch(r"(-?)(abs\()?(\w+)\)?", result)
    assert expression, result
    minus, absolute, name = expression.groups()
    wanted = np.abs(operands[name]) if absolute else operands[name]
    return _same(got, -wanted if minus else wanted)


_BY_SIGN: dict[str, Callable[[Values], Values]] = {
    "positive": lambda got: ~np.isnan(got) & ~np.signbit(got),
    "negative": lambda got: ~np.isnan(got) & np.signbit(got),
    "positive or nan": lambda got: np.isnan(got) | ~np.signbit(got),
    "negative or nan": lambda got: np.isnan(got) | np.signbit(got),
}


def _same(got: Values, wanted: Values) -> Values:
    return ~compare.differing(wanted, signed_zeros=True)(got)


def _near(got: Values, value: float) -> Values:
    wanted = np.full(got.shape, value, got.dtype)
    return ~compare.farther(wanted, APPROXIMATION_ULPS)(got)


def _floor_quotient(got: Values, operands: dict[str, Values]) -> Values:
    """Floor of the exact quotient, or, as the standard prefers, of the rounded one.

    Quotients beyond the integers of the dtype may be off by rounding.
    """
    x1, x2 = operands["x1"], operands["x2"]
    floor = exact.floor_quotient(x1, x2)
    either = _same(got, floor) | _same(got, np.floor(exact.divide(x1, x2)))
    huge = np.abs(floor) >= 2.0 ** np.finfo(floor.dtype).nmant
    return either | (huge & ~compare.farther(floor, 1)(got))


def _no_underflow(got: Values, operands: dict[str, Values]) -> Values:
    """A hypotenuse is at least as long as either leg."""
    return got >= np.maximum(np.abs(operands["x1"]), np.abs(operands["x2"]))


def _python(got: Values, values: Values, function: Callable[[float], float]) -> Values:
    wanted = np.asarray([function(v) for v in values.tolist()], got.dtype)
    return np.asarray(got == wanted)


_COMPUTED: dict[str, Callable[[Values, dict[str, Values]], Values]] = {
    "round(x1 + x2)": lambda got, o: _same(got, exact.add(o["x1"], o["x2"])),
    "round(x1 * x2)": lambda got, o: _same(got, exact.multiply(o["x1"], o["x2"])),
    "round(x1 / x2)": lambda got, o: _same(got, exact.divide(o["x1"], o["x2"])),
    "Python x1 % x2": lambda got, o: _same(got, exact.remainder(o["x1"], o["x2"])),
    "floor(x1 / x2)": _floor_quotient,
    "nearest even integer": lambda got, o: _python(got, o["x"], round),
    "integer part of x": lambda got, o: _python(got, o["x"], int),
    "no needless underflow": _no_underflow,
}
