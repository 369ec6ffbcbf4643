"""How cost grows: with the number of axes, and with the bytes of work.

Next: rows_memory.py.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.harness import Measure, Row, Summary, at_most, statement
from benchmarks.libraries import ALL, libraries, measures

MOST_AXES = 8

# Beside microseconds, what an axis costs cannot be seen.
FEW = ("refarray", "numpy")

BY_AXES = {
    "add(x, x)": "xp.add(x, x)",
    "x[...]": "x[...]",
    "sum(x)": "xp.sum(x)",
    "reshape(x, (1,))": "xp.reshape(x, (1,))",
    "asarray(x, copy=True)": "xp.asarray(x, copy=True)",
}

BY_SIZE = {
    "add": "xp.add(x, x)",
    "sum": "xp.sum(x)",
    "copy": "xp.asarray(x, copy=True)",
}

# Of float64; before them, each curve has a point of a single byte.
ELEMENTS = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 12_500_000)


def rows() -> list[Row | Summary]:
    """Return the growth per axis, then the curves by size and what they come to."""
    return [*_by_axes(), *_by_size()]


def _by_axes() -> list[Summary]:
    ends = [np.ones((1,) * ndim) for ndim in (0, MOST_AXES)]
    measured = {
        work: [measures(code, {"x": x}, only=FEW) for x in ends]
        for work, code in BY_AXES.items()
    }
    measured["from_dlpack(numpy array)"] = [_from_numpy(x, FEW) for x in ends]
    measured["numpy.from_dlpack(own array)"] = [_into_numpy(x, FEW) for x in ends]
    return [
        Summary(
            f"per axis, {work}",
            [Row(work, m) for m in pair],
            _per_axis,
            at_most(refarray=15e-9),
        )
        for work, pair in measured.items()
    ]


def _per_axis(seconds: Sequence[float]) -> float:
    least, most = seconds
    return (most - least) / MOST_AXES


def _by_size() -> list[Row | Summary]:
    arrays = [np.ones(1, "uint8"), *(np.ones(n) for n in ELEMENTS)]
    curves = {
        work: [_point(work, x.nbytes, measures(code, {"x": x})) for x in arrays]
        for work, code in BY_SIZE.items()
    }
    curves["from_dlpack"] = [
        _point("from_dlpack", x.nbytes, _from_numpy(x)) for x in arrays
    ]
    sizes = [x.nbytes for x in arrays]

    def steepest(seconds: Sequence[float]) -> float:
        """The most that a step in size costs beyond its share."""
        steps = zip(seconds, seconds[1:], sizes, sizes[1:], strict=False)
        return max((s2 / s1) / (n2 / n1) for s1, s2, n1, n2 in steps)

    summaries = [
        # NumPy too is slower per byte where a cache of the processor ends.
        Summary(f"steepest step, {work}", points, steepest, at_most(numpy=1.15), "x")
        for work, points in curves.items()
    ]
    return [*(point for points in curves.values() for point in points), *summaries]


def _point(work: str, nbytes: int, measured: Mapping[str, Measure]) -> Row:
    return Row(f"{work}, {nbytes:,} bytes", measured, point=(work, nbytes))


def _from_numpy(
    x: np.ndarray[Any, Any], names: Collection[str] = (*ALL, "tvm-ffi")
) -> dict[str, Measure]:
    return {
        name: statement("load(x)", load=library.xp.from_dlpack, x=x)
        for name, library in libraries().items()
        if name in names
    }


def _into_numpy(x: np.ndarray[Any, Any], names: Collection[str]) -> dict[str, Measure]:
    return {
        name: statement("load(x)", load=np.from_dlpack, x=library.array(x))
        for name, library in libraries().items()
        if name in names
    }
