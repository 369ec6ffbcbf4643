"""The mathematical functions, evaluated with mpmath and rounded to a dtype.

Signed zeros need care: mpmath has none, but on a branch cut and at the origin the
standard tells +0 from -0. A zero component is therefore replaced by a number of the
same sign, far below the smallest subnormal, and the result rounds to the right value
and the right zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from refarray.testing.standard.arrays import COMPLEX, REAL_OF
from refarray.testing.standard.multiprecision import context

Values = np.ndarray[Any, Any]
Function = Callable[..., Any]

_CONTEXT = context()
_BITS = 200  # enough for every function at every finite double
_BITS_BESIDE_ZERO = 2400  # to tell 1 from 1 + _BESIDE_ZERO
_BESIDE_ZERO = _CONTEXT.ldexp(1, -2200)


def _logaddexp(a: Any, b: Any) -> Any:
    high, low = max(a, b), min(a, b)
    return high + _CONTEXT.log1p(_CONTEXT.exp(low - high))


def _logarithm(base: int) -> Function:
    return lambda x: _CONTEXT.log(x) / _CONTEXT.log(base)


FUNCTIONS: dict[str, Function] = {
    "acos": _CONTEXT.acos,
    "acosh": _CONTEXT.acosh,
    "asin": _CONTEXT.asin,
    "asinh": _CONTEXT.asinh,
    "atan": _CONTEXT.atan,
    "atanh": _CONTEXT.atanh,
    "cos": _CONTEXT.cos,
    "cosh": _CONTEXT.cosh,
    "exp": _CONTEXT.exp,
    "expm1": _CONTEXT.expm1,
    "log": _CONTEXT.log,
    "log1p": _CONTEXT.log1p,
    "log2": _logarithm(2),
    "log10": _logarithm(10),
    "sin": _CONTEXT.sin,
    "sinh": _CONTEXT.sinh,
    "sqrt": _CONTEXT.sqrt,
    "tan": _CONTEXT.tan,
    "tanh": _CONTEXT.tanh,
    "reciprocal": lambda x: 1 / x,
    "square": lambda x: x * x,
    "abs": abs,
    "sign": lambda x: x / abs(x),
    "atan2": _CONTEXT.atan2,
    "hypot": _CONTEXT.hypot,
    "logaddexp": _logaddexp,
    "pow": _CONTEXT.power,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
}


def evaluate(function: str, *operands: Values) -> Values:
    """The exact results for finite operands of one shape, rounded to their dtype.

    A result outside the real numbers (the logarithm of -1) is NaN for real operands.
    """
    content = tuple(operand.tobytes() for operand in operands)
    first = operands[0]
    return _evaluate(function, content, first.dtype.name).reshape(first.shape)


@cache
def _evaluate(function: str, content: tuple[bytes, ...], dtype: str) -> Values:
    operands = [np.frombuffer(memory, dtype) for memory in content]
    convert = _complex if dtype in COMPLEX else _real
    elements = zip(*(operand.tolist() for operand in operands), strict=True)
    results = np.asarray([convert(function, *each) for each in elements])
    if function == "abs" and dtype in COMPLEX:
        results = np.real(results)
        dtype = REAL_OF[dtype]
    with np.errstate(over="ignore", under="ignore"):
        return results.astype(dtype)


def _real(function: str, *operands: float) -> float:
    _CONTEXT.prec = _BITS
    try:
        result = FUNCTIONS[function](*(_CONTEXT.mpf(x) for x in operands))
    except ZeroDivisionError:
        return math.nan
    if isinstance(result, _CONTEXT.mpc) and result.imag != 0:
        return math.nan
    return _rounded(result.real)


def _complex(function: str, *operands: complex) -> complex:
    parts = [part for x in operands for part in (x.real, x.imag)]
    _CONTEXT.prec = _BITS_BESIDE_ZERO if 0 in parts else _BITS
    numbers = [_CONTEXT.mpc(_part(x.real), _part(x.imag)) for x in operands]
    result = FUNCTIONS[function](*numbers)
    return complex(_rounded(result.real), _rounded(result.imag))


def _part(value: float) -> Any:
    if value == 0:
        return _CONTEXT.mpf(_BESIDE_ZERO) * int(math.copysign(1, value))
    return _CONTEXT.mpf(value)


def _rounded(value: Any) -> float:
    if abs(value) >= _CONTEXT.ldexp(1, 1024):
        return math.inf if value > 0 else -math.inf
    return float(value)
