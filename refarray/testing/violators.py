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


def _violator(number: int) -> type[Library]:
    module = violators_producer if number <= 36 else violators_consumer
    if number > 60:
        module = violators_exchange
    violator: type[Library] = getattr(module, f"Violator{number}")
    return violator


#: rule -> the library that breaks it, and no other.
VIOLATORS: dict[int, type[Library]] = {n: _violator(n) for n in range(1, 71)}
