"""A tensor that changes at each place in C where another thread could change it.

    python tests/stress/changing.py

The build with faults.h calls us at the n-th place of an import that allocates. Between
two of them the code reads the tensor, or computes with what it has read; so a field
that it reads twice is found to differ. See changes.py.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from itertools import count

from changes import CASES, check
from faults import CALL, Faults

FAULTS = Faults()
_CALLBACK = ctypes.CFUNCTYPE(None)


class Place:
    """The moment at which the n-th place that allocates is reached."""

    def __init__(self, n: int) -> None:
        self.n, self.reached = n, False

    def __call__(self, change: Callable[[], None]) -> Place:
        """Make this change there."""
        self.callback = _CALLBACK(change)
        return self

    def __enter__(self) -> None:
        FAULTS.call(ctypes.cast(self.callback, ctypes.c_void_p).value or 0)
        FAULTS.arm(self.n, CALL)

    def __exit__(self, *error: object) -> None:
        self.reached = FAULTS.disarm()


def change_at_each_place(way: str, field: str) -> tuple[int, list[str]]:
    """Import until no place is left; return how many there were, and what was wrong."""
    failures: list[str] = []
    for n in count(1):
        place = Place(n)
        try:
            check(way, field, place)
        except AssertionError as error:
            failures.append(f"{way}, {field}, place {n}: {error}")
        if not place.reached:
            break
    return n - 1, failures


def main() -> int:
    """Change every field at every place, on every way."""
    found = [change_at_each_place(*case) for case in CASES]
    failures = [line for _, lines in found for line in lines]
    for line in failures:
        print(line)
    print(f"{sum(n for n, _ in found):,} changes; {len(failures)} had an effect")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
