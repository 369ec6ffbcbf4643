"""How cost grows with the bytes of work, from one byte on: the curves of the plot.

Next: rows_memory.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.harness import Measure, Row, Summary, at_most, statement
from benchmarks.libraries import libraries, measures, operands

CODES = {
    "add": "xp.add(x, x)",
    "sum": "xp.sum(x)",
    "copy": "xp.asarray(x, copy=True)",
}

# Of float64; before them, each curve has a point of a single byte.
ELEMENTS = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 12_500_000)


def rows() -> list[Row | Summary]:
    """Return the points of all curves, and what each curve comes to."""
    arrays = [np.ones(1, "uint8"), *(np.ones(n) for n in ELEMENTS)]
    own = [operands(x=x) for x in arrays]
    curves = {
        work: [
            _point(work, x, measures(code, o)) for x, o in zip(arrays, own, strict=True)
        ]
        for work, code in CODES.items()
    }
    curves["from_dlpack"] = [_point("from_dlpack", x, _from_numpy(x)) for x in arrays]
    sizes = [x.nbytes for x in arrays]

    def steepest(seconds: Sequence[float]) -> float:
        """The most that a step in size costs in units of its share, which is 1."""
        steps = zip(seconds, seconds[1:], sizes, sizes[1:], strict=False)
        return max(1.0, *((s2 / s1) / (n2 / n1) for s1, s2, n1, n2 in steps))

    summaries = [
        # NumPy too is slower per byte where a cache of the processor ends, by up to 3.
        Summary(f"steepest step, {work}", points, steepest, at_most(numpy=1.5), "x")
        for work, points in curves.items()
    ]
    return [*(point for points in curves.values() for point in points), *summaries]


def _point(work: str, x: np.ndarray, measured: Mapping[str, Measure]) -> Row:
    return Row(f"{work}, {x.nbytes} bytes", measured, point=(work, x.nbytes))


def _from_numpy(x: np.ndarray) -> dict[str, Measure]:
    return {
        name: statement(f"load(x){library.finished}", load=library.xp.from_dlpack, x=x)
        for name, library in libraries().items()
    }
