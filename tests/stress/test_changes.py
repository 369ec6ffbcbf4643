"""A producer that changes its tensor during the import gains nothing (changes.py)."""

from __future__ import annotations

import gc
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from changes import CASES, check
from steps import Steps


class Change:
    """Garbage that makes a change when it is collected."""

    def __init__(self, change):
        self.change, self.itself = change, self

    def __del__(self):
        self.change()


def in_collection(allocations):
    """Return a moment: after so many more objects, the collector runs."""

    @contextmanager
    def moment(change):
        threshold = gc.get_threshold()
        gc.collect()
        gc.disable()
        Change(change)
        gc.set_threshold(gc.get_count()[0] + allocations, 10**6, 10**6)
        gc.enable()
        try:
            yield
        finally:
            gc.set_threshold(*threshold)
            gc.collect()

    return moment


@pytest.mark.parametrize("way, field", CASES)
def test_at_every_line_of_python(way, field):
    count = Steps(sys.maxsize, lambda: None, event="line")
    check(way, field, lambda change: count)
    assert count.taken or way in ("from_capsule", "exchange API")
    for n in range(1, count.taken + 1):
        check(way, field, lambda change, n=n: Steps(n, change, event="line"))


@pytest.mark.parametrize("way, field", CASES)
def test_in_a_garbage_collection(way, field):
    for allocations in range(1, 25):
        check(way, field, in_collection(allocations))
