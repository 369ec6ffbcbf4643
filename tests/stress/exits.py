"""The interpreter ends at every step, in a child process for each.

1. Another thread is stopped at the first line of refarray that a scenario executes, at
   the second, and so on; while it stands there, Python ends as it always does.
2. The C function exit() is called at the first allocation of the native module, at the
   second, and so on: everything is alive, and the GIL is held.

The child must end with the status that it was given.

Next: forks.py.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from faults import EXIT, Faults
from scenarios import SCENARIOS
from steps import Steps

from refarray import memory

NAMES = [
    "export",
    "import of our own",
    "import from numpy",
    "import of forged tensors",
    "another library",
    "memory of any kind",
    "memory that is lent",
    "exchange in c",
    "a trace",
    "operators",
]
REACHED, ENDED = 0, 9


def stop_a_thread(n: int, run: Callable[[], Any]) -> int:
    """Stop a thread at its n-th line; return how the process is to end."""
    here = threading.Event()

    def stay() -> None:
        here.set()
        threading.Event().wait()

    steps = Steps(n, stay, event="line")

    def work() -> None:
        with steps:
            run()
        here.set()

    threading.Thread(target=work, daemon=True).start()
    here.wait()
    return REACHED if steps.reached else ENDED


def exit_in_c(n: int, run: Callable[[], Any]) -> int:
    """End at the n-th allocation."""
    Faults().arm(n, EXIT)
    run()
    return ENDED


def sweep(end: Callable[[int, Callable[[], Any]], int], name: str) -> tuple[int, str]:
    """Let processes end at each step; return how many, and what went wrong."""
    run = SCENARIOS[name]
    for _ in range(3):
        run()
    n, status = 0, REACHED
    while status == REACHED:
        n += 1
        child = os.fork()
        if child == 0:
            sys.exit(end(n, run))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    wrong = f"{name}, step {n} of {end.__name__}: exit status {status}"
    return n - 1, "" if status == ENDED else wrong


def main() -> int:
    """Let processes end everywhere."""
    memory.set_cache_limit(1 << 20)  # with memory in it
    results = [sweep(end, name) for end in (stop_a_thread, exit_in_c) for name in NAMES]
    failures = [wrong for _, wrong in results if wrong]
    for line in failures:
        print(line)
    print(f"{sum(n for n, _ in results)} processes, each of which ended in order")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
