"""Signals while a simulated CUDA driver works.

No handler of a signal runs in the middle of a function of the real driver, which is
compiled code. The simulated one is written in Python, where a handler may run, and
raise KeyboardInterrupt, between any two bytecodes. So handlers are held back until the
function is done.

Next: simulated_driver.py.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import ParamSpec, TypeVar

Handler = Callable[[int, FrameType | None], object]
P = ParamSpec("P")
R = TypeVar("R")


class HeldSignals:
    """Runs functions of the driver, and handlers of signals before or after them."""

    def __init__(self) -> None:
        self._waiting: deque[Callable[[], object]] = deque()

    def run(self, function: Callable[P, R], *args: P.args, **named: P.kwargs) -> R:
        """Call a function; handlers that are due meanwhile run when it is done."""
        try:
            result = function(*args, **named)
        finally:
            # Not within another function, which called a function of the program.
            if self._waiting and not _is_running(sys._getframe().f_back):
                self._run_waiting()
        return result

    def _run_waiting(self) -> None:
        while self._waiting:
            self._waiting.popleft()()

    def _handle(self, handler: Handler, number: int, frame: FrameType | None) -> None:
        # One signal waits. The second interrupts a function that does not end.
        if _is_running(frame) and not self._waiting:
            self._waiting.append(partial(handler, number, frame))
        else:
            handler(number, frame)

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Hold back all handlers that are set now. Only the main thread can do that."""
        holding = {}
        if threading.current_thread() is threading.main_thread():
            for number in signal.valid_signals():
                handler = signal.getsignal(number)
                if callable(handler):
                    holding[number] = handler, partial(self._handle, handler)
        for number, (_, held) in holding.items():
            signal.signal(number, held)
        try:
            yield
        finally:
            for number, (handler, held) in holding.items():
                if signal.getsignal(number) is held:
                    signal.signal(number, handler)
            self._run_waiting()


def _is_running(frame: FrameType | None) -> bool:
    """Whether a function of the driver has begun and is not done, by the frames.

    A flag would not do: a handler may run before the first bytecode, which sets it.
    """
    code = HeldSignals.run.__code__
    while frame is not None:
        if frame.f_code is code and "result" not in frame.f_locals:
            return True
        frame = frame.f_back
    return False
