"""A producer that changes its tensor during the import gains nothing (changes.py)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from changes import CASES, check, in_collection
from steps import Steps


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
