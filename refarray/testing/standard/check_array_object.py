"""The array object: attributes, transposes, conversion to Python scalars, namespace.

Operators are checked elsewhere; indexing has its own files.
"""

from __future__ import annotations

import cmath
import math
import operator
from typing import Any

import numpy as np

from refarray.testing.standard import arrays, layouts
from refarray.testing.standard.arrays import COMPLEX, DTYPES, INTEGERS, REALS
from refarray.testing.standard.runner import Case, Check, Report
from refarray.testing.standard.samples import everywhere, extremes, filled

NAN, INF = math.nan, math.inf


def attributes(xp: Any, report: Report) -> None:
    """`dtype`, `ndim`, `shape`, `size`, `device` of every shape, dtype and layout."""
    clause = "dtype, ndim, shape and size describe the array; shape is a tuple of int"
    for x in everywhere(DTYPES, (2, 3)):
        for layout in layouts.LAYOUTS:
            made = layouts.make(xp, x, layout)
            if made is None:
                continue
            given = f"array of shape {x.shape}, {layout}"
            with report.case(
                "attributes", dtype=x.dtype.name, given=given, clause=clause
            ) as case:
                case.is_array(made, x.dtype.name, x.shape)
                shape = made.shape
                case.true(isinstance(shape, tuple), type(shape).__name__, "tuple")
                sizes = all(isinstance(n, int) for n in shape)
                case.true(sizes, repr(shape), "a tuple of int")
                case.true(made.ndim == x.ndim, made.ndim, x.ndim)
                case.true(made.size == x.size, made.size, x.size)
                same = made.device == arrays.make(xp, x).device
                case.true(bool(same), made.device, "the device of a fresh array")


def transposes(xp: Any, report: Report) -> None:
    """`T` of matrices and `mT` of stacks; both refuse other shapes."""
    for x in everywhere(DTYPES, (2, 3)):
        for layout in layouts.LAYOUTS:
            made = layouts.make(xp, x, layout)
            if made is None:
                continue
            given = f"array of shape {x.shape}, {layout}"
            named = {"dtype": x.dtype.name, "given": given}
            if x.ndim == 2:
                with report.case("T", clause="T exchanges two axes", **named) as case:
                    case.equal(made.T, _swapped(x))
            if x.ndim >= 2:
                clause = "mT exchanges the last two axes"
                with report.case("mT", clause=clause, **named) as case:
                    case.equal(made.mT, _swapped(x))
    for shape in ((), (3,), (2, 1, 3)):
        x_ = arrays.make(xp, filled(shape, "float32"))
        given = f"array of shape {shape}"
        with report.case("T", given=given, clause="T should raise unless 2-d") as case:
            case.raises(Exception, getattr, x_, "T")
        clause = "mT should raise for fewer than two axes"
        if len(shape) < 2:
            with report.case("mT", given=given, clause=clause) as case:
                case.raises(Exception, getattr, x_, "mT")


