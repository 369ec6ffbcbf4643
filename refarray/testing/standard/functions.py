"""The elementwise functions: operands, dtypes they take, dtype they return.

Each dtype listed is one that the standard asks for; a library may accept more.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

from refarray.testing.standard.arrays import (
    COMPLEX,
    DTYPES,
    FLOATS,
    INTEGERS,
    NUMBERS,
    REALS,
)

REAL_VALUED = (*INTEGERS, *REALS)
BITS = ("bool", *INTEGERS)


class Function(NamedTuple):
    """How many arrays a function takes, of which dtypes, and what it returns.

    ``result`` is "same" (the common dtype of the operands), "bool", or "real" (the
    real dtype of the same precision).
    """

    operands: int
    dtypes: tuple[str, ...]
    result: str = "same"


FUNCTIONS: dict[str, Function] = {
    "abs": Function(1, NUMBERS, "real"),
    "acos": Function(1, FLOATS),
    "acosh": Function(1, FLOATS),
    "add": Function(2, NUMBERS),
    "asin": Function(1, FLOATS),
    "asinh": Function(1, FLOATS),
    "atan": Function(1, FLOATS),
    "atan2": Function(2, REALS),
    "atanh": Function(1, FLOATS),
    "bitwise_and": Function(2, BITS),
    "bitwise_left_shift": Function(2, INTEGERS),
    "bitwise_invert": Function(1, BITS),
    "bitwise_or": Function(2, BITS),
    "bitwise_right_shift": Function(2, INTEGERS),
    "bitwise_xor": Function(2, BITS),
    "ceil": Function(1, REAL_VALUED),
    "clip": Function(1, REAL_VALUED),
    "conj": Function(1, NUMBERS),
    "copysign": Function(2, REALS),
    "cos": Function(1, FLOATS),
    "cosh": Function(1, FLOATS),
    "divide": Function(2, FLOATS),
    "equal": Function(2, DTYPES, "bool"),
    "exp": Function(1, FLOATS),
    "expm1": Function(1, FLOATS),
    "floor": Function(1, REAL_VALUED),
    "floor_divide": Function(2, REAL_VALUED),
    "greater": Function(2, REAL_VALUED, "bool"),
    "greater_equal": Function(2, REAL_VALUED, "bool"),
    "hypot": Function(2, REALS),
    "imag": Function(1, COMPLEX, "real"),
    "isfinite": Function(1, NUMBERS, "bool"),
    "isinf": Function(1, NUMBERS, "bool"),
    "isnan": Function(1, NUMBERS, "bool"),
    "less": Function(2, REAL_VALUED, "bool"),
    "less_equal": Function(2, REAL_VALUED, "bool"),
    "log": Function(1, FLOATS),
    "log1p": Function(1, FLOATS),
    "log2": Function(1, FLOATS),
    "log10": Function(1, FLOATS),
    "logaddexp": Function(2, REALS),
    "logical_and": Function(2, ("bool",), "bool"),
    "logical_not": Function(1, ("bool",), "bool"),
    "logical_or": Function(2, ("bool",), "bool"),
    "logical_xor": Function(2, ("bool",), "bool"),
    "maximum": Function(2, REAL_VALUED),
    "minimum": Function(2, REAL_VALUED),
    "multiply": Function(2, NUMBERS),
    "negative": Function(1, NUMBERS),
    "nextafter": Function(2, REALS),
    "not_equal": Function(2, DTYPES, "bool"),
    "positive": Function(1, NUMBERS),
    "pow": Function(2, NUMBERS),
    "real": Function(1, FLOATS, "real"),
    "reciprocal": Function(1, FLOATS),
    "remainder": Function(2, REAL_VALUED),
    "round": Function(1, NUMBERS),
    "sign": Function(1, NUMBERS),
    "signbit": Function(1, REALS, "bool"),
    "sin": Function(1, FLOATS),
    "sinh": Function(1, FLOATS),
    "square": Function(1, NUMBERS),
    "sqrt": Function(1, FLOATS),
    "subtract": Function(2, NUMBERS),
    "tan": Function(1, FLOATS),
    "tanh": Function(1, FLOATS),
    "trunc": Function(1, REAL_VALUED),
}


def clause(function: str) -> str:
    """Where the standard defines a function."""
    return f"elementwise functions, {function}"


class Operator(NamedTuple):
    """A Python operator, the function it equals, and its in-place form if any."""

    function: str
    call: Callable[..., Any]
    in_place: Callable[..., Any] | None = None


UNARY_OPERATORS = {
    "__abs__": Operator("abs", operator.abs),
    "__invert__": Operator("bitwise_invert", operator.invert),
    "__neg__": Operator("negative", operator.neg),
    "__pos__": Operator("positive", operator.pos),
}

OPERATORS = {
    "__add__": Operator("add", operator.add, operator.iadd),
    "__and__": Operator("bitwise_and", operator.and_, operator.iand),
    "__eq__": Operator("equal", operator.eq),
    "__floordiv__": Operator("floor_divide", operator.floordiv, operator.ifloordiv),
    "__ge__": Operator("greater_equal", operator.ge),
    "__gt__": Operator("greater", operator.gt),
    "__le__": Operator("less_equal", operator.le),
    "__lshift__": Operator("bitwise_left_shift", operator.lshift, operator.ilshift),
    "__lt__": Operator("less", operator.lt),
    "__mod__": Operator("remainder", operator.mod, operator.imod),
    "__mul__": Operator("multiply", operator.mul, operator.imul),
    "__ne__": Operator("not_equal", operator.ne),
    "__or__": Operator("bitwise_or", operator.or_, operator.ior),
    "__pow__": Operator("pow", operator.pow, operator.ipow),
    "__rshift__": Operator("bitwise_right_shift", operator.rshift, operator.irshift),
    "__sub__": Operator("subtract", operator.sub, operator.isub),
    "__truediv__": Operator("divide", operator.truediv, operator.itruediv),
    "__xor__": Operator("bitwise_xor", operator.xor, operator.ixor),
}
