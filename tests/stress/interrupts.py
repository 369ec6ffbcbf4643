"""An exception at every step: what a producer raises, or the handler of a signal.

Each scenario is run with an exception raised at the first bytecode that Python executes
within refarray or one of the test's producers, then at the second, and so on. The same
exception must arrive, and memory, tensors and references must be as before. A consumer
that is interrupted between taking a tensor and keeping it has lost it: it is given
back for it, once.

Next: exits.py.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from balance import deleter_faults, differences, held
from scenarios import SCENARIOS
from scenarios_devices import DEVICES
from steps import Steps, in_consumer, in_refarray

import refarray as xp
from refarray import cuda, memory
from refarray._memory.cuda_streams import _current
from refarray.testing.forge import Raw
from refarray.testing.library import Library
from refarray.testing.simulated_driver import SimulatedDriver, simulated_cuda

NAMES = sys.argv[1:] or [
    "export",
    "import of our own",
    "import from numpy",
    "import of forged tensors",
    "refusals",
    "an older producer",
    "another library",
    "memory of any kind",
    "memory that is lent",
    "exchange in c",
    "operators",
    "indexing",
    "joining",
    "a device",
    *DEVICES,
]
#: Longer scenarios are interrupted at every third, fifth ... bytecode.
STEPS = 1500


class Interrupt(BaseException):
    """What is raised."""

    def throw(self) -> None:
        """Raise it."""
        raise self


def interrupt(steps: Steps, run: Callable[[], Any], sent: Interrupt) -> list[str]:
    """Run a scenario to the step where `sent` is raised; return what is wrong."""
    try:
        with steps:
            run()
    except Interrupt as arrived:
        # Frames hold what is to be given back.
        arrived.__traceback__ = arrived.__context__ = None
        return [] if arrived is sent else ["another exception arrived"]
    except BaseException as error:
        return [f"{type(error).__name__}: {error}"]
    arrives = steps.reached and not steps.where.endswith(" __del__")
    return ["no exception arrived"] if arrives else []


class Sweep:
    """All interruptions, and what was found."""

    def __init__(self, driver: SimulatedDriver) -> None:
        self.driver = driver
        self.interrupted = self.lost = 0
        self.failures: list[str] = []

    def sweep(
        self,
        name: str,
        run: Callable[[], Any],
        counts: Callable[[Path], bool] = in_refarray,
        give_back: Callable[[], None] = lambda: None,
    ) -> None:
        """Interrupt a scenario at every step."""
        for _ in range(3):
            run()
        with Steps(sys.maxsize, lambda: None, counts=counts) as whole:
            run()
        deleter_faults()
        give_back()
        gc.collect()
        gc.freeze()
        for n in range(1, whole.taken + 1, whole.taken // STEPS | 1):
            before = held(self.driver)
            sent = Interrupt(n)
            steps = Steps(n, sent.throw, counts=counts)
            wrong = interrupt(steps, run, sent)
            # What an interrupted end leaves as it was: of a `with`, and of use_pools.
            _current.set(())
            cuda.use_pools(None)
            give_back()
            wrong += differences(before, held(self.driver)) + deleter_faults()
            self.interrupted += 1
            if wrong:
                line = f"{name}, step {n}, {steps.where}: {'; '.join(wrong)}"
                self.failures.append(line)

    def consumer(self) -> None:
        """Interrupt a consumer of ours, and give back what it has lost."""
        library = Library()
        taken: list[Raw] = []

        class Watched:
            def __init__(self) -> None:
                self.array = xp.ones((2, 2))

            def __dlpack_device__(self) -> tuple[int, int]:
                return self.array.__dlpack_device__()

            def __dlpack__(self, **keywords: Any) -> object:
                capsule = self.array.__dlpack__(**keywords)
                taken.append(Raw(capsule))
                taken[-1].capsule = None
                return capsule

        def is_lost() -> bool:
            gc.collect()
            now = memory.statistics()
            return now.exported > now.exports_deleted

        def give_back() -> None:
            if taken and is_lost():
                self.lost += 1
                taken[-1].delete()
            taken.clear()

        def run() -> None:
            library.from_dlpack(Watched())

        # What its finalizers say when they are interrupted.
        sys.unraisablehook = lambda unraisable: None
        self.sweep("a consumer", run, in_consumer, give_back)


def main() -> int:
    """Interrupt all of them."""
    with simulated_cuda(force=True) as driver:
        sweep = Sweep(driver)
        for name in NAMES:
            sweep.sweep(name, (SCENARIOS | DEVICES)[name])
        sweep.consumer()
    for line in sweep.failures:
        print(line)
    print(
        f"{sweep.interrupted} exceptions, each of which arrived; consumers that lost "
        f"their tensor, given back for them: {sweep.lost}"
    )
    return 1 if sweep.failures else 0


if __name__ == "__main__":
    sys.exit(main())
