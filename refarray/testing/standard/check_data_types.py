"""Data types: astype, can_cast, finfo, iinfo, isdtype, result_type; constants.

The promotion tables are written out here once as a rule (`promoted`); pairs for which
the standard has no rule are not asked about.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from refarray.testing.standard import arrays
from refarray.testing.standard.arrays import (
    COMPLEX,
    COMPLEX_OF,
    DTYPES,
    FLOATS,
    INTEGERS,
    NUMBERS,
    REAL_OF,
    REALS,
    SIGNED,
    UNSIGNED,
)
from refarray.testing.standard.calls import Calls
from refarray.testing.standard.runner import Check, Report
from refarray.testing.standard.samples import SHAPES, distinct, filled

NAN, INF = math.nan, math.inf
KINDS: dict[str, tuple[str, ...]] = {
    "bool": ("bool",),
    "signed integer": SIGNED,
    "unsigned integer": UNSIGNED,
    "integral": INTEGERS,
    "real floating": REALS,
    "complex floating": COMPLEX,
    "numeric": NUMBERS,
}


def promoted(one: str, two: str) -> str | None:
    """The dtype that two dtypes promote to; None where the standard has no rule."""
    if one == two:
        return one
    for family in (SIGNED, UNSIGNED):
        if one in family and two in family:
            return family[max(family.index(one), family.index(two))]
    if one in FLOATS and two in FLOATS:
        double = any(d in ("float64", "complex128") for d in (one, two))
        if one in COMPLEX or two in COMPLEX:
            return "complex128" if double else "complex64"
        return "float64" if double else "float32"
    if {one, two} <= set(INTEGERS) and "uint64" not in (one, two):
        signed, unsigned = (one, two) if one in SIGNED else (two, one)
        return SIGNED[max(SIGNED.index(signed), UNSIGNED.index(unsigned) + 1)]
    return None


def astype(xp: Any, report: Report) -> None:
    """Every pair of dtypes, truth values, special values, layouts."""
    call = Calls(xp, report, "astype", "astype: the values in another dtype")
    for one, two in itertools.product(DTYPES, DTYPES):
        if one in COMPLEX and two not in (*COMPLEX, "bool"):
            continue
        x = np.asarray([[0, 1, 2], [100, 7, 1]], one)
        call.gives(x.astype(two), x, np.dtype(two))
        if one == two:
            x = filled((2, 6), one)
            call.gives(x, x, np.dtype(two))
            call.gives(x, x, np.dtype(two), copy=False)
        if one in (*SIGNED, *REALS) and two in (*SIGNED, *FLOATS):
            x = -np.asarray([1, 0, 100], one)
            signed = two in FLOATS and one in REALS
            call.gives(x.astype(two), x, np.dtype(two), signed_zeros=signed)
    truth = "astype: to bool, zero is False and all else True, NaN too"
    for dtype in NUMBERS:
        x = filled((2, 6), dtype)
        call.gives(np.asarray(x != 0), x, np.dtype("bool"), clause=truth)
    special = "astype: NaN, infinities and signed zeros between floating-point dtypes"
    for one, two in itertools.product(FLOATS, FLOATS):
        if one in COMPLEX and two in REALS:
            continue
        x = np.asarray([NAN, INF, -INF, -0.0, 0.0, 1.5, -(2.0**-120), 2.0**100], one)
        wide = x.astype("complex128" if one in COMPLEX else "float64")
        call.gives(wide.astype(two), x, np.dtype(two), clause=special)
    exact = "astype: every integer that the dtype holds is exact"
    for one, two in itertools.product(INTEGERS, INTEGERS):
        values = [v for v in filled((6,), one).tolist() if _holds(two, v)]
        x = np.asarray(values, one)
        call.gives(np.asarray(values, two), x, np.dtype(two), clause=exact)
    largest = np.asarray([2**53, -(2**53), 2**62], "int64")
    call.gives(largest.astype("float64"), largest, np.dtype("float64"), clause=exact)
    for shape in SHAPES:
        x = distinct(shape, "int16")
        call.gives(x.astype("float32"), x, np.dtype("float32"))
        call.gives(x.astype("complex128"), x, np.dtype("complex128"))
    refuses = "astype: a complex array should not be cast to a real dtype"
    for one, two in itertools.product(COMPLEX, (*REALS, "int64")):
        call.refused(
            Exception, np.asarray([1 + 2j], one), np.dtype(two), clause=refuses
        )


def _holds(dtype: str, value: int) -> bool:
    info = np.iinfo(dtype)
    return int(info.min) <= value <= int(info.max)


def can_cast(xp: Any, report: Report) -> None:
    """Every pair with a rule, from dtypes and from arrays; a Python bool."""
    clause = "can_cast: whether promotion of the two dtypes gives the second"
    for one, two in itertools.product(DTYPES, DTYPES):
        result = promoted(one, two)
        if result is None:
            continue
        from_array = arrays.make(xp, np.zeros(2, one))
        for from_ in (getattr(xp, one), from_array):
            given = (
                f"can_cast({one}{'' if from_ is not from_array else ' array'}, {two})"
            )
            with report.case("can_cast", dtype=one, given=given, clause=clause) as case:
                got = xp.can_cast(from_, getattr(xp, two))
                case.true(
                    type(got) is bool and got == (result == two), got, result == two
                )


def result_type(xp: Any, report: Report) -> None:
    """Every pair with a rule, three at a time, arrays, scalars on either side."""
    clause = "result_type: the promoted dtype"

    def check(wanted: str, *args: Any, clause: str = clause) -> None:
        shown = ", ".join(a.name if isinstance(a, np.dtype) else repr(a) for a in args)
        given = f"result_type({shown})"
        with report.case("result_type", given=given, clause=clause) as case:
            placed = [
                arrays.make(xp, a)
                if isinstance(a, np.ndarray)
                else getattr(xp, a.name)
                if isinstance(a, np.dtype)
                else a
                for a in args
            ]
            got = xp.result_type(*placed)
            case.true(got == getattr(xp, wanted), got, wanted)

    for one, two in itertools.product(DTYPES, DTYPES):
        result = promoted(one, two)
        if result is not None:
            check(result, np.dtype(one), np.dtype(two))
            check(result, np.ones(2, one), np.dtype(two))
            check(result, np.ones((), one), np.ones(3, two))
    for dtype in DTYPES:
        check(dtype, np.dtype(dtype))
        check(dtype, np.ones(2, dtype))
    check("int32", np.dtype("int8"), np.dtype("uint16"), np.dtype("int16"))
    check("int16", np.dtype("uint8"), np.dtype("uint8"), np.dtype("int8"))
    check(
        "complex128", np.dtype("float32"), np.dtype("complex64"), np.ones((), "float64")
    )
    scalars = "result_type: a Python scalar takes the kind of the array (2024.12)"
    for dtype in DTYPES:
        if dtype == "bool":
            check(dtype, np.dtype(dtype), True, clause=scalars)
            continue
        for x in (np.dtype(dtype), np.ones(2, dtype)):
            check(dtype, x, 1, clause=scalars)
            check(dtype, 1, x, clause=scalars)
            if dtype in FLOATS:
                check(dtype, 1.5, x, clause=scalars)
                check(dtype, x, 1, 2.5, clause=scalars)
                check(COMPLEX_OF.get(dtype, dtype), x, 1j, clause=scalars)


def isdtype(xp: Any, report: Report) -> None:
    """Every kind, dtypes as kinds, tuples of both; a Python bool."""
    clause = "isdtype: whether a dtype is one of the kinds"

    def check(wanted: bool, dtype: str, kind: Any) -> None:
        given = f"isdtype({dtype}, {kind!r})"
        with report.case("isdtype", dtype=dtype, given=given, clause=clause) as case:
            got = xp.isdtype(getattr(xp, dtype), _kind(xp, kind))
            case.true(type(got) is bool and got == wanted, got, wanted)

    for dtype in DTYPES:
        for kind, members in KINDS.items():
            check(dtype in members, dtype, kind)
            check(dtype in (*members, "bool"), dtype, (kind, "bool"))
            check(dtype in (*members, "float32"), dtype, (np.dtype("float32"), kind))
        for other in DTYPES:
            check(dtype == other, dtype, np.dtype(other))
        check(False, dtype, ())


def _kind(xp: Any, kind: Any) -> Any:
    if isinstance(kind, tuple):
        return tuple(_kind(xp, k) for k in kind)
    return getattr(xp, kind.name) if isinstance(kind, np.dtype) else kind


def finfo(xp: Any, report: Report) -> None:
    """Every attribute as a Python number, from dtypes and arrays, complex too."""
    clause = "finfo: limits of the real dtype, as Python int and float"
    for dtype, array in itertools.product(FLOATS, (False, True)):
        real = REAL_OF.get(dtype, dtype)
        info = np.finfo(real)
        with report.case(
            "finfo", dtype=dtype, given=_shown("finfo", dtype, array)
        ) as case:
            case.clause = "finfo: takes an array" if array else clause
            got = xp.finfo(_dtype_or_array(xp, dtype, array))
            case.true(type(got.bits) is int, got.bits, "a Python int")
            case.true(got.bits == info.bits, got.bits, info.bits)
            for name in ("eps", "max", "min", "smallest_normal"):
                value, wanted = getattr(got, name), float(getattr(info, name))
                right = isinstance(value, float) and value == wanted
                case.true(right, f"{name} {type(value).__name__} {value!r}", wanted)
            right = bool(got.dtype == getattr(xp, real))
            case.true(right, f"dtype {got.dtype!r}", f"xp.{real}")


def iinfo(xp: Any, report: Report) -> None:
    """Every attribute as a Python number, from dtypes and arrays."""
    clause = "iinfo: limits of the dtype, as Python int"
    for dtype, array in itertools.product(INTEGERS, (False, True)):
        info = np.iinfo(dtype)
        with report.case(
            "iinfo", dtype=dtype, given=_shown("iinfo", dtype, array)
        ) as case:
            case.clause = "iinfo: takes an array" if array else clause
            got = xp.iinfo(_dtype_or_array(xp, dtype, array))
            for name in ("bits", "max", "min"):
                value, wanted = getattr(got, name), int(getattr(info, name))
                right = isinstance(value, int) and value == wanted
                case.true(right, f"{name} {type(value).__name__} {value!r}", wanted)
            right = bool(got.dtype == getattr(xp, dtype))
            case.true(right, f"dtype {got.dtype!r}", f"xp.{dtype}")


def _shown(name: str, dtype: str, array: bool) -> str:
    return f"{name}({'an array of ' if array else ''}{dtype})"


def _dtype_or_array(xp: Any, dtype: str, array: bool) -> Any:
    return arrays.make(xp, np.ones(2, dtype)) if array else getattr(xp, dtype)


def dtype_objects(xp: Any, report: Report) -> None:
    """Each dtype object equals itself only."""
    clause = "dtype objects support == and != among each other"
    for one, two in itertools.product(DTYPES, DTYPES):
        with report.case(
            "dtype objects", given=f"{one} == {two}", clause=clause
        ) as case:
            equal = getattr(xp, one) == getattr(xp, two)
            case.true(bool(equal) == (one == two), equal, one == two)
            unequal = getattr(xp, one) != getattr(xp, two)
            case.true(bool(unequal) == (one != two), unequal, one != two)


def constants(xp: Any, report: Report) -> None:
    """Python floats with the right values, and None."""
    clause = "constants are Python scalars"
    wanted: dict[str, Any] = {"e": math.e, "pi": math.pi, "inf": INF, "newaxis": None}
    for name, value in wanted.items():
        with report.case("constants", given=name, clause=clause) as case:
            got = getattr(xp, name)
            case.true(got == value and type(got) is type(value), got, value)
    with report.case("constants", given="nan", clause=clause) as case:
        case.true(type(xp.nan) is float and xp.nan != xp.nan, xp.nan, NAN)
    with report.case("constants", given="__array_api_version__") as case:
        case.clause = "__array_api_version__ is a string like 2025.12"
        version = xp.__array_api_version__
        case.true(isinstance(version, str) and version[:2] == "20", version, "2025.12")


CHECKS = (
    Check("astype", astype),
    Check("can_cast", can_cast),
    Check("result_type", result_type),
    Check("isdtype", isdtype),
    Check("finfo", finfo),
    Check("iinfo", iinfo),
    Check("dtype objects", dtype_objects),
    Check("constants of the namespace", constants),
)