def _swapped(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    out = np.empty((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)
    for at in np.ndindex(*out.shape):
        out[at] = x[(*at[:-2], at[-1], at[-2])]
    return out


def _zero_d(xp: Any, value: Any, dtype: str) -> Any:
    return arrays.make(xp, np.asarray(value, dtype))


def _converts(
    case: Case, convert: Any, x: Any, wanted: Any, kinds: type | tuple[type, ...]
) -> None:
    got = convert(x)
    case.true(isinstance(got, kinds), type(got).__name__, type(wanted).__name__)
    case.true(_identical(got, wanted), got, wanted)


def _identical(one: Any, two: Any) -> bool:
    if isinstance(two, complex):
        return _identical(one.real, two.real) and _identical(one.imag, two.imag)
    if isinstance(two, float):
        if math.isnan(two):
            return math.isnan(one)
        return bool(one == two and math.copysign(1, one) == math.copysign(1, two))
    return bool(one == two)


def conversions(xp: Any, report: Report) -> None:
    """`bool`, `int`, `float`, `complex` and `operator.index` of 0-d arrays."""
    for dtype in DTYPES:
        for value in extremes(dtype):
            exact = np.asarray(value, dtype).item()
            x = _zero_d(xp, value, dtype)
            named = {"dtype": dtype, "given": repr(exact)}
            clause = "bool(): zero is False, all else True, NaN too"
            with report.case("__bool__", clause=clause, **named) as case:
                _converts(case, bool, x, bool(exact != 0), bool)
            clause = "complex(): the value, + 0j for real ones"
            with report.case("__complex__", clause=clause, **named) as case:
                if exact == exact or dtype in COMPLEX:
                    _converts(case, complex, x, complex(exact), complex)
                else:  # the standard asks for NaN + NaN j, Python makes NaN + 0 j
                    case.true(cmath.isnan(complex(x)), complex(x), "NaN")
            if dtype in COMPLEX:
                continue
            clause = "float(): the value as a Python float"
            with report.case("__float__", clause=clause, **named) as case:
                _converts(case, float, x, float(exact), float)
            if exact == exact and abs(exact) != INF:
                clause = "int(): the integer part as a Python int"
                with report.case("__int__", clause=clause, **named) as case:
                    _converts(case, int, x, int(exact), int)
            if dtype in INTEGERS:
                clause = "operator.index(): the value as a Python int"
                with report.case("__index__", clause=clause, **named) as case:
                    _converts(case, operator.index, x, exact, int)
    for dtype in REALS:
        for value in (2.75, -2.75, 1e15 + 0.5 if dtype == "float64" else 8388607.5):
            clause = "int(): truncates toward zero"
            with report.case(
                "__int__", dtype=dtype, given=repr(value), clause=clause
            ) as case:
                _converts(case, int, _zero_d(xp, value, dtype), int(value), int)
    for layout in layouts.LAYOUTS:
        x = layouts.make(xp, filled((3,), "float32"), layout)
        if x is not None:
            clause = "float(): the value as a Python float"
            given = f"x[0] of a {layout} array"
            with report.case("__float__", given=given, clause=clause) as case:
                _converts(case, float, x[0], 1.5, float)


def refused_conversions(xp: Any, report: Report) -> None:
    """The conversions for which the standard names an error."""
    cases: list[tuple[str, Any, Any, str, type[Exception], str]] = []
    for dtype in COMPLEX:
        cases += [
            (
                "__float__",
                float,
                1 + 2j,
                dtype,
                TypeError,
                "float() of a complex array",
            ),
            ("__int__", int, 1 + 2j, dtype, TypeError, "int() of a complex array"),
            ("__index__", operator.index, 1j, dtype, TypeError, "index() of complex"),
        ]
    for dtype in REALS:
        cases += [
            ("__index__", operator.index, 1.0, dtype, TypeError, "index() of a float"),
            ("__int__", int, INF, dtype, OverflowError, "int() of infinity"),
            ("__int__", int, -INF, dtype, OverflowError, "int() of -infinity"),
            ("__int__", int, NAN, dtype, ValueError, "int() of NaN"),
        ]
    for name, convert, value, dtype, error, what in cases:
        clause = f"{what}: {error.__name__}"
        with report.case(name, dtype=dtype, given=repr(value), clause=clause) as case:
            case.raises(error, convert, _zero_d(xp, value, dtype))


def namespace(xp: Any, report: Report) -> None:
    """`__array_namespace__` gives an object with every top-level function."""
    x = arrays.make(xp, np.zeros(2))
    names = "add asarray astype concat float32 nan pow sum take_along_axis where zeros"
    for keywords in ({}, {"api_version": None}):
        given = f"x.__array_namespace__({keywords})"
        clause = "__array_namespace__: the namespace of the array"
        with report.case("__array_namespace__", given=given, clause=clause) as case:
            got = x.__array_namespace__(**keywords)
            for name in names.split():
                case.true(hasattr(got, name), f"no {name}", name)
    version = getattr(xp, "__array_api_version__", None)
    if version:
        given = f"api_version={version!r}"
        clause = "__array_namespace__: api_version= is a version it implements"
        with report.case("__array_namespace__", given=given, clause=clause) as case:
            got = x.__array_namespace__(api_version=version)
            case.equal(got.ones(2), np.ones(2, arrays.read(xp.ones(2)).dtype))
    clause = "__array_namespace__: an unknown version should raise"
    for bad in ("1999.01", "not a version"):
        given = f"api_version={bad!r}"
        with report.case("__array_namespace__", given=given, clause=clause) as case:
            case.raises(Exception, x.__array_namespace__, api_version=bad)


def to_device(xp: Any, report: Report) -> None:
    """To the device on which the array lies, as a copy or itself."""
    clause = "to_device: the same values and dtype on the device"
    for x in (filled((2, 3), "float32"), filled((), "int64"), filled((0, 2), "bool")):
        for layout in layouts.LAYOUTS:
            made = layouts.make(xp, x, layout)
            if made is None:
                continue
            given = f"to its own device, {layout}"
            with report.case(
                "to_device", dtype=x.dtype.name, given=given, clause=clause
            ) as case:
                got = made.to_device(made.device)
                case.equal(got, x)
                case.true(bool(got.device == made.device), got.device, made.device)


CHECKS = (
    Check("attributes of the array", attributes),
    Check("transposes T and mT", transposes),
    Check("conversions of 0-d arrays", conversions),
    Check("refused conversions", refused_conversions),
    Check("__array_namespace__", namespace),
    Check("to_device (method)", to_device),
)
