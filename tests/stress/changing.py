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

from changes import CASES, check
from faults import CALL, Faults

FAULTS = Faults()
_CALLBACK = ctypes.CFUNCTYPE(None)


class Place:
    """Makes a change at the n-th place that allocates. Used with `with`."""

    def __init__(self, n: int, change: Callable[[], None]) -> None:
        self.n, self.callback = n, _CALLBACK(change)

    def __enter__(self) -> None:
        FAULTS.call(ctypes.cast(self.callback, ctypes.c_void_p).value or 0)
        FAULTS.arm(self.n, CALL)

    def __exit__(self, *error: object) -> None:
        self.reached = FAULTS.disarm()


def change_at_each_place(way: str, field: str) -> tuple[int, list[str]]:
    """Import until no place is left; return how many there were, and what was wrong."""
    failures: list[str] = []
    n, reached = 0, True
    while reached:
        n += 1
        places: list[Place] = []

        def moment(change: Callable[[], None], n: int = n) -> Place:
            places.append(Place(n, change))  # noqa: B023 (used in this round only)
            return places[0]  # noqa: B023

        try:
            check(way, field, moment)
        except AssertionError as error:
            failures.append(f"{way}, {field}, place {n}: {error}")
        reached = places[0].reached
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
