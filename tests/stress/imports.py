"""`import refarray` with each allocation of the native module failing once.

For each one a child process: the import must end with ImportError or MemoryError, and
so must the process: in order. Prints the places as JSON, for allocations.py.

Next: interrupts.py.
"""

from __future__ import annotations

import json
import os
import sys
import warnings

import numpy  # noqa: F401 (not to be imported again and again)
from faults import Faults

NOT_REACHED, WRONG = 3, 4


def attempt(n: int, report: int) -> int:
    """Import refarray, in this process, with the n-th allocation failing."""
    faults = Faults()
    faults.arm(n)
    try:
        import refarray

        reached = faults.disarm()
        return WRONG if reached or refarray.ones((1,)).size != 1 else NOT_REACHED
    except (ImportError, MemoryError):
        faults.disarm()
        os.write(report, json.dumps(faults.place()).encode())
        return 0
    except BaseException:
        return WRONG


def main() -> int:
    """Let one after the other fail."""
    reached = []
    n, status = 0, 0
    while status == 0:
        n += 1
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            with open(os.devnull, "w") as nowhere:  # noqa: PTH123
                os.dup2(nowhere.fileno(), 2)  # what is printed when an import fails
            return attempt(n, write)  # and then Python ends as it always does
        os.close(write)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        with os.fdopen(read) as report:
            text = report.read()
        if status == 0:
            reached.append(json.loads(text))
    print(json.dumps(reached))
    if status != NOT_REACHED:
        print(f"exit status {status} with allocation {n} failing", file=sys.stderr)
    return 0 if status == NOT_REACHED else 1


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
