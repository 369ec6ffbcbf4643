"""Whether each wait between streams is needed, and missed when it is not there."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from targets import Target

from refarray import cuda


class WithoutWait:
    """A driver that forgets one wait of a stream for an event, number `missing`."""

    def __init__(self, lib: Any, missing: int | None) -> None:
        self.lib = lib
        self.missing = missing
        self.waits = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.lib, name)

    def cuStreamWaitEvent(self, stream: Any, event: Any, flags: int) -> int:
        self.waits += 1
        if self.waits - 1 == self.missing:
            return 0
        error: int = self.lib.cuStreamWaitEvent(stream, event, flags)
        return error


def races_without(
    wait: int | None,
    work: Callable[[], None],
    opened: AbstractContextManager[Target],
) -> tuple[list[str], int]:
    """Do `work` on a new lazy driver; its races, and how many waits it asked for."""
    with opened as target:
        lib = WithoutWait(target.lib, wait)
        with cuda.use_driver(lib):
            work()
            return target.races(), lib.waits


def check_every_wait(
    work: Callable[[], None], new: Callable[[], AbstractContextManager[Target]]
) -> int:
    """Assert that `work` is in order, and would not be without any one of its waits.

    `new` makes a lazy driver. The number of waits is returned.
    """
    races, waits = races_without(None, work, new())
    assert races == []
    for number in range(waits):
        races, _ = races_without(number, work, new())
        assert races, f"nobody missed wait number {number}"
    return waits
