"""Each allocation of the native module fails once: nothing lost, nothing freed twice.

    python tests/stress/run.py allocations

Each scenario is run with the first allocation that it passes failing, then the second,
and so on, until it ends without reaching the next. What it raises must be MemoryError,
or what it raises anyway; memory, tensors and references must be as before.

Next: imports.py, which this one runs.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE
from typing import Any

from balance import deleter_faults, differences, held
from faults import Faults, Place, places
from scenarios import SCENARIOS

from refarray import memory
from refarray.testing.simulated_driver import SimulatedDriver, simulated_cuda

#: Of the cache, in bytes: without and with one.
LIMITS = (0, 1 << 20)


class Sweep:
    """All scenarios, and what was found."""

    def __init__(self, driver: SimulatedDriver) -> None:
        self.driver = driver
        self.faults = Faults()
        self.cases = 0
        self.reached: set[tuple[str, str, int]] = set()
        self.failures: list[str] = []

    def scenario(self, name: str, run: Callable[[], Any]) -> None:
        """Run one scenario until no place is left to fail."""
        for _ in range(3):
            run()  # what is made once is there now
        deleter_faults()
        gc.collect()
        gc.freeze()
        n = 0
        failed = True
        while failed:
            n += 1
            before = held(self.driver)
            error = self.attempt(n, run)
            failed = self.faults.disarm()
            if failed:
                self.cases += 1
                self.reached.add(self.faults.place())
            wrong = differences(before, held(self.driver)) + deleter_faults()
            if error is not None and error != "MemoryError":
                wrong.append(error)
            if wrong:
                place = "{} {} line {}".format(*self.faults.place())
                self.failures.append(f"{name}, {n}, {place}: {'; '.join(wrong)}")

    def imports(self) -> None:
        """Let what happens at import fail; in a process that has not imported yet."""
        program = Path(__file__).with_name("imports.py")
        result = subprocess.run([sys.executable, program], stdout=PIPE, text=True)
        reached = json.loads(result.stdout)
        self.cases += len(reached)
        self.reached |= {(file, name, line) for file, name, line in reached}
        if result.returncode:
            self.failures.append("at import")

    def attempt(self, n: int, run: Callable[[], Any]) -> str | None:
        """Run a scenario in which the n-th allocation fails; return what it raised."""
        try:
            self.faults.arm(n)
            run()
        except MemoryError:
            return "MemoryError"
        except BaseException as error:
            return f"{type(error).__name__}: {error}"
        return None


def main() -> int:
    """Run all scenarios, without a cache and with one."""
    chosen = sys.argv[1:] or list(SCENARIOS)
    with simulated_cuda(force=True) as driver:
        sweep = Sweep(driver)
        for limit in LIMITS:
            memory.set_cache_limit(limit)
            for name in chosen:
                sweep.scenario(name, SCENARIOS[name])
    sweep.imports()
    for line in sweep.failures:
        print(line)
    if not sys.argv[1:]:
        for place in places():
            if not is_reached(place, sweep.reached):
                sweep.failures.append("")
                print(f"not reached: {place}")
    print(f"{sweep.cases} failures, at each of {len(places())} places")
    return 1 if sweep.failures else 0


def is_reached(place: Place, reached: set[tuple[str, str, int]]) -> bool:
    """Whether an allocation failed at this place."""
    return any(
        file == place.file and name == place.name and place.first <= line <= place.last
        for file, name, line in reached
    )


if __name__ == "__main__":
    sys.exit(main())
