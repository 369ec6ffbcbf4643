"""Elementwise functions on Python numbers: exact for integers, IEEE 754 for doubles.

Nothing here knows an array library. A function that has no defined result for some
operands (division by the integer zero, a result outside the integer dtype) raises or
returns a number beyond the `bounds`; such operands are left out.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

Values = np.ndarray[Any, Any]


def _parts(function: Callable[[float], float]) -> Callable[[Any], Any]:
    def apply(x: Any) -> Any:
        if isinstance(x, complex):
            return complex(function(x.real), function(x.imag))
        return function(x)

    return apply


def _any_part(test: Callable[[float], bool]) -> Callable[[Any], bool]:
    return lambda x: test(x.real) or test(x.imag)


def _toward(rule: Callable[[float], int]) -> Callable[[Any], Any]:
    """A rounding that keeps NaN, infinities and the sign of zero."""

    def apply(x: Any) -> Any:
        if isinstance(x, int) or not math.isfinite(x):
            return x
        return math.copysign(rule(x), x)

    return apply


def _sign(x: Any) -> Any:
    return x if math.isnan(x) else (x > 0) - (x < 0)


def _larger(a: Any, b: Any) -> Any:
    return a if a > b or math.isnan(a) else b


def _smaller(a: Any, b: Any) -> Any:
    return a if a < b or math.isnan(a) else b


def _conjugate(x: Any) -> Any:
    return complex(x.real, -x.imag) if isinstance(x, complex) else x


UNARY: dict[str, Callable[[Any], Any]] = {
    "abs": lambda x: math.hypot(x.real, x.imag) if isinstance(x, complex) else abs(x),
    "bitwise_invert": lambda x: not x if isinstance(x, bool) else ~x,
    "ceil": _toward(math.ceil),
    "conj": _conjugate,
    "floor": _toward(math.floor),
    "imag": lambda x: x.imag,
    "isfinite": lambda x: (
        not (
            math.isinf(x.real)
            or math.isinf(x.imag)
            or math.isnan(x.real)
            or math.isnan(x.imag)
        )
    ),
    "isinf": _any_part(math.isinf),
    "isnan": _any_part(math.isnan),
    "logical_not": operator.not_,
    "negative": _parts(operator.neg),
    "positive": lambda x: x,
    "real": lambda x: x.real,
    "round": _parts(_toward(round)),
    "sign": _sign,
    "signbit": lambda x: math.copysign(1, x) < 0,
    "square": lambda x: x * x,
    "trunc": _toward(math.trunc),
}

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "bitwise_and": operator.and_,
    "bitwise_left_shift": operator.lshift,
    "bitwise_or": operator.or_,
    "bitwise_right_shift": operator.rshift,
    "bitwise_xor": operator.xor,
    "copysign": math.copysign,
    "equal": operator.eq,
    "floor_divide": operator.floordiv,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "less": operator.lt,
    "less_equal": operator.le,
    "logical_and": lambda a, b: a and b,
    "logical_or": lambda a, b: a or b,
    "logical_xor": operator.ne,
    "maximum": _larger,
    "minimum": _smaller,
    "multiply": operator.mul,
    "not_equal": operator.ne,
    "pow": operator.pow,
    "remainder": operator.mod,
    "subtract": operator.sub,
}

# Results that depend on the width of the operands rather than on their value.
WRAPS = ("bitwise_invert", "bitwise_left_shift")


def evaluate(
    function: str, dtype: str, *operands: Values
) -> tuple[Values, tuple[Values, ...]]:
    """Results of a dtype, and the operands for which the standard defines them.

    Operands are one-dimensional. Integer results outside the dtype and divisions by
    the integer zero are left out; left shifts drop the bits beyond the width.
    """
    call: Callable[..., Any] = UNARY.get(function) or BINARY[function]
    kept, results = [], []
    low, high = bounds(dtype)
    for index, each in enumerate(zip(*(o.tolist() for o in operands), strict=True)):
        if _undefined(function, each):
            continue
        result = call(*each)
        if function in WRAPS and dtype != "bool":
            result = wrapped(result, dtype)
        if low is None or low <= result <= high:
            kept.append(index)
            results.append(result)
    with np.errstate(over="ignore"):
        wanted = np.asarray(results, dtype)
    return wanted, tuple(operand[kept] for operand in operands)


def _undefined(function: str, operands: tuple[Any, ...]) -> bool:
    last = operands[-1]
    if function in ("floor_divide", "remainder"):
        return bool(last == 0)
    if function == "bitwise_left_shift":
        return not 0 <= last < 64
    if function == "bitwise_right_shift":
        return bool(last < 0)
    if function == "pow":
        return not 0 <= last <= 64
    return False


def bounds(dtype: str) -> tuple[Any, Any]:
    """The least and the greatest integer of an integer dtype; None for others."""
    if np.dtype(dtype).kind not in "iu":
        return None, None
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def wrapped(value: int, dtype: str) -> int:
    """The integer of this dtype with the same low bits."""
    info = np.iinfo(dtype)
    return (value - int(info.min)) % (1 << info.bits) + int(info.min)
