"""Two threads: what a call costs when another thread makes the same ones.

The interpreter runs one thread at a time, so a call takes about twice as long. More
than that would be due to a library: each time it lets go of the interpreter for a piece
of work that is too short, the other thread takes it.

Next: rows_breakdown.py.
"""

from __future__ import annotations

import threading
import time
import timeit
from collections.abc import Sequence

import numpy as np

from benchmarks.harness import Measure, Row, Summary, at_most
from benchmarks.libraries import libraries

CODES = {
    "add(x, x)": "xp.add(x, x)",
    "sum(x)": "xp.sum(x)",
    "x[1:3]": "x[1:3]",
    "from_dlpack(numpy array)": "xp.from_dlpack(n)",
    "numpy.from_dlpack(own array)": "load(x)",
}

# Long enough for the threads to take turns, which they do every 5 ms.
SAMPLE_SECONDS = 0.01


def rows() -> list[Summary]:
    """Return a row for each statement: a call among two threads in units of one."""
    return [_under_two_threads(work, code) for work, code in CODES.items()]


def _under_two_threads(work: str, code: str) -> Summary:
    values = np.arange(3.0)
    alone: dict[str, Measure] = {}
    together: dict[str, Measure] = {}
    for name in ("refarray", "numpy"):
        library = libraries()[name]
        names = {"xp": library.xp, "x": library.array(values), "n": values}
        timer = timeit.Timer(code, globals={**names, "load": np.from_dlpack})
        loops = max(1, int(SAMPLE_SECONDS * 1000 / timer.timeit(1000)))
        alone[name] = _measure(timer, loops, 1)
        together[name] = _measure(timer, loops, 2)

    def slowdown(seconds: Sequence[float]) -> float:
        one, two = seconds
        return two / one

    work = f"2 threads / 1 thread, {work}"
    parts = [Row(work, alone), Row(work, together)]
    # As NumPy; a tenth is what two runs of the same differ by.
    return Summary(work, parts, slowdown, at_most(numpy=1.1), unit="x")


def _measure(timer: timeit.Timer, loops: int, n_threads: int) -> Measure:
    """Seconds per call of each thread, while all of them make `loops` calls."""

    def measure() -> float:
        threads = [
            threading.Thread(target=timer.timeit, args=(loops,))
            for _ in range(n_threads)
        ]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return (time.perf_counter() - start) / loops

    return measure
