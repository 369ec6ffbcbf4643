"""The producers of refarray.testing.doubles, handed to other libraries."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from refarray.testing import doubles


def answers_wrong(
    from_dlpack: Callable[[Any], Any],
    read: Callable[[Any], list[Any]],
    deadly: Collection[str] = (),
) -> set[str]:
    """Return the faults to which a library has another answer than it should.

    It is not asked about those that end the process.
    """
    wrong = set()
    for fault in doubles.producers():
        if fault.name in deadly:
            continue
        double = doubles.producer(fault)
        try:
            y = from_dlpack(double.array)
        except Exception:
            answer = "refuses"
        else:
            answer = "accepts"
            if double.values is not None:
                assert read(y) == double.values, fault.name
            del y
        if fault.answer not in (answer, "either"):
            wrong.add(fault.name)
        double.assert_released()
    return wrong
