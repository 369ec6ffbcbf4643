"""The producers of refarray.testing.doubles, handed to other libraries."""

from __future__ import annotations

import signal
from collections.abc import Callable, Collection
from typing import Any

from arrays import in_child

from refarray.testing import doubles
from refarray.testing.adapters import Adapter
from refarray.testing.loading import name_of


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


def shape_taken(adapter: Adapter, fault: str) -> tuple[int, ...]:
    """Return the shape that a library gives an array which it should refuse."""
    with doubles.producer(fault) as double:
        return adapter.shape(adapter.from_dlpack(double.array))


CHILD = """
from refarray.testing import doubles
from refarray.testing.loading import load

adapter = load({adapter!r})
array = doubles.producer({fault!r}).array
print("about to import", flush=True)
adapter.from_dlpack(array)
"""


def ended_by(adapter: Adapter, fault: str) -> signal.Signals | None:
    """Return the signal that ends a process whose library takes such an array.

    None if there is no such signal: the array is refused, or taken.
    """
    result = in_child(CHILD.format(adapter=name_of(adapter), fault=fault))
    assert "about to import" in result.stdout, result.stderr
    return signal.Signals(-result.returncode) if result.returncode < 0 else None
