"""copy=, and inputs that must stay as they are. device= is in `check_devices.py`.

Whether two arrays share memory is found out by writing to one of them; a library whose
arrays cannot be written to is asked for values only.
"""

from __future__ import annotations

import array
from collections.abc import Callable
from typing import Any

import numpy as np

from refarray.testing.standard import arrays, layouts
from refarray.testing.standard.arrays import DTYPES
from refarray.testing.standard.check_assignment import mutable
from refarray.testing.standard.runner import Case, Check, Report
from refarray.testing.standard.samples import distinct, filled

FRESH_LAYOUTS = ("fresh", "strided", "reversed", "transposed", "offset")


def _shares(xp: Any, source: Any, result: Any) -> bool | None:
    """Whether writing to `result` changes `source`; None if that cannot be tried."""
    before = arrays.read(source)
    first = (0,) * len(result.shape)
    old = bool(arrays.read(result)[first])
    try:
        other = not old if result.dtype == xp.bool else int(not old)
        result[first] = xp.asarray(other, dtype=result.dtype)
    except Exception:
        return None
    return repr(arrays.read(source).tolist()) != repr(before.tolist())


def _never_shares(case: Case, xp: Any, source: Any, result: Any, before: Any) -> None:
    case.equal(result, before)
    shared = _shares(xp, source, result)
    if shared is None and mutable(xp):
        case.true(False, "a result that cannot be written to", "a copy of one's own")
    case.true(not shared, "memory shared with the input", "a copy")


def _each(
    report: Report, xp: Any, function: str, what: str, clause: str
) -> Callable[..., Any]:
    """The inputs in every dtype and layout, each in a case of its own."""

    def over(use: Callable[[Case, Any, Any], None]) -> None:
        for dtype in DTYPES:
            values = filled((2, 3), dtype)
            for layout in FRESH_LAYOUTS:
                x = layouts.make(xp, values, layout)
                if x is None:
                    continue
                given = f"{what} of a {layout} array"
                with report.case(
                    function, dtype=dtype, given=given, clause=clause
                ) as case:
                    use(case, x, values)

    return over


def asarray(xp: Any, report: Report) -> None:
    """copy=True, False and None of an array and of a buffer."""
    clause = "asarray: copy=True always copies"

    def copied(case: Case, x: Any, values: Any) -> None:
        _never_shares(case, xp, x, xp.asarray(x, copy=True), values)

    _each(report, xp, "asarray", "asarray(copy=True)", clause)(copied)

    def shared(case: Case, x: Any, values: Any) -> None:
        got = xp.asarray(x, copy=False)
        case.equal(got, values)
        case.true(_shares(xp, x, got) is not False, "a copy", "the same memory")

    clause = "asarray: copy=False never copies"
    _each(report, xp, "asarray", "asarray(copy=False)", clause)(shared)
    clause = "asarray: copy=False raises ValueError where a copy is needed"
    with report.case("asarray", given="another dtype", clause=clause) as case:
        x = arrays.make(xp, distinct((3,), "int8"))
        case.raises(ValueError, xp.asarray, x, dtype=xp.int16, copy=False)
    for copy in (True, False):
        held = array.array("d", [1.0, 2.0])
        clause = f"asarray: copy={copy} of an object with the buffer protocol"
        with report.case("asarray", given="array.array", clause=clause) as case:
            got = xp.asarray(held, dtype=xp.float64, copy=copy)
            held[0] = 7.0
            wanted = [1.0, 2.0] if copy else [7.0, 2.0]
            case.equal(got, np.asarray(wanted))


def astype(xp: Any, report: Report) -> None:
    """copy=True, the default, copies; copy=False with the same dtype is x itself."""

    def copied(case: Case, x: Any, values: Any) -> None:
        _never_shares(case, xp, x, xp.astype(x, x.dtype), values)

    def said(case: Case, x: Any, values: Any) -> None:
        _never_shares(case, xp, x, xp.astype(x, x.dtype, copy=True), values)

    def same(case: Case, x: Any, values: Any) -> None:
        got = xp.astype(x, x.dtype, copy=False)
        case.equal(got, values)
        case.true(got is x or _shares(xp, x, got) is not False, "a copy", "x itself")

    clause = "astype: a new array unless copy=False and the dtype is the same"
    _each(report, xp, "astype", "astype(x, x.dtype)", clause)(copied)
    _each(report, xp, "astype", "astype(x, x.dtype, copy=True)", clause)(said)
    clause = "astype: copy=False with the same dtype returns x"
    _each(report, xp, "astype", "astype(x, x.dtype, copy=False)", clause)(same)


