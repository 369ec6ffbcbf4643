"""Set functions: isin and the four unique functions.

The order of unique values is left open, so results are compared as collections. By the
standard every NaN is a value of its own, with a count of one; zeros of either sign are
one value. What Python's own loop over the elements finds is the oracle.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from refarray.testing.standard import arrays
from refarray.testing.standard.arrays import DTYPES, INTEGERS
from refarray.testing.standard.calls import Calls, default_dtype, field_names
from refarray.testing.standard.runner import Case, Check, Report
from refarray.testing.standard.samples import SHAPES, Values, distinct, filled

NAN = math.nan
DISTINCT = "each NaN should be a value of its own, zeros of either sign one value"


def inputs() -> list[Values]:
    """Arrays with repeated values, NaN, zeros of both signs, of every shape."""
    found = [distinct(shape, "int16") // 2 for shape in SHAPES]
    found += [filled((3, 8), dtype) for dtype in DTYPES]
    for dtype in ("float32", "float64"):
        found.append(np.asarray([NAN, 1, NAN, -0.0, 0.0, 1, NAN, 2], dtype))
    for dtype in ("complex64", "complex128"):
        parts = [complex(NAN, 1), complex(1, NAN), 1 + 2j, complex(NAN, 1), 1 + 2j, -1j]
        found.append(np.asarray(parts, dtype))
    found.append(np.resize(np.asarray([5, 1, 3, 1, 0, 5, 2], "int64"), 100))
    found.append(np.full((50,), 7, "uint8"))
    return found


def expected(x: Values) -> list[tuple[Any, list[int]]]:
    """The distinct values of x, each with the flat indices where it occurs."""
    found: list[tuple[Any, list[int]]] = []
    for index, value in enumerate(x.ravel().tolist()):
        for known, places in found:
            if known == value:
                places.append(index)
                break
        else:
            found.append((value, [index]))
    return found


def _values(case: Case, got: Any, x: Values) -> list[Any] | None:
    """The values returned, if they are the distinct values of x in any order."""
    wanted = [value for value, _ in expected(x)]
    shape = tuple(getattr(got, "shape", ()))
    if not case.true(hasattr(got, "shape"), type(got).__name__, "an array"):
        return None
    if not case.true(
        shape == (len(wanted),), f"shape {shape}", f"shape {(len(wanted),)}"
    ):
        return None
    if not case.is_array(got, x.dtype.name, (len(wanted),)):
        return None
    values: list[Any] = arrays.read(got).tolist()
    case.report.values += len(values)
    right = all(any(_same(w, v) for v in values) for w in wanted)
    right = right and sum(v != v for v in values) == sum(w != w for w in wanted)
    return values if case.true(right, values, wanted) else None


def _same(a: Any, b: Any) -> bool:
    return bool(a == b or (a != a and b != b))


def _indices(case: Case, got: Any, shape: tuple[int, ...]) -> list[int] | None:
    if not case.is_array(got, default_dtype(case.report.xp, "indexing"), shape):
        return None
    flat: list[int] = arrays.read(got).ravel().tolist()
    return flat


def _counts(case: Case, got: Any, values: list[Any], x: Values) -> None:
    came = _indices(case, got, (len(values),))
    if came is not None:
        known = expected(x)
        wanted = [next(len(p) for v, p in known if _same(v, value)) for value in values]
        case.true(came == wanted, came, wanted)


def _inverse(case: Case, got: Any, values: list[Any], x: Values) -> None:
    came = _indices(case, got, x.shape)
    if came is None:
        return
    inside = all(0 <= i < len(values) for i in came)
    if not case.true(inside, came, f"indices into {len(values)} values"):
        return
    flat = x.ravel().tolist()
    built = [values[i] for i in came]
    case.true(all(map(_same, built, flat)), built, flat)
    of_nan = [i for i, v in zip(came, flat, strict=True) if v != v]
    case.true(len(set(of_nan)) == len(of_nan), of_nan, "another index for each NaN")


def _first(case: Case, got: Any, values: list[Any], x: Values) -> None:
    came = _indices(case, got, (len(values),))
    if came is None:
        return
    known = expected(x)
    for value, index in zip(values, came, strict=True):
        firsts = [places[0] for v, places in known if _same(v, value)]
        if not case.true(index in firsts, index, f"a first occurrence of {value}"):
            return
    case.true(len(set(came)) == len(came), came, "another index for each value")


def unique_values(xp: Any, report: Report) -> None:
    """The distinct values in any order."""
    clause = f"unique_values: {DISTINCT}"
    call = Calls(xp, report, "unique_values", clause)
    for x in inputs():
        call.judged(functools.partial(_values, x=x), x)


def unique_counts(xp: Any, report: Report) -> None:
    """The distinct values and how often each occurs."""
    call = Calls(xp, report, "unique_counts", f"unique_counts: {DISTINCT}")

    def judge(case: Case, got: Any, x: Values) -> None:
        if field_names(case, got, "values", "counts"):
            values = _values(case, got[0], x)
            if values is not None:
                _counts(case, got[1], values, x)

    for x in inputs():
        call.judged(functools.partial(judge, x=x), x)


def unique_inverse(xp: Any, report: Report) -> None:
    """The distinct values and the indices that rebuild x in its shape."""
    call = Calls(xp, report, "unique_inverse", f"unique_inverse: {DISTINCT}")

    def judge(case: Case, got: Any, x: Values) -> None:
        if field_names(case, got, "values", "inverse_indices"):
            values = _values(case, got[0], x)
            if values is not None:
                _inverse(case, got[1], values, x)

    for x in inputs():
        call.judged(functools.partial(judge, x=x), x)


def unique_all(xp: Any, report: Report) -> None:
    """All four: values, first indices, inverse indices, counts."""
    call = Calls(xp, report, "unique_all", f"unique_all: {DISTINCT}")

    def judge(case: Case, got: Any, x: Values) -> None:
        if field_names(case, got, "values", "indices", "inverse_indices", "counts"):
            values = _values(case, got[0], x)
            if values is not None:
                _first(case, got[1], values, x)
                _inverse(case, got[2], values, x)
                _counts(case, got[3], values, x)

    for x in inputs():
        call.judged(functools.partial(judge, x=x), x)


def isin(xp: Any, report: Report) -> None:
    """Arrays and integers on either side, inverted, mixed dtypes, nothing to find."""
    call = Calls(xp, report, "isin", "isin: by value equality, in the shape of x1")
    inverted = "isin: invert=True negates the result"
    scalar = "isin: one argument may be a Python int"

    def both(x1: Any, x2: Any, clause: str = "") -> None:
        known = np.asarray(x2).ravel().tolist()
        flat = [v in known for v in np.asarray(x1).ravel().tolist()]
        wanted = np.asarray(flat, "bool").reshape(np.asarray(x1).shape)
        call.gives(wanted, x1, x2, clause=clause)
        call.gives(wanted, x1, x2, invert=False, clause=clause, layouts=("fresh",))
        call.gives(~wanted, x1, x2, invert=True, clause=inverted)

    for dtype in INTEGERS:
        info = np.iinfo(dtype)
        x = filled((2, 6), dtype)
        both(x, np.asarray([1, int(info.max), 5], dtype))
        both(x, np.asarray([[int(info.min)], [3]], dtype))
        both(x, 1, scalar)
        both(x, int(info.max), scalar)
        both(2, x, scalar)
        both(77, x, scalar)
        both(np.resize(x, 60), np.arange(40, dtype=dtype))
    for shape in SHAPES:
        both(distinct(shape, "int32"), distinct((4,), "int32"))
        both(distinct((2, 3), "int32"), distinct(shape, "int32"))
    mixed = "isin: arrays of two dtypes are compared by value"
    for one, two in (("int8", "uint8"), ("uint8", "int16"), ("int64", "int8")):
        both(filled((2, 6), one), filled((6,), two), mixed)
        both(filled((2, 6), two), filled((6,), one), mixed)


CHECKS = (
    Check("unique_values", unique_values),
    Check("unique_counts", unique_counts),
    Check("unique_inverse", unique_inverse),
    Check("unique_all", unique_all),
    Check("isin", isin),
)
