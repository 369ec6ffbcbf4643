"""Operators of the array: with arrays and Python numbers, reflected and in place.

The standard makes an operator equal to a function, whose values other files check
against oracles; here the operator must equal the function on the same operands, and a
Python number must act as an array full of it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from refarray.testing.standard import arrays, oracle_python, scalars
from refarray.testing.standard.check_elementwise_accuracy import complex_numbers
from refarray.testing.standard.check_elementwise_exact import result_dtype, samples
from refarray.testing.standard.functions import FUNCTIONS, OPERATORS, UNARY_OPERATORS
from refarray.testing.standard.runner import Case, Check, Report

Values = np.ndarray[Any, Any]

# Where a library may take another path than the function does, rounding may differ.
APPROXIMATE = ("atan2", "hypot", "logaddexp", "pow")
ULPS = 4
COMPLEX_ULPS = 256
SYMBOLS = {
    "__add__": "+", "__and__": "&", "__eq__": "==", "__floordiv__": "//",
    "__ge__": ">=", "__gt__": ">", "__le__": "<=", "__lshift__": "<<",
    "__lt__": "<", "__mod__": "%", "__mul__": "*", "__ne__": "!=", "__or__": "|",
    "__pow__": "**", "__rshift__": ">>", "__sub__": "-", "__truediv__": "/",
    "__xor__": "^",
}  # fmt: skip
COMPARISONS = ("__eq__", "__ge__", "__gt__", "__le__", "__lt__", "__ne__")


def operands(function: str, dtype: str) -> tuple[Values, Values]:
    """Two operands for which the standard defines the result of a function."""
    numbers = samples(dtype)
    x1 = np.concatenate([numbers] * 3)
    rng = np.random.default_rng(9)
    x2 = np.concatenate([rng.permutation(numbers) for _ in range(3)])
    if dtype in arrays.COMPLEX:
        if function in ("multiply", "divide", "pow"):
            x1, x2 = complex_numbers(dtype), complex_numbers(dtype)[::-1].copy()
            keep = (np.abs(x1) > 0.01) & (np.abs(x2) > 0.01) & (np.abs(x2) < 8)
            return x1[keep], x2[keep]
        return x1, x2
    return defined(function, dtype, x1, x2)


def defined(function: str, dtype: str, x1: Values, x2: Values) -> tuple[Values, Values]:
    """Leave out integer operands whose result the standard leaves open."""
    if dtype not in arrays.INTEGERS or function == "divide":
        return x1, x2
    if "shift" in function:
        width = np.iinfo(dtype).bits
        keep = (x2 >= 0) & (x2 < width)
        x1, x2 = x1[keep], x2[keep]
    out = result_dtype(function, dtype)
    _, kept = oracle_python.evaluate(function, out, x1, x2)
    return kept[0], kept[1]


def tame(function: str, x: Values) -> Values:
    """Leave out what the standard leaves open for complex operands.

    Products, quotients and powers of complex numbers with infinities, NaN or zeros
    may come out in several ways, and those of large numbers may overflow midway.
    """
    if function not in ("multiply", "divide", "pow"):
        return x
    with np.errstate(over="ignore"):
        size = np.abs(x)
    return x[(size > 0.01) & (size < 100)]


def reference(xp: Any, function: str, x1: Values, x2: Values) -> Values:
    """What the function gives; from NumPy where the result is exactly defined."""
    kind = np.result_type(x1, x2).kind
    open_for = {"f": ("floor_divide", "remainder", "pow"), "c": ("multiply", "divide")}
    if function == "pow" or function in open_for.get(kind, ()):
        call = getattr(xp, function)
        return arrays.read(call(arrays.make(xp, x1), arrays.make(xp, x2)))
    return np.asarray(getattr(np, function)(x1, x2))


def compare(
    case: Case, function: str, came: Any, wanted: Values, given: tuple[Values, ...]
) -> None:
    """The operator's result is that of the function."""
    if wanted.dtype.kind == "c" and function not in ("add", "subtract"):
        case.near(came, wanted, ulps=COMPLEX_ULPS, given=given)
    elif function in APPROXIMATE and wanted.dtype.kind == "f":
        case.near(came, wanted, ulps=ULPS, given=given)
    else:
        # Of two zeros, either is the greater.
        zeros = function not in ("maximum", "minimum")
        case.equal(came, wanted, signed_zeros=zeros, given=given)


def check_unary(method: str, xp: Any, report: Report) -> None:
    """An operator of one operand."""
    function, call, _ = UNARY_OPERATORS[method]
    for dtype in FUNCTIONS[function].dtypes:
        out = result_dtype(function, dtype)
        x = samples(dtype)
        if dtype in (*arrays.INTEGERS, "bool"):
            _, (x,) = oracle_python.evaluate(function, out, x)
        with report.case(method, dtype=dtype, clause=f"array object, {method}") as case:
            wanted = arrays.read(getattr(xp, function)(arrays.make(xp, x)))
            case.equal(call(arrays.make(xp, x)), wanted, given=(x,))


