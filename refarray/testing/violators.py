"""For each rule a planted violator: the library of library.py with exactly one fault.

A check whose violator is not caught would be worthless; tests/dlpack/test_rules.py lets
every check catch its own.

Next: report.py.
"""

from __future__ import annotations

from refarray.testing import (
    violators_consumer,
    violators_exchange,
    violators_producer,
)
from refarray.testing.library import Library


def _named() -> dict[int, type[Library]]:
    """Return each class `Violator46` under its number, in order."""
    found = {}
    for module in (violators_producer, violators_consumer, violators_exchange):
        for name, thing in vars(module).items():
            if name.startswith("Violator"):
                found[int(name.removeprefix("Violator"))] = thing
    return dict(sorted(found.items()))


#: rule -> the library that breaks it, and no other.
VIOLATORS: dict[int, type[Library]] = _named()
