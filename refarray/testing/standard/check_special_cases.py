"""The special cases of the elementwise functions, as arrays with many draws.

The cases stand in special_cases.json; `special_cases.py` makes them executable. Here
they are extended as the standard extends them: to other quadrants by symmetry, to other
functions by "as if implemented as", to complex numbers by component; and they are
tried through the operators as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from refarray.testing.standard import arrays, compare, functions, special_cases
from refarray.testing.standard.runner import Case, Check, Report
from refarray.testing.standard.special_cases import Row, Values

DRAWS = 60
NUMBERS = 6  # second operands tried as a single number

Parts = tuple[Values, Values]
Turn = Callable[[Values, Values], Parts]

OPERATORS = {
    each.function: (method, each.call)
    for method, each in {**functions.OPERATORS, **functions.UNARY_OPERATORS}.items()
}


class View(NamedTuple):
    """A way to read the cases of one function off another.

    ``operand`` turns the operand of the case into that of the function called, and
    ``result`` turns what came back into a result of the case.
    """

    operand: Turn
    result: Turn


def _same(p: Values, q: Values) -> Parts:
    return p, q


def _conjugate(p: Values, q: Values) -> Parts:
    return p, -q


def _negative(p: Values, q: Values) -> Parts:
    return -p, -q


def _times_j(p: Values, q: Values) -> Parts:
    return -q, p


def _over_j(p: Values, q: Values) -> Parts:
    return q, -p


def _times(factor: float) -> Turn:
    return lambda p, q: (p * p.dtype.type(factor), q * q.dtype.type(factor))


SYMMETRIES = {
    "f(conj(x)) = conj(f(x))": View(_conjugate, _conjugate),
    "f(-x) = -f(x)": View(_negative, _negative),
    "f(-x) = f(x)": View(_negative, _same),
}

# f(x) = -1j * g(x * 1j): the case z of g is the operand x = z / 1j of f, and g(z) is
# f(x) * 1j.
AS_IF = {
    "-1j * asinh(x * 1j)": ("asinh", View(_over_j, _times_j)),
    "-1j * atanh(x * 1j)": ("atanh", View(_over_j, _times_j)),
    "-1j * sinh(x * 1j)": ("sinh", View(_over_j, _times_j)),
    "-1j * tanh(x * 1j)": ("tanh", View(_over_j, _times_j)),
    "cosh(x * 1j)": ("cosh", View(_over_j, _same)),
    "log(x) / log(2)": ("log", View(_same, _times(math.log(2)))),
    "log(x) / log(10)": ("log", View(_same, _times(math.log(10)))),
}


def views(function: str) -> list[View]:
    """The quadrants that the symmetries of a function reach, the first included."""
    found = [View(_same, _same)]
    for row in special_cases.table()["cases"]:
        if row["function"] == function and row.get("symmetry") in SYMMETRIES:
            if row["operands"] in ("complex", "floating"):
                symmetry = SYMMETRIES[row["symmetry"]]
                found += [_after(view, symmetry) for view in found]
    return found


def _after(inner: View, outer: View) -> View:
    return View(
        lambda p, q: outer.operand(*inner.operand(p, q)),
        lambda p, q: inner.result(*outer.result(p, q)),
    )


def joined(p: Values, q: Values) -> Values:
    """The complex numbers with these parts, signs of zero and NaN kept."""
    values = np.empty(p.shape, np.result_type(p.dtype, np.complex64))
    values.real, values.imag = p, q
    return values


def numbers(xp: Any, dtype: str) -> Values:
    """The pool of the real part of a dtype, without what the library flushes."""
    real = arrays.REAL_OF.get(dtype, dtype)
    return special_cases.pool(real, subnormals=not arrays.flushes_subnormals(xp, real))


def judge(
    case: Case,
    row: Row,
    drawn: dict[str, Values],
    given: list[Values],
    came: Values,
    *parts: Values,
) -> None:
    """Record the first draw on which a result is not an allowed one.

    ``parts`` are what the case speaks of, where that is not ``came`` itself: real and
    imaginary part, turned into the quadrant of the case.
    """
    fine = special_cases.agrees(row, drawn, *(parts or (came,)))
    case.report.values += fine.size
    if fine.all():
        return
    at = int(np.argmin(fine))
    operands = (compare.show(np.broadcast_to(g, fine.shape)[at]) for g in given)
    case.given = f"{', '.join(operands)}   ({special_cases.describe(row)})"
    if (~fine).sum() > 1:
        case.given += f"; {int((~fine).sum())} of {fine.size} draws deviate"
    wanted = (_shown(row[key]) for key in ("result", "or") if key in row)
    case.deviates(compare.show(came[at]), " or ".join(wanted))


def _case(
    report: Report, function: str, dtype: str, row: Row, text: str
) -> AbstractContextManager[Case]:
    given = special_cases.describe(row)
    return report.case(function, dtype=dtype, given=given, clause=text)


def _shown(parts: list[str] | str) -> str:
    if isinstance(parts, str):
        return parts
    return f"complex({', '.join(parts)})"


def _callables(xp: Any, function: str) -> list[tuple[str, Callable[..., Any]]]:
    found = [(function, getattr(xp, function))]
    if function in OPERATORS:
        found.append(OPERATORS[function])
    return found


def check_real(function: str, xp: Any, report: Report) -> None:
    """Cases of real operands, one or two (or three, for clip)."""
    for operands in ("real", "real-valued"):
        for row in special_cases.rows(function, operands):
            for dtype in arrays.REALS:
                drawn = special_cases.draw(row, numbers(xp, dtype), DRAWS)
                _real(xp, report, function, row, dtype, drawn, list(drawn.values()))
                if set(row["when"]) == {"x1", "x2"}:
                    _with_one_number(xp, report, function, row, dtype)


def _with_one_number(
    xp: Any, report: Report, function: str, row: Row, dtype: str
) -> None:
    """The second operand as a 0-d array and, for operators, as a Python number.

    Libraries have fast paths for such operands, which may forget the special cases.
    """
    pool = numbers(xp, dtype)
    x1, x2 = (
        pool[special_cases.CONDITIONS[row["when"][name]](pool)] for name in ("x1", "x2")
    )
    for second in x2[:NUMBERS]:
        drawn = {"x1": x1, "x2": np.full_like(x1, second)}
        _real(xp, report, function, row, dtype, drawn, [x1, np.asarray(second)])
        if function in OPERATORS:
            name, call = OPERATORS[function]
            text = special_cases.clause(row)
            with _case(report, name, dtype, row, text) as case:
                came = call(arrays.make(xp, x1), second.item())
                judge(case, row, drawn, list(drawn.values()), arrays.read(came))


def _real(
    xp: Any,
    report: Report,
    function: str,
    row: Row,
    dtype: str,
    drawn: dict[str, Values],
    given: list[Values],
) -> None:
    for name, call in _callables(xp, function):
        with _case(report, name, dtype, row, special_cases.clause(row)) as case:
            came = call(*(arrays.make(xp, values) for values in given))
            wanted = "bool" if row["result"] in ("True", "False") else dtype
            if case.is_array(came, wanted, given[0].shape):
                judge(case, row, drawn, given, arrays.read(came))


def check_complex(function: str, xp: Any, report: Report) -> None:
    """Cases of one complex operand, in every quadrant that a symmetry reaches."""
    _complex(xp, report, function, function, views(function))


def check_as_if(function: str, xp: Any, report: Report) -> None:
    """Complex cases that the standard refers to another function."""
    for row in special_cases.table()["cases"]:
        if row["function"] == function and row.get("as if") in AS_IF:
            source, turn = AS_IF[row["as if"]]
            found = [_after(view, turn) for view in views(source)]
            _complex(xp, report, function, source, found)


def _complex(
    xp: Any, report: Report, function: str, source: str, turns: list[View]
) -> None:
    for row in special_cases.rows(source, "complex"):
        direct = special_cases.clause(row)
        if source != function:
            direct = f"{functions.clause(function)}, as if: {direct}"
        for dtype in arrays.COMPLEX:
            drawn = special_cases.draw(row, numbers(xp, dtype), DRAWS)
            drawn = _within_a_turn(row, drawn)
            before = len(report.deviations)
            for number, view in enumerate(turns):
                if len(report.deviations) > before:
                    break  # what deviates in one quadrant need not be said for four
                text = direct if number == 0 else f"{direct}, by symmetry"
                given = joined(*view.operand(drawn["a"], drawn["b"]))
                for name, call in _callables(xp, function):
                    with _case(report, name, dtype, row, text) as case:
                        came = call(arrays.make(xp, given))
                        got = arrays.read(came)
                        parts: tuple[Values, ...] = ()
                        if isinstance(row["result"], list):
                            parts = view.result(got.real, got.imag)
                        judge(case, row, drawn, [given], got, *parts)


def _within_a_turn(row: Row, drawn: dict[str, Values]) -> dict[str, Values]:
    """Keep angles small where the result depends on the sign of cos(b) or sin(b)."""
    if "* sin(b)" in str(row["result"]):
        keep = np.abs(drawn["b"]) < 100
        return {name: values[keep] for name, values in drawn.items()}
    return drawn


def check_pairs(function: str, xp: Any, report: Report) -> None:
    """Cases of two complex operands."""
    for row in special_cases.rows(function, "complex"):
        for dtype in arrays.COMPLEX:
            drawn = special_cases.draw(row, numbers(xp, dtype), DRAWS)
            x1 = joined(drawn["a"], drawn["b"])
            x2 = joined(drawn["c"], drawn["d"])
            text = special_cases.clause(row)
            for name, call in _callables(xp, function):
                with _case(report, name, dtype, row, text) as case:
                    got = arrays.read(call(arrays.make(xp, x1), arrays.make(xp, x2)))
                    parts: tuple[Values, ...] = ()
                    if isinstance(row["result"], list):
                        parts = (got.real, got.imag)
                    judge(case, row, drawn, [x1, x2], got, *parts)


def check_components(function: str, xp: Any, report: Report) -> None:
    """Complex numbers whose parts each follow the cases of real numbers."""
    source = {"subtract": "add"}.get(function, function)
    for row in special_cases.rows(source, "real"):
        text = f"{special_cases.clause(row)}, by component"
        if source != function:
            text = f"{functions.clause(function)}, as if: {text}"
        for dtype in arrays.COMPLEX:
            drawn = special_cases.draw(row, numbers(xp, dtype), DRAWS)
            operands = list(drawn.values())
            if function == "subtract":
                operands[1] = -operands[1]
            given = [joined(values, values[::-1]) for values in operands]
            back = {name: values[::-1] for name, values in drawn.items()}
            for name, call in _callables(xp, function):
                with _case(report, name, dtype, row, text) as case:
                    got = arrays.read(call(*(arrays.make(xp, g) for g in given)))
                    judge(case, row, drawn, given, got, got.real)
                    judge(case, row, back, given, got, got.imag)


def check_subtract(xp: Any, report: Report) -> None:
    """x1 - x2 is x1 + (-x2)."""
    for row in special_cases.rows("add", "real"):
        for dtype in arrays.REALS:
            drawn = special_cases.draw(row, numbers(xp, dtype), DRAWS)
            given = [drawn["x1"], -drawn["x2"]]
            _real(xp, report, "subtract", row, dtype, drawn, given)


def check_square(xp: Any, report: Report) -> None:
    """square(x) is x * x."""
    for row in special_cases.rows("multiply", "real"):
        for dtype in arrays.REALS:
            x = numbers(xp, dtype)
            x = x[_meets(row, x, x)]
            _real(xp, report, "square", row, dtype, {"x1": x, "x2": x}, [x])


def check_reciprocal(xp: Any, report: Report) -> None:
    """reciprocal(x) is 1 / x."""
    for row in special_cases.rows("divide", "real"):
        for dtype in arrays.REALS:
            x = numbers(xp, dtype)
            one = np.ones_like(x)
            keep = _meets(row, one, x)
            drawn = {"x1": one[keep], "x2": x[keep]}
            _real(xp, report, "reciprocal", row, dtype, drawn, [x[keep]])


def _meets(row: Row, x1: Values, x2: Values) -> Values:
    when = row["when"]
    first = special_cases.CONDITIONS[when["x1"]](x1)
    keep = first & special_cases.CONDITIONS[when["x2"]](x2)
    if "pair" in when:
        keep &= special_cases.PAIRS[when["pair"]](x1, x2)
    return keep


def check_hypot_symmetry(xp: Any, report: Report) -> None:
    """The order and the signs of the legs do not matter, to the last bit."""
    for dtype in arrays.REALS:
        x1 = numbers(xp, dtype)
        x2 = np.random.default_rng(1).permutation(x1)
        with report.case("hypot", dtype=dtype, clause="hypot, symmetries") as case:
            a, b = arrays.make(xp, x1), arrays.make(xp, x2)
            wanted = arrays.read(xp.hypot(a, b))
            for other in ((b, a), (a, -b), (-a, b), (-a, -b)):
                case.equal(xp.hypot(*other), wanted, given=(x1, x2))


def _all() -> tuple[Check, ...]:
    found: list[Check] = []
    named = [r for r in special_cases.table()["cases"] if hasattr(np, r["function"])]
    kinds = dict.fromkeys((r["function"], r["operands"]) for r in named)
    reductions = {r["function"] for r in named if "elements" in r.get("when", {})}
    for function, operands in kinds:
        if function in reductions or function.startswith("cumulative"):
            continue
        rows = special_cases.rows(function, operands)
        by: Callable[[str, Any, Report], None] = check_as_if
        if operands in ("real", "real-valued"):
            by = check_real
        elif rows:
            by = check_pairs if "c" in rows[0]["when"] else check_complex
        elif function in ("add", "subtract", "round"):
            by = check_components
        found.append(Check(function, partial(by, function)))
    return (
        *dict.fromkeys(found),
        Check("subtract", check_subtract),
        Check("square", check_square),
        Check("reciprocal", check_reciprocal),
        Check("hypot", check_hypot_symmetry),
    )


CHECKS = _all()
