"""A fork at any moment: in the midst of C, and while other threads exchange.

1. The process forks at the first allocation of the native module that a scenario
   passes, at the second, and so on. Both go on; both must come out with everything
   given back, and the child ends as Python always does.
2. The process forks at random moments while eight threads exchange, allocate and free,
   with a full cache. The child uses memory, the cache and the exchange, and ends.

Next: threads.py.
"""

from __future__ import annotations

import os
import random
import sys
import threading
import time
import warnings

import numpy as np
from balance import deleter_faults, differences, held
from faults import FORK, Faults
from scenarios import SCENARIOS

import refarray as xp
from refarray import memory
from refarray.testing.simulated_driver import SimulatedDriver, simulated_cuda

#: Not those that call the driver in the child: CUDA itself forbids that.
NAMES = [name for name in SCENARIOS if name != "a device"]
FORKS, THREADS = 300, 8


def everywhere(name: str, driver: SimulatedDriver) -> tuple[int, list[str]]:
    """Fork at each allocation of a scenario; return how often, and what went wrong."""
    faults = Faults()
    run = SCENARIOS[name]
    for _ in range(3):
        run()
    deleter_faults()
    failures = []
    n, reached = 0, True
    while reached:
        n += 1
        before = held(driver)
        faults.arm(n, FORK)
        run()
        reached = faults.disarm()
        wrong = differences(before, held(driver)) + deleter_faults()
        if reached and faults.child() == 0:
            run()
            sys.exit(1 if wrong else 0)
        if reached:
            status = os.waitstatus_to_exitcode(os.waitpid(faults.child(), 0)[1])
            wrong += [f"exit status {status} of the child"] if status else []
        if wrong:
            failures.append(f"{name}, fork {n}: {'; '.join(wrong)}")
    return n - 1, failures


def in_a_crowd() -> list[str]:
    """Fork while other threads exchange; return what went wrong."""
    stop = threading.Event()

    def work(seed: int) -> None:
        choose = random.Random(seed)
        while not stop.is_set():
            x = xp.full((choose.choice([1, 100, 5000, 300_000]),), 1.0)
            np.from_dlpack(xp.from_dlpack(np.from_dlpack(x)) + 1.0)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(THREADS)]
    for thread in threads:
        thread.start()
    choose = random.Random(1)
    failures = []
    for k in range(FORKS):
        time.sleep(choose.random() / 500)
        child = os.fork()
        if child == 0:
            x = xp.ones((300_000,)) + 1.0
            assert float(np.from_dlpack(xp.from_dlpack(x))[-1]) == 2.0
            memory.empty_cache()
            assert memory.statistics().cached_bytes == 0
            sys.exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status:
            failures.append(f"fork {k} in a crowd: exit status {status} of the child")
    stop.set()
    for thread in threads:
        thread.join()
    return failures


def main() -> int:
    """Fork everywhere."""
    warnings.simplefilter("ignore")  # of a fork beside threads: that is the point
    memory.set_cache_limit(1 << 20)
    with simulated_cuda(force=True) as driver:
        results = [everywhere(name, driver) for name in NAMES]
    failures = [line for _, lines in results for line in lines]
    memory.set_cache_limit(64 << 20)
    failures += in_a_crowd()
    for line in failures:
        print(line)
    forks = sum(n for n, _ in results)
    print(f"{forks} forks at allocations, {FORKS} beside {THREADS} threads")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
