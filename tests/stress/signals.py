"""A signal whose handler raises, at random moments of long kernels and of exchanges.

The exception must arrive, and everything be given back.

Next: run.py.
"""

from __future__ import annotations

import gc
import random
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import refarray as xp
from refarray import memory

SIGNALS = 200
LARGE = xp.linspace(0.0, 1.0, 1_000_000)
SQUARE = xp.reshape(xp.linspace(0.0, 1.0, 90_000), (300, 300))

WORK: dict[str, Callable[[], Any]] = {
    "add": lambda: LARGE + LARGE,
    "sum": lambda: xp.sum(LARGE),
    "sort": lambda: xp.sort(LARGE, descending=True),
    "a mask": lambda: LARGE[LARGE > 0.5],
    "matmul": lambda: SQUARE @ SQUARE,
    "exchange": lambda: np.from_dlpack(xp.from_dlpack(np.from_dlpack(SQUARE))),
    "a copy": lambda: xp.from_dlpack(LARGE, copy=True),
    "small arrays": lambda: xp.concat([xp.ones((3,)), xp.zeros((2,))])[1:] * 2.0,
}


class Alarm(BaseException):
    """What the handler raises."""


def ring(number: int, frame: object) -> None:
    """Handle the signal."""
    raise Alarm


def arrives(run: Callable[[], Any], after: float) -> bool:
    """Do some work until the signal comes; return whether its exception did."""
    until = time.monotonic() + after + 10
    try:
        signal.setitimer(signal.ITIMER_REAL, after)
        while time.monotonic() < until:
            run()
    except Alarm:
        return True
    return False


def main() -> int:
    """Send signals to all kinds of work."""
    signal.signal(signal.SIGALRM, ring)
    swallowed = []  # where Python cannot pass an exception on: in a finalizer, say
    sys.unraisablehook = swallowed.append
    choose = random.Random(1)
    failures = []
    for name, run in WORK.items():
        run()
        gc.collect()
        before = memory.statistics()
        lost = sum(not arrives(run, choose.uniform(1e-4, 1e-2)) for _ in range(SIGNALS))
        if lost > len(swallowed):
            failures.append(f"{name}: {lost} exceptions did not arrive")
        swallowed.clear()
        gc.collect()
        after = memory.statistics()
        for what in ("live_bytes", "live_buffers"):
            if getattr(before, what) != getattr(after, what):
                failures.append(f"{name}: {what} before {before}, after {after}")
    for line in failures:
        print(line)
    print(f"{len(WORK) * SIGNALS} signals")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
