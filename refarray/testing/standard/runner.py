"""The frame of the value suite: checks, the report they write to, and the run.

A check is a plain function that takes the namespace under test and a report:

    def check_qr(xp: Any, report: Report) -> None:
        for dtype in ("float32", "float64"):
            a = np.asarray([[2, 1], [1, 3]], dtype)
            with report.case("linalg.qr", dtype=dtype, given=a, clause=QR) as case:
                q, r = xp.linalg.qr(arrays.make(xp, a))
                case.near(q @ r, a, ulps=8)

    CHECKS = (Check("linalg.qr", check_qr),)

A file of checks ends with such a tuple ``CHECKS``, and `__init__.py` lists the file in
``MODULES``; there is no other discovery. The first member of a `Check` names its
subject: a name in the namespace (``"add"``, ``"linalg.qr"``), an operator or method of
the array (``"__add__"``), or a free title containing a space. ``--only`` selects by it.

`Report.case` counts one case and turns an exception inside it into a deviation, so a
failing call never stops the run. Inside, the methods of `Case` compare what came with
what the clause wants: `equal` (exact), `near` (bounded in units in the last place),
`true`, `raises`. They record a deviation, return False, and go on. Where the standard
leaves a choice the check itself accepts every allowed outcome. `better` records a note
on quality instead: the library conforms, and others do better.

Arrays are made and read by `arrays.py`, compared by `compare.py`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import numpy as np

from refarray.testing.standard import arrays, compare


class Deviation(NamedTuple):
    """One way in which the namespace departs from the standard."""

    function: str
    dtype: str
    given: str
    got: str
    wanted: str
    clause: str


class Check(NamedTuple):
    """A check and the function, method or operator that it is about."""

    subject: str
    run: Callable[[Any, Report], None]


@dataclass
class Case:
    """One thing tried: what was called, on what, under which clause."""

    report: Report
    function: str
    dtype: str
    given: str
    clause: str

    def deviates(self, got: object, wanted: object) -> None:
        """Record a deviation."""
        self.report.deviations.append(self._deviation(got, wanted))

    def _deviation(self, got: object, wanted: object) -> Deviation:
        shown = compare.show(got), compare.show(wanted)
        return Deviation(self.function, self.dtype, self.given, *shown, self.clause)

    def better(self, condition: object, got: object, wanted: object) -> bool:
        """Record a note on quality unless ``condition`` holds.

        For what no clause demands and a good library has all the same.
        """
        if condition:
            return True
        self.report.notes.append(self._deviation(got, wanted))
        return False

    def true(self, condition: object, got: object, wanted: object) -> bool:
        """Record a deviation unless ``condition`` holds."""
        if not condition:
            self.deviates(got, wanted)
        return bool(condition)

    def equal(
        self,
        got: Any,
        wanted: np.ndarray[Any, Any],
        *,
        signed_zeros: bool = True,
        given: tuple[np.ndarray[Any, Any], ...] = (),
    ) -> bool:
        """The array ``got`` has the dtype, shape and values of ``wanted``.

        Every NaN equals every NaN. ``given`` are the operands (broadcast against
        ``wanted``), so that the deviation can name those of the first wrong element.
        """
        wrong = compare.differing(wanted, signed_zeros=signed_zeros)
        return self._compare(got, wanted, wrong, given)

    def near(
        self,
        got: Any,
        wanted: np.ndarray[Any, Any],
        *,
        ulps: float,
        given: tuple[np.ndarray[Any, Any], ...] = (),
    ) -> bool:
        """As `equal`, but values may differ by ``ulps`` units in the last place.

        Complex values are measured by the distance in the plane, in units of the
        absolute value of ``wanted``. NaN and infinities must still agree.
        """
        return self._compare(got, wanted, compare.farther(wanted, ulps), given)

    def _compare(
        self,
        got: Any,
        wanted: np.ndarray[Any, Any],
        wrong: Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]],
        given: tuple[np.ndarray[Any, Any], ...],
    ) -> bool:
        if not self.is_array(got, wanted.dtype.name, wanted.shape):
            return False
        values = arrays.read(got)
        bad = wrong(values)
        self.report.values += values.size
        if not bad.any():
            return True
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        where = self.given
        if given:
            operands = (np.broadcast_to(g, wanted.shape)[at] for g in given)
            where = ", ".join(compare.show(o) for o in operands)
        if bad.sum() > 1:
            where += f" (and {int(bad.sum()) - 1} more of {bad.size})"
        Case(self.report, self.function, self.dtype, where, self.clause).deviates(
            values[at], wanted[at]
        )
        return False

    def is_array(self, got: Any, dtype: str, shape: tuple[int, ...]) -> bool:
        """``got`` is an array of the namespace with this dtype and shape."""
        if not hasattr(got, "dtype") or not hasattr(got, "shape"):
            self.deviates(f"{type(got).__name__}", "an array")
            return False
        if got.dtype != getattr(self.report.xp, dtype):
            self.deviates(f"dtype {got.dtype}", f"dtype {dtype}")
            return False
        if tuple(got.shape) != tuple(shape):
            self.deviates(f"shape {tuple(got.shape)}", f"shape {tuple(shape)}")
            return False
        return True

    def raises(
        self,
        errors: type[Exception] | tuple[type[Exception], ...],
        call: Callable[..., object],
        *args: Any,
        **kwargs: Any,
    ) -> bool:
        """``call(*args, **kwargs)`` raises one of ``errors``."""
        allowed = errors if isinstance(errors, tuple) else (errors,)
        names = " or ".join(e.__name__ for e in allowed)
        try:
            came = call(*args, **kwargs)
        except allowed:
            return True
        except Exception as error:
            self.deviates(_described(error), names)
            return False
        self.deviates(came, names)
        return False


@dataclass
class Report:
    """What the checks found in one namespace."""

    xp: Any
    deviations: list[Deviation] = field(default_factory=list)
    notes: list[Deviation] = field(default_factory=list)
    cases: int = 0
    values: int = 0

    @contextmanager
    def case(
        self, function: str, *, dtype: str = "", given: object = "", clause: str = ""
    ) -> Iterator[Case]:
        """Try one thing; an exception inside is a deviation, not an end."""
        self.cases += 1
        text = given if isinstance(given, str) else compare.show(given)
        case = Case(self, function, dtype, text, clause)
        try:
            yield case
        except Exception as error:
            case.deviates(_described(error), "no error")


def run(
    xp: Any,
    checks: Iterable[Check],
    *,
    only: str = "*",
    progress: Callable[[int, str], None] = lambda done, label: None,
) -> Report:
    """Run the checks whose subject matches the pattern ``only``."""
    report = Report(xp)
    chosen = [check for check in checks if fnmatchcase(check.subject, only)]
    missing: set[str] = set()
    for done, check in enumerate(chosen):
        progress(done, check.subject)
        if not exists(xp, check.subject):
            if check.subject not in missing:
                missing.add(check.subject)
                with report.case(check.subject, clause=check.subject) as case:
                    case.deviates("missing", "a function of this name")
            continue
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            with report.case(check.subject, given=_title(check.run)):
                check.run(xp, report)
    return report


def exists(xp: Any, subject: str) -> bool:
    """Whether the namespace has what the subject of a check names."""
    if " " in subject or subject.startswith("__"):
        return True
    for name in subject.split("."):
        xp = getattr(xp, name, None)
    return xp is not None


def _title(check: Any) -> str:
    return str(getattr(check, "func", check).__name__)


def _described(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:160]}"
