"""Producers as test doubles: what was done to them. Next: misbehaving_producers.py.

A double hands out `array`, which has nothing but `__dlpack__` and `__dlpack_device__`.
It counts; `assert_released` says what is wrong with the counts.
"""

from __future__ import annotations

import gc
import inspect
from types import TracebackType
from typing import Any

from refarray.testing.exchange import ATTRIBUTE
from refarray.testing.faults import Fault, fail, place
from refarray.testing.forge import FRESH_NAMES, Case


class Handed:
    """The object that is handed to the consumer: the protocol, noted and passed on."""

    def __init__(self, inner: Any, notes: Notes) -> None:
        self._inner, self._notes = inner, notes

    def __dlpack_device__(self, *arguments: Any, **keywords: Any) -> Any:
        self._notes.device_asked += 1
        return self._inner.__dlpack_device__(*arguments, **keywords)

    def __dlpack__(self, *arguments: Any, **keywords: Any) -> Any:
        self._notes.keywords.append(keywords)
        where = place()
        try:
            return self._inner.__dlpack__(*arguments, **keywords)
        finally:
            self._notes.asked_at.append((where, len(self._notes.cases)))


class HandedWithTable(Handed):
    """The same with an exchange table, which calls the two methods here.

    The table must hang on the type, so each object has a type of its own.
    """

    @classmethod
    def over(cls, inner: Any, notes: Notes) -> Handed:
        """Return one with the table of the object behind it."""
        table = {ATTRIBUTE: inspect.getattr_static(type(inner), ATTRIBUTE)}
        handed: Handed = type(cls.__name__, (cls,), table)(inner, notes)
        return handed

    def exchange_capsule(self) -> object:
        """Export; called by the table."""
        self._notes.table_calls += 1
        where = place()
        try:
            return self._inner.exchange_capsule()
        finally:
            self._notes.asked_at.append((where, len(self._notes.cases)))

    def exchange_tensor(self) -> int:
        """Lend; called by the table."""
        self._notes.table_calls += 1
        self._notes.lent += 1
        address: int = self._inner.exchange_tensor()
        return address


class Notes:
    """What is shared by a double and the object that it hands out."""

    def __init__(self, cases: list[Case]) -> None:
        self.cases = cases
        self.device_asked = self.table_calls = self.lent = 0
        self.keywords: list[dict[str, Any]] = []
        #: Where `__dlpack__` was called, and how many tensors had been made after it.
        self.asked_at: list[tuple[str, int]] = []


class Producer:
    """A producer with one fault, or none, that counts what is done to it.

    `array` goes to the consumer under test; `values` and `shape` are what it should
    find there (row-major; None if nobody can). Used in a `with` statement, it asserts
    at the end that everything was released.
    """

    def __init__(
        self,
        fault: Fault,
        inner: Any,
        cases: list[Case],
        values: list[Any] | None,
        shape: tuple[int, ...],
        has_table: bool = False,
    ) -> None:
        self.fault, self.values, self.shape = fault, values, shape
        self.made_at = place()
        self._notes = Notes(cases)
        hand = HandedWithTable.over if has_table else Handed
        self.array = hand(inner, self._notes)

    def __repr__(self) -> str:
        return f"<producer {self.fault.name!r}, made at {self.made_at}>"

    # ---- Counts ----------------------------------------------------------------------

    @property
    def keywords(self) -> list[dict[str, Any]]:
        """The keyword arguments of each call of `__dlpack__`."""
        return self._notes.keywords

    @property
    def streams(self) -> list[Any]:
        """The stream that each call of `__dlpack__` gave; None if it gave none."""
        return [given.get("stream") for given in self.keywords]

    @property
    def device_asked(self) -> int:
        """Calls of `__dlpack_device__`."""
        return self._notes.device_asked

    @property
    def table_calls(self) -> int:
        """Exports through the C exchange table, if the double has one."""
        return self._notes.table_calls

    @property
    def capsules_made(self) -> int:
        """Capsules that `__dlpack__` made, and tensors that the table exported."""
        return len(self._notes.cases)

    @property
    def capsules_taken(self) -> int:
        """Capsules whose tensor the consumer took for its own."""
        return sum(map(_was_taken, self._notes.cases))

    @property
    def destructor_calls(self) -> int:
        """Calls of the destructors of all capsules."""
        return sum(case.destructor_calls for case in self._notes.cases)

    @property
    def deleter_calls(self) -> int:
        """Calls of the deleters of all tensors, by whomever."""
        return sum(case.deleter_calls for case in self._notes.cases)

    # ---- Judgement -------------------------------------------------------------------

    def assert_released(self) -> None:
        """Raise AssertionError unless every tensor was consumed and released once.

        Garbage is collected first, if it matters. The message says what was leaked,
        freed twice or never consumed, and where it was made. Only the consumer is
        blamed, not the fault of the double.
        """
        __tracebackhide__ = True
        headline = (
            f"producer {self.fault.name!r} (rule {self.fault.rule}), made at "
            f"{self.made_at}:"
        )
        if self._problems() or not all(c.destructor_calls for c in self._notes.cases):
            gc.collect()
        fail(headline, self._problems())

    def __enter__(self) -> Producer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        __tracebackhide__ = True
        if error is None:
            self.assert_released()

    def _problems(self) -> list[str]:
        cases = self._notes.cases
        found = []
        for number, case in enumerate(cases, 1):
            problem = _problem(case)
            if problem:
                where = next(at for at, made in self._notes.asked_at if made >= number)
                found.append(f"capsule {number}, asked for at {where}: {problem}")
        none_taken = not self._notes.lent and all(map(_was_dropped, cases))
        may_stop_early = self.fault.answer != "accepts"
        if not (self.keywords or self.table_calls):
            if not (self.device_asked and may_stop_early):
                found.append("never consumed: __dlpack__ was not called")
        elif none_taken and not may_stop_early:
            found.append(
                f"never consumed: of {len(cases)} capsules made, none was taken"
            )
        return found


def _is_takable(case: Case) -> bool:
    return case.tensor.name == "by version" or case.tensor.name in FRESH_NAMES


def _consumers_calls(case: Case) -> int:
    return case.deleter_calls - case.deleter_calls_of_destructor


def _was_taken(case: Case) -> bool:
    """Whether the consumer took it: it renamed the capsule, or called the deleter."""
    return _is_takable(case) and bool(case.was_found_used or _consumers_calls(case))


def _was_dropped(case: Case) -> bool:
    """Whether the capsule ended without having been taken."""
    return case.destructor_calls > 0 and not _was_taken(case)


def _problem(case: Case) -> str | None:
    """Say what the consumer did wrong with a tensor."""
    calls = _consumers_calls(case)
    if not _is_takable(case):
        if calls:
            return (
                f"freed without a right: a capsule named {case.tensor.name!r} is not "
                f"for taking, and the consumer called its deleter, {calls} times"
            )
        return None
    if case.tensor.deleter is None:
        return None
    if calls > 1:
        return f"freed twice: the consumer called the deleter {calls} times"
    if calls and case.deleter_calls_of_destructor and not case.was_found_used:
        return (
            "freed twice: by the consumer, and by the capsule's destructor, because "
            "the consumer did not rename the capsule to used_*"
        )
    if calls:
        return None
    if case.was_found_used:
        return (
            "leaked: the consumer took the tensor and did not call its deleter "
            "(or the imported array is still alive)"
        )
    if not case.destructor_calls:
        return (
            "leaked: the deleter was not called, and the capsule is still there, held "
            "by the consumer (or by the traceback of its exception)"
        )
    return None
