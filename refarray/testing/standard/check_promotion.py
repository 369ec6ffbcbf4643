"""Type promotion: every pair of dtypes with an entry in the standard's tables.

`result_type` and `can_cast` against the tables, and every function of two arrays on
mixed operands: the dtype of the result, and its values as if both operands had been
converted first. Zero-dimensional arrays promote as others do.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np

from refarray.testing.standard import arrays, scalars
from refarray.testing.standard.check_data_types import promoted
from refarray.testing.standard.check_elementwise_exact import result_dtype
from refarray.testing.standard.functions import FUNCTIONS, OPERATORS
from refarray.testing.standard.runner import Case, Check, Report

CLAUSE = "type promotion"
ULPS = 4

PAIRS = [
    (first, second, common)
    for first, second in product(arrays.DTYPES, repeat=2)
    if (common := promoted(first, second))
]


def check_result_type(xp: Any, report: Report) -> None:
    """Dtypes, arrays, both mixed, and Python numbers beside an array."""
    for first, second, common in PAIRS:
        a, b, wanted = (getattr(xp, name) for name in (first, second, common))
        x = xp.zeros((2,), dtype=a)
        y = xp.zeros((), dtype=b)
        for operands in ((a, b), (x, b), (a, y), (x, y), (x, a, y), (b, a, b)):
            text = f"{first} and {second}"
            with report.case("result_type", given=text, clause=CLAUSE) as case:
                came = xp.result_type(*operands)
                case.true(came == wanted, came, common)
    for dtype in arrays.DTYPES:
        for number in scalars.beside(dtype):
            wanted = getattr(xp, scalars.dtype_beside(dtype, number))
            text = f"array of {dtype} and {number!r}"
            with report.case("result_type", given=text, clause=CLAUSE) as case:
                x = xp.zeros((2,), dtype=getattr(xp, dtype))
                for came in (xp.result_type(x, number), xp.result_type(number, x)):
                    case.true(came == wanted, came, wanted)


def check_associative(xp: Any, report: Report) -> None:
    """Three dtypes give one result in whichever order they come."""
    families = (arrays.FLOATS, arrays.INTEGERS[:7])
    for family in families:
        for names in product(family, repeat=3):
            common = promoted(names[0], names[1])
            common = promoted(common, names[2]) if common else None
            if common is None:
                continue
            with report.case(
                "result_type", given=", ".join(names), clause=CLAUSE
            ) as case:
                came = xp.result_type(*(getattr(xp, name) for name in names))
                case.true(came == getattr(xp, common), came, common)


def check_can_cast(xp: Any, report: Report) -> None:
    """True where promotion leads to the second dtype, False where it leads beyond."""
    for first, second, common in PAIRS:
        a, b = getattr(xp, first), getattr(xp, second)
        wanted = common == second
        for source in (a, xp.zeros((2,), dtype=a)):
            text = f"from {first} to {second}"
            with report.case("can_cast", given=text, clause=CLAUSE) as case:
                came = xp.can_cast(source, b)
                case.true(type(came) is bool and came == wanted, came, wanted)


def _operand(dtype: str, start: int) -> np.ndarray[Any, Any]:
    if dtype == "bool":
        return np.asarray([True, False, start % 2 == 0])
    values = np.asarray([start + 1, 3 - start, start + 2])
    return values.astype(dtype)


def _mixed(function: str) -> list[tuple[str, str, str]]:
    allowed = FUNCTIONS[function].dtypes
    return [
        (first, second, common)
        for first, second, common in PAIRS
        if first != second and first in allowed and second in allowed
    ]


def _expect(
    case: Case, xp: Any, function: str, common: str, came: Any, *given: Any
) -> None:
    out = result_dtype(function, common)
    shape = np.broadcast_shapes(*(g.shape for g in given))
    if case.is_array(came, out, shape):
        converted = (arrays.make(xp, g.astype(common)) for g in given)
        wanted = arrays.read(getattr(xp, function)(*converted))
        case.near(came, wanted, ulps=ULPS, given=given)


def check_function(function: str, xp: Any, report: Report) -> None:
    """A function of two arrays of different dtypes."""
    call = getattr(xp, function)
    for first, second, common in _mixed(function):
        x1 = _operand(first, 1)
        for x2 in (_operand(second, 0), _operand(second, 0)[0]):
            x2 = np.asarray(x2)
            text = f"{first} with {second} of {x2.ndim} dimension(s)"
            with report.case(function, dtype=first, given=text, clause=CLAUSE) as case:
                came = call(arrays.make(xp, x1), arrays.make(xp, x2))
                _expect(case, xp, function, common, came, x1, x2)


def check_operator(method: str, xp: Any, report: Report) -> None:
    """An operator between arrays of different dtypes."""
    function, call, _ = OPERATORS[method]
    for first, second, common in _mixed(function):
        x1, x2 = _operand(first, 1), _operand(second, 0)
        text = f"{first} with {second}"
        with report.case(method, dtype=first, given=text, clause=CLAUSE) as case:
            came = call(arrays.make(xp, x1), arrays.make(xp, x2))
            _expect(case, xp, function, common, came, x1, x2)


def check_in_place(method: str, xp: Any, report: Report) -> None:
    """X op= y keeps the dtype of x; where that is the common dtype, the values too."""
    function, _, call = OPERATORS[method]
    assert call is not None
    title = method.replace("__", "__i", 1)
    for first, second, common in _mixed(function):
        x1, x2 = _operand(first, 1), _operand(second, 0)
        text = f"{first} with {second}"
        with report.case(title, dtype=first, given=text, clause=CLAUSE) as case:
            x = arrays.make(xp, x1)
            try:
                came = call(x, arrays.make(xp, x2))
            except Exception:
                if common == first:
                    raise
                continue  # an error is allowed where the dtype would change
            if common == first:
                _expect(case, xp, function, common, came, x1, x2)
            else:
                case.true(x.dtype == getattr(xp, first), x.dtype, first)


# nextafter asks for operands of one dtype; shift operators keep that of the left one.
_FUNCTIONS = [
    name
    for name, about in FUNCTIONS.items()
    if about.operands == 2 and name != "nextafter" and len(about.dtypes) > 1
]
_OPERATORS = [name for name in OPERATORS if "shift" not in OPERATORS[name].function]

CHECKS = (
    Check("result_type", check_result_type),
    Check("result_type", check_associative),
    Check("can_cast", check_can_cast),
    *(Check(name, partial(check_function, name)) for name in _FUNCTIONS),
    *(Check(name, partial(check_operator, name)) for name in _OPERATORS),
    *(
        Check(name.replace("__", "__i", 1), partial(check_in_place, name))
        for name, each in OPERATORS.items()
        if each.in_place
    ),
)
