"""Special cases of the conversions to Python numbers and of the statistical functions.

They stand in special_cases.json with those of the elementwise functions.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from refarray.testing.standard import arrays, special_cases
from refarray.testing.standard.runner import Case, Check, Report
from refarray.testing.standard.special_cases import Row, Values

CONVERSIONS: dict[str, Any] = {
    "__bool__": bool,
    "__int__": int,
    "__float__": float,
    "__complex__": complex,
}


def check_conversion(method: str, xp: Any, report: Report) -> None:
    """Zero-dimensional arrays turned into Python numbers."""
    for row in special_cases.rows(method, "bool"):
        truth = row["when"]["x"] == "True"
        with report.case(
            method, dtype="bool", given=truth, clause=special_cases.clause(row)
        ) as case:
            came = CONVERSIONS[method](xp.asarray(truth))
            case.true(came == int(truth), came, _text(row))
    for row in special_cases.rows(method, "real"):
        for dtype in arrays.REALS:
            drawn = special_cases.draw(row, special_cases.pool(dtype), 12)
            for number in drawn["x"]:
                with report.case(
                    method, dtype=dtype, given=number, clause=special_cases.clause(row)
                ) as case:
                    _convert(case, row, method, xp, number)


def _convert(case: Case, row: Row, method: str, xp: Any, number: Any) -> None:
    convert = CONVERSIONS[method]
    x = arrays.make(xp, number)
    if "OverflowError" in row["result"]:
        case.raises(OverflowError, convert, x)
        return
    if "ValueError" in row["result"]:
        case.raises(ValueError, convert, x)
        return
    came = convert(x)
    if not case.true(type(came) is convert, type(came), convert):
        return
    if method == "__int__":
        case.true(came == int(number), came, int(number))
        return
    parts = [came.real, came.imag] if method == "__complex__" else [came]
    values = [np.asarray([part]) for part in parts]
    operands = {"x": np.asarray([float(number)])}
    fine = special_cases.agrees(row, operands, *values)
    case.true(fine.all(), came, _text(row))


def check_complex_truth(xp: Any, report: Report) -> None:
    """A complex number is true if its real or its imaginary part is."""
    parts = (0.0, -0.0, 2.0, math.inf, math.nan)
    for dtype in arrays.COMPLEX:
        for a in parts:
            for b in parts:
                given = np.asarray(complex(a, b), dtype)
                clause = "__bool__, complex operands"
                with report.case(
                    "__bool__", dtype=dtype, given=given, clause=clause
                ) as case:
                    came = bool(arrays.make(xp, given))
                    wanted = bool(a) or bool(b)
                    case.true(came == wanted, came, wanted)


def check_reduction(function: str, xp: Any, report: Report) -> None:
    """Reductions over no elements, over NaN, and over infinities."""
    call = getattr(xp, function)
    for operands in ("real", "complex", "floating"):
        for row in special_cases.rows(function, operands):
            for dtype in _dtypes(operands):
                for number, x in enumerate(_samples(row, dtype)):
                    text = special_cases.clause(row)
                    with report.case(
                        function, dtype=dtype, given=x, clause=text
                    ) as case:
                        extra = {}
                        if row["when"]["elements"] == "none left by correction":
                            extra["correction"] = x.size + number
                        came = arrays.read(call(arrays.make(xp, x), **extra))
                        got = came.reshape(1)
                        parts: tuple[Values, ...] = (got,)
                        if isinstance(row["result"], list):
                            parts = (got.real, got.imag)
                        fine = special_cases.agrees(row, {}, *parts)
                        case.true(fine.all(), came, _text(row))


def _dtypes(operands: str) -> tuple[str, ...]:
    named = {"real": arrays.REALS, "complex": arrays.COMPLEX}
    return named.get(operands, arrays.FLOATS)


def _samples(row: Row, dtype: str) -> list[Values]:
    elements = row["when"]["elements"]
    if elements == "none":
        return [np.zeros(0, dtype)]
    if elements == "none left by correction":
        return [np.asarray([1.5], dtype), np.asarray([1, 2, 4], dtype)]
    if elements in ("+inf", "-inf", "nan"):
        return [np.asarray([float(elements)], dtype)]
    assert elements == "some nan"
    samples = []
    for size in (1, 2, 3, 7, 8, 9, 16, 33, 100):  # ends and middles of vector loops
        for place in {0, size // 2, size - 1}:
            x = np.arange(size, dtype=dtype) - 3
            x[place] = math.nan
            samples.append(x)
    return samples


def _text(row: Row) -> str:
    result = row["result"]
    text = f"complex({', '.join(result)})" if isinstance(result, list) else result
    return str(text)


def _all() -> tuple[Check, ...]:
    cases = [r for r in special_cases.table()["cases"] if "result" in r]
    methods = dict.fromkeys(r["function"] for r in cases if r["function"][0] == "_")
    reductions = dict.fromkeys(
        r["function"]
        for r in cases
        if "elements" in r["when"] and "." not in r["function"]
    )
    return (
        *(Check(name, partial(check_conversion, name)) for name in methods),
        Check("__bool__", check_complex_truth),
        *(Check(name, partial(check_reduction, name)) for name in reductions),
    )


CHECKS = _all()