def check_arrays(method: str, xp: Any, report: Report) -> None:
    """Array beside array, equal to the function."""
    function, call, _ = OPERATORS[method]
    for dtype in FUNCTIONS[function].dtypes:
        x1, x2 = operands(function, dtype)
        with report.case(method, dtype=dtype, clause=f"array object, {method}") as case:
            a, b = arrays.make(xp, x1), arrays.make(xp, x2)
            wanted = reference(xp, function, x1, x2)
            compare(case, function, call(a, b), wanted, (x1, x2))


def check_numbers(method: str, left: bool, xp: Any, report: Report) -> None:
    """A Python number on the right, or (reflected) on the left."""
    function, call, _ = OPERATORS[method]
    title = method.replace("__", "__r", 1) if left else method
    if method in COMPARISONS:
        title = method
    for dtype, number, x, full in _with_numbers(function, left):
        symbol = SYMBOLS[method]
        text = f"{number!r} {symbol} x" if left else f"x {symbol} {number!r}"
        with report.case(
            title, dtype=dtype, given=text, clause="mixing arrays with Python scalars"
        ) as case:
            a = arrays.make(xp, x)
            given = (full, x) if left else (x, full)
            came = call(number, a) if left else call(a, number)
            compare(case, function, came, reference(xp, function, *given), given)


def _with_numbers(function: str, left: bool) -> list[tuple[str, Any, Values, Values]]:
    """dtype, number, operand, and the operand full of the number beside it."""
    found = []
    for dtype in FUNCTIONS[function].dtypes:
        numbers = scalars.beside(dtype)
        complex_too = "complex64" in FUNCTIONS[function].dtypes
        if dtype in arrays.REALS and complex_too:
            numbers.append(1 + 2j)
        for number in numbers:
            x = samples(dtype)
            together = scalars.dtype_beside(dtype, number)
            if together in arrays.COMPLEX:
                x = tame(function, x)
                if function in ("divide", "pow") and (number == 0 or number == 2**70):
                    continue
            full = np.full(x.shape, number, together)
            if dtype in arrays.INTEGERS:
                pair = (full, x) if left else (x, full)
                pair = defined(function, dtype, *pair)
                full, x = pair if left else pair[::-1]
            if x.size:
                found.append((dtype, number, x, full))
    return found


def check_in_place(method: str, xp: Any, report: Report) -> None:
    """In place as out of place; dtype and shape stay; y may be smaller or a number."""
    function, _, call = OPERATORS[method]
    assert call is not None
    title = method.replace("__", "__i", 1)
    for dtype in FUNCTIONS[function].dtypes:
        x1, x2 = operands(function, dtype)
        clause = "array object, in-place operators"
        with report.case(title, dtype=dtype, clause=clause) as case:
            a, b = arrays.make(xp, x1), arrays.make(xp, x2)
            wanted = reference(xp, function, x1, x2)
            compare(case, function, call(a, b), wanted, (x1, x2))
            case.equal(b, x2)
        with report.case(
            title, dtype=dtype, given="y broadcasts to x", clause=clause
        ) as case:
            ones = np.ones(2, dtype)
            rows = np.stack([x1, x1], -1)[:7]
            both = (rows, np.broadcast_to(ones, rows.shape))
            flat = defined(function, dtype, *(f.reshape(-1) for f in both))
            if flat[0].size == rows.size:
                a, b = arrays.make(xp, rows), arrays.make(xp, ones)
                wanted = reference(xp, function, *both)
                compare(case, function, call(a, b), wanted, both)
    for dtype, number, x, full in _with_numbers(function, False):
        if scalars.dtype_beside(dtype, number) != dtype:
            continue
        text = f"x {SYMBOLS[method]}= {number!r}"
        with report.case(
            title, dtype=dtype, given=text, clause="mixing arrays with Python scalars"
        ) as case:
            wanted = reference(xp, function, x, full)
            compare(case, function, call(arrays.make(xp, x), number), wanted, (x, full))


def check_reflected_method(method: str, xp: Any, report: Report) -> None:
    """y.__rsub__(x) is x - y for arrays as well."""
    function, _, _ = OPERATORS[method]
    reflected = method.replace("__", "__r", 1)
    for dtype in FUNCTIONS[function].dtypes:
        x1, x2 = operands(function, dtype)
        with report.case(
            reflected, dtype=dtype, clause="array object, reflected operators"
        ) as case:
            a, b = arrays.make(xp, x1), arrays.make(xp, x2)
            wanted = reference(xp, function, x1, x2)
            compare(case, function, getattr(b, reflected)(a), wanted, (x1, x2))


_IN_PLACE = [name for name, op in OPERATORS.items() if op.in_place]

CHECKS = (
    *(Check(name, partial(check_unary, name)) for name in UNARY_OPERATORS),
    *(Check(name, partial(check_arrays, name)) for name in OPERATORS),
    *(Check(name, partial(check_numbers, name, False)) for name in OPERATORS),
    *(Check(name, partial(check_numbers, name, True)) for name in COMPARISONS),
    *(
        Check(name.replace("__", "__r", 1), partial(check_numbers, name, True))
        for name in _IN_PLACE
    ),
    *(
        Check(name.replace("__", "__r", 1), partial(check_reflected_method, name))
        for name in _IN_PLACE
    ),
    *(
        Check(name.replace("__", "__i", 1), partial(check_in_place, name))
        for name in _IN_PLACE
    ),
)