def reshape(xp: Any, report: Report) -> None:
    """copy=True copies, copy=False shares or raises ValueError."""

    def copied(case: Case, x: Any, values: Any) -> None:
        got = xp.reshape(x, (3, 2), copy=True)
        _never_shares(case, xp, x, got, values.reshape(3, 2))

    def same_shape(case: Case, x: Any, values: Any) -> None:
        _never_shares(case, xp, x, xp.reshape(x, (2, 3), copy=True), values)

    def shared(case: Case, x: Any, values: Any) -> None:
        try:
            got = xp.reshape(x, (3, 2), copy=False)
        except ValueError:
            return  # right wherever no view has this shape
        case.equal(got, values.reshape(3, 2))
        case.true(_shares(xp, x, got) is not False, "a copy", "a view or ValueError")

    clause = "reshape: copy=True always copies"
    _each(report, xp, "reshape", "reshape(copy=True)", clause)(copied)
    _each(report, xp, "reshape", "reshape to its own shape, copy=True", clause)(
        same_shape
    )
    clause = "reshape: copy=False never copies, raises ValueError where it must"
    _each(report, xp, "reshape", "reshape(copy=False)", clause)(shared)
    with report.case(
        "reshape", given="a fresh array, copy=False", clause=clause
    ) as case:
        x = arrays.make(xp, distinct((2, 3), "int64"))
        case.equal(
            xp.reshape(x, (6,), copy=False), distinct((2, 3), "int64").reshape(6)
        )


def inputs(xp: Any, report: Report) -> None:
    """Functions that compute on a copy leave their argument alone."""
    clause = "a function does not change its arguments"
    makers: dict[str, Callable[[Any], Any]] = {
        "sort": lambda x: xp.sort(x),
        "argsort": lambda x: xp.argsort(x),
        "flip": lambda x: xp.flip(x),
        "roll": lambda x: xp.roll(x, 1),
        "cumulative_sum": lambda x: xp.cumulative_sum(x, axis=0),
        "cumulative_prod": lambda x: xp.cumulative_prod(x, axis=-1),
        "diff": lambda x: xp.diff(x),
        "tril": lambda x: xp.tril(x),
        "triu": lambda x: xp.triu(x),
        "clip": lambda x: xp.clip(x, 0, 1),
        "unique_values": lambda x: xp.unique_values(x),
        "searchsorted": lambda x: xp.searchsorted(x[0, :], x),
        "sum": lambda x: xp.sum(x),
        "var": lambda x: xp.var(x),
        "nonzero": lambda x: xp.nonzero(x),
    }
    if hasattr(xp, "linalg"):
        makers |= {
            "linalg.inv": lambda x: xp.linalg.inv(x),
            "linalg.solve": lambda x: xp.linalg.solve(x, x),
            "linalg.cholesky": lambda x: xp.linalg.cholesky(x),
            "linalg.qr": lambda x: xp.linalg.qr(x),
            "linalg.svd": lambda x: xp.linalg.svd(x),
            "linalg.eigh": lambda x: xp.linalg.eigh(x),
            "linalg.det": lambda x: xp.linalg.det(x),
            "linalg.vector_norm": lambda x: xp.linalg.vector_norm(x),
        }
    if hasattr(xp, "fft"):
        makers["fft.rfft"] = lambda x: xp.fft.rfft(x)
        makers["fft.ihfft"] = lambda x: xp.fft.ihfft(x)
    values = np.asarray([[4.0, 1, 0.5], [1, 5, 2], [0.5, 2, 6]])
    for name, call in makers.items():
        for layout in ("fresh", "transposed"):
            given = f"{name} of a {layout} array"
            with report.case(name, given=given, clause=clause) as case:
                x = layouts.make(xp, values, layout)
                call(x)
                case.equal(x, values)


def fresh_results(xp: Any, report: Report) -> None:
    """A sorted copy is a copy, also of what is sorted already."""
    clause = "sort: returns a copy"
    if not mutable(xp):
        return
    for values in (np.arange(4.0), np.asarray([2.0]), np.arange(6.0).reshape(2, 3)):
        x = arrays.make(xp, values)
        with report.case("sort", given="sorted input", clause=clause) as case:
            _never_shares(case, xp, x, xp.sort(x), values)


CHECKS = (
    Check("asarray", asarray),
    Check("astype", astype),
    Check("reshape", reshape),
    Check("sort", fresh_results),
    Check("inputs stay unchanged", inputs),
)
