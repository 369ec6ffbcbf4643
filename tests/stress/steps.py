"""Something done at the n-th step that Python takes within refarray.

Next: interrupts.py.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import refarray

PACKAGE = Path(refarray.__file__).parent
CONSUMER = PACKAGE / "testing" / "library.py"
PRODUCER = PACKAGE / "testing" / "producers.py"


def in_refarray(path: Path) -> bool:
    """Whether a file is refarray's, or the producer that the tests use."""
    is_ours = PACKAGE in path.parents and PACKAGE / "testing" not in path.parents
    return is_ours or path == PRODUCER


def in_consumer(path: Path) -> bool:
    """Whether a file is the consumer that the tests use."""
    return path == CONSUMER


class Steps:
    """Calls act() at the n-th step: bytecodes, or lines. Used with `with`."""

    def __init__(
        self,
        n: int,
        act: Callable[[], None],
        event: str = "opcode",
        counts: Callable[[Path], bool] = in_refarray,
    ) -> None:
        self.n, self.act, self.event, self.counts = n, act, event, counts
        self.files: dict[str, bool] = {}
        self.taken = 0
        self.where = ""

    @property
    def reached(self) -> bool:
        """Whether it came to the n-th step."""
        return self.taken >= self.n

    def __enter__(self) -> Steps:
        sys.settrace(self._call)
        return self

    def __exit__(self, *error: object) -> None:
        sys.settrace(None)

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        name = frame.f_code.co_filename
        if name not in self.files:
            self.files[name] = self.counts(Path(name))
        if not self.files[name]:
            return None
        frame.f_trace_opcodes = self.event == "opcode"
        return self._step

    def _step(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == self.event:
            self.taken += 1
            if self.taken == self.n:
                name = Path(frame.f_code.co_filename).name
                self.where = f"{name}:{frame.f_lineno} {frame.f_code.co_name}"
                sys.settrace(None)
                self.act()
        return self._step
