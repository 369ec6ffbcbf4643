"""A signal whose handler raises, at random moments of long kernels and of exchanges.

The exception must arrive, and everything be given back: on the host, and on simulated
CUDA devices, where there may be no race either.

Next: run.py.
"""

from __future__ import annotations

import gc
import random
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import refarray as xp
from refarray import cuda, memory
from refarray._memory.cuda_memory import synchronize
from refarray._memory.cuda_streams import _current
from refarray._memory.device_use import memories
from refarray.testing.simulated_driver import SimulatedDriver, simulated_cuda

SIGNALS = 200
SIGNALS_ON_DEVICES = 2000
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


def of_a_stream() -> object:
    """Use memory on a stream of its own, which goes as well."""
    with cuda.Stream():
        x = xp.zeros((100,), device=xp.Device("cuda:0"))
    return x + 1


WORK_ON_DEVICES: dict[str, Callable[[], object]] = {
    "memory that is reused": lambda: [
        xp.empty((1000,), device=xp.Device("cuda:0")) for _ in range(3)
    ],
    "memory of each kind": lambda: [
        xp.zeros((n,), device=xp.Device(place))
        for n in (10, 20)
        for place in ("cuda:1", "cuda_managed:0", "cuda_host:0")
    ],
    "streams": of_a_stream,
    "copies": lambda: (
        xp.ones((50,), device=xp.Device("cuda_host:0"))
        .to_device(xp.Device("cuda:0"))
        .to_device(xp.Device("cuda:1"))
        .to_device(xp.Device("cpu"))
    ),
    "exchange": lambda: xp.from_dlpack(xp.ones((9,), device=xp.Device("cuda:0"))),
}


class Alarm(BaseException):
    """What the handler raises."""


def ring(number: int, frame: object) -> None:
    """Handle the signal."""
    raise Alarm


def arrives(run: Callable[[], Any], after: float) -> bool:
    """Do some work until the signal comes; return whether its exception did."""
    try:
        signal.setitimer(signal.ITIMER_REAL, after)
        repeat(run, after + 10)
    except Alarm:
        return True
    return False


def repeat(run: Callable[[], Any], seconds: float) -> None:
    """Do some work for so long."""
    # Not within `try`: CPython 3.13 does not guard the jump back to `while` there.
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        run()


def held_on(driver: SimulatedDriver) -> dict[str, int]:
    """Return what is in use on simulated devices, and the mistakes made there."""
    _current.set(())  # an interrupted end of a `with` block leaves its stream current
    gc.collect()
    cuda.empty_cache()
    for ordinal in (0, 1):
        synchronize(ordinal)  # deleters wait for work
    cuda.empty_cache()
    return {
        "bytes": driver.live_bytes,
        "numbers of memory": len(memories),
        "races": len(driver.races),
        "faults": len(driver.faults),
        **driver.handles,
    }


class Signals:
    """Signals that were sent, and what was wrong."""

    def __init__(self) -> None:
        signal.signal(signal.SIGALRM, ring)
        # Where Python cannot pass an exception on: in a finalizer, say.
        self.swallowed: list[Any] = []
        sys.unraisablehook = self.swallowed.append
        self.choose = random.Random(1)
        self.sent = 0
        self.failures: list[str] = []

    def send(
        self,
        name: str,
        run: Callable[[], Any],
        count: int,
        longest: float,
        held: Callable[[], dict[str, int]],
    ) -> None:
        """Send signals to some work, each within so many seconds."""
        run()
        before = held()
        lost = sum(
            not arrives(run, self.choose.uniform(longest / 100, longest))
            for _ in range(count)
        )
        self.sent += count
        if lost > len(self.swallowed):
            self.failures.append(f"{name}: {lost} exceptions did not arrive")
        self.swallowed.clear()
        after = held()
        if before != after:
            self.failures.append(f"{name}: before {before}, after {after}")


def held_on_host() -> dict[str, int]:
    """Return what is in use on the host."""
    gc.collect()
    now = memory.statistics()
    return {"bytes": now.live_bytes, "buffers": now.live_buffers}


def main() -> int:
    """Send signals to all kinds of work."""
    signals = Signals()
    for name, run in WORK.items():
        signals.send(name, run, SIGNALS, 1e-2, held_on_host)
    # The handler was set before: it runs before or after a function of the driver.
    with simulated_cuda(force=True, on_race="collect") as driver:
        for name, run in WORK_ON_DEVICES.items():
            held = partial(held_on, driver)
            signals.send(name, run, SIGNALS_ON_DEVICES, 1e-3, held)
    for line in signals.failures:
        print(line)
    print(f"{signals.sent} signals")
    return 1 if signals.failures else 0


if __name__ == "__main__":
    sys.exit(main())
