"""Errors of operators and elementwise functions, mandated or left to the library.

Where the standard demands an error, nothing else will do. Where it leaves the outcome
open (a number out of bounds, a float beside integers), the check admits every outcome
that it allows: an error, or a result of one of the dtypes it names.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from refarray.testing.standard import arrays
from refarray.testing.standard.functions import FUNCTIONS, OPERATORS, clause
from refarray.testing.standard.runner import Check, Report

SCALARS = "mixing arrays with Python scalars"

CONVERSIONS: dict[str, tuple[Callable[[Any], Any], tuple[str, ...]]] = {
    "__float__": (float, arrays.COMPLEX),
    "__int__": (int, arrays.COMPLEX),
    "__index__": (operator.index, arrays.FLOATS),
}


def check_conversion(method: str, xp: Any, report: Report) -> None:
    """Complex numbers have no float or int; floating-point numbers are no index."""
    convert, dtypes = CONVERSIONS[method]
    for dtype in dtypes:
        for number in (0, 1, 2):
            x = np.asarray(number, dtype)
            with report.case(
                method,
                dtype=dtype,
                given=x,
                clause=f"array object, {method}: TypeError",
            ) as case:
                case.raises(TypeError, convert, arrays.make(xp, x))


def check_values(xp: Any, report: Report) -> None:
    """What may be converted has the value of the element."""
    for dtype in arrays.DTYPES:
        for number in (0, 1, 0 if dtype == "bool" else 100):
            x = np.asarray(number, dtype)
            targets: list[Any] = [bool, complex]
            if dtype not in arrays.COMPLEX:
                targets += [int, float]
            if dtype in arrays.INTEGERS:
                targets.append(operator.index)
            for convert in targets:
                method = f"__{convert.__name__}__"
                with report.case(
                    method, dtype=dtype, given=x, clause=f"array object, {method}"
                ) as case:
                    came = convert(arrays.make(xp, x))
                    wanted = convert(x.item())
                    case.true(
                        type(came) is type(wanted) and came == wanted, came, wanted
                    )


def check_shapes(function: str, xp: Any, report: Report) -> None:
    """Shapes that do not broadcast raise an error, whichever it is."""
    dtype = FUNCTIONS[function].dtypes[-1]
    for first, second in (((3,), (4,)), ((2, 3), (2,)), ((0,), (2,)), ((2, 1), (3, 2))):
        text = f"shapes {first} and {second}"
        with report.case(
            function, dtype=dtype, given=text, clause="broadcasting: must raise"
        ) as case:
            x1, x2 = (arrays.make(xp, np.ones(s, dtype)) for s in (first, second))
            case.raises(Exception, getattr(xp, function), x1, x2)


def check_in_place_shape(method: str, xp: Any, report: Report) -> None:
    """An in-place operator never changes shape or dtype of its left operand."""
    function, _, call = OPERATORS[method]
    assert call is not None
    title = method.replace("__", "__i", 1)
    dtype = FUNCTIONS[function].dtypes[-1]
    for first, second in (((1,), (4,)), ((), (2,)), ((2, 1), (2, 3)), ((3,), (2, 3))):
        text = f"shapes {first} and {second}"
        with report.case(
            title, dtype=dtype, given=text, clause="in-place operators keep the shape"
        ) as case:
            x1, x2 = (arrays.make(xp, np.ones(s, dtype)) for s in (first, second))
            try:
                call(x1, x2)
            except Exception:
                continue
            case.is_array(x1, dtype, first)


def check_out_of_bounds(method: str, xp: Any, report: Report) -> None:
    """A Python int beyond an integer dtype: an error, or a result of that dtype."""
    function, call, _ = OPERATORS[method]
    if "shift" in function or function in ("pow", "divide"):
        return
    for dtype in arrays.INTEGERS:
        info = np.iinfo(dtype)
        for number in (int(info.max) + 1, int(info.min) - 1):
            out = "bool" if FUNCTIONS[function].result == "bool" else dtype
            _open(method, call, dtype, number, (out,), xp, report)


def check_mixed_kinds(method: str, xp: Any, report: Report) -> None:
    """A float or complex beside integers: an error, or a floating-point result."""
    function, call, _ = OPERATORS[method]
    if FUNCTIONS[function].result == "bool" or "bitwise" in function:
        return
    complex_too = "complex64" in FUNCTIONS[function].dtypes
    for dtype in arrays.INTEGERS:
        _open(method, call, dtype, 1.5, arrays.REALS, xp, report)
        if complex_too:
            _open(method, call, dtype, 1.5 + 1j, arrays.COMPLEX, xp, report)
        if function == "divide":
            _open(method, call, dtype, 2, arrays.REALS, xp, report)


def _open(
    method: str,
    call: Callable[[Any, Any], Any],
    dtype: str,
    number: Any,
    outcomes: tuple[str, ...],
    xp: Any,
    report: Report,
) -> None:
    x = np.asarray([1, 2], dtype)
    for left in (False, True):
        text = f"x and {number!r} on the {'left' if left else 'right'}"
        with report.case(method, dtype=dtype, given=text, clause=SCALARS) as case:
            a = arrays.make(xp, x)
            try:
                came = call(number, a) if left else call(a, number)
            except Exception:
                continue
            allowed = [getattr(xp, name) for name in outcomes]
            wanted = f"an error, or dtype {' or '.join(outcomes)}"
            case.true(came.dtype in allowed, f"dtype {came.dtype}", wanted)


def check_integer_division(xp: Any, report: Report) -> None:
    """Divide of integers: an error, or a real floating-point array."""
    for dtype in arrays.INTEGERS:
        x = np.asarray([1, 2, 6], dtype)
        with report.case(
            "divide", dtype=dtype, given=x, clause=clause("divide")
        ) as case:
            try:
                came = xp.divide(arrays.make(xp, x), arrays.make(xp, x[::-1].copy()))
            except Exception:
                continue
            reals = [getattr(xp, name) for name in arrays.REALS]
            case.true(came.dtype in reals, came.dtype, "an error or a real dtype")


_BINARY = [name for name, about in FUNCTIONS.items() if about.operands == 2]

CHECKS = (
    *(Check(name, partial(check_conversion, name)) for name in CONVERSIONS),
    Check("conversion to Python numbers", check_values),
    *(Check(name, partial(check_shapes, name)) for name in _BINARY),
    *(
        Check(name.replace("__", "__i", 1), partial(check_in_place_shape, name))
        for name, each in OPERATORS.items()
        if each.in_place
    ),
    *(Check(name, partial(check_out_of_bounds, name)) for name in OPERATORS),
    *(Check(name, partial(check_mixed_kinds, name)) for name in OPERATORS),
    Check("divide", check_integer_division),
)
