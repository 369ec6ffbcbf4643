"""How cost grows with the number of axes, on arrays of one element.

In seconds of a machine on which np.from_dlpack of an array takes 180 ns.

Next: rows_size.py.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.harness import Measure, Row, Summary, at_most, statement
from benchmarks.libraries import libraries, measures, operands

MOST_AXES = 8

# No sums or copies: an axis costs NumPy's kernels alone 30 to 50 ns there.
CODES = {
    "add(x, x)": "xp.add(x, x)",
    "x + 1.0": "x + 1.0",
    "x[...]": "x[...]",
    "reshape(x, (1,))": "xp.reshape(x, (1,))",
}

# Beside the microseconds of the others, what an axis costs cannot be seen.
LIBRARIES = ("refarray", "numpy")


def rows() -> list[Summary]:
    """Return a row for each piece of work: seconds per axis."""
    ends = [np.ones((1,) * ndim) for ndim in (0, MOST_AXES)]
    own = [operands(LIBRARIES, x=x) for x in ends]
    summaries = [
        _summary(work, *(measures(code, arrays) for arrays in own))
        for work, code in CODES.items()
    ]
    return [
        *summaries,
        _summary("from_dlpack(numpy array)", *map(_from_numpy, ends)),
        _summary("numpy.from_dlpack(own array)", *map(_into_numpy, ends)),
    ]


def _summary(work: str, *measured: dict[str, Measure]) -> Summary:
    parts = [Row(work, m) for m in (*measured, _pace())]
    return Summary(f"per axis, {work}", parts, _per_axis, at_most(refarray=15e-9))


# The one target in seconds was set on a machine on which this takes so long.
PACE = 180e-9


def _pace() -> dict[str, Measure]:
    x = np.ones(3)
    return {name: statement("load(x)", load=np.from_dlpack, x=x) for name in LIBRARIES}


def _per_axis(seconds: Sequence[float]) -> float:
    least, most, pace = seconds
    return (most - least) / MOST_AXES * (PACE / pace)


def _from_numpy(x: np.ndarray) -> dict[str, Measure]:
    return {
        name: statement("load(x)", load=libraries()[name].xp.from_dlpack, x=x)
        for name in LIBRARIES
    }


def _into_numpy(x: np.ndarray) -> dict[str, Measure]:
    return {
        name: statement("load(x)", load=np.from_dlpack, x=libraries()[name].array(x))
        for name in LIBRARIES
    }
