"""Memory: what a small array takes, and what the cache keeps. Counts, not times.

Next: rows_threads.py.
"""

from __future__ import annotations

import sys

import numpy as np

import refarray
from benchmarks.harness import Row, at_most

LIMIT = 16 << 20


def rows() -> list[Row]:
    """Return the rows."""
    return [
        Row(
            "an array of 3 elements",
            {"refarray": _array_bytes, "numpy": lambda: sys.getsizeof(np.ones(3))},
            at_most(numpy=3.0),
            unit="B",
        ),
        Row(
            "cached beyond the limit",
            {"refarray": _beyond_limit},
            at_most(refarray=0),
            unit="B",
        ),
        Row(
            "cached once it is emptied",
            {"refarray": _after_emptying},
            at_most(refarray=0),
            unit="B",
        ),
    ]


def _array_bytes() -> float:
    """The result of an addition, and every object and block that is its alone."""
    operand = refarray.ones(3)
    before = refarray.memory.statistics().live_bytes
    x = refarray.add(operand, operand)
    block = refarray.memory.statistics().live_bytes - before
    objects = [x, x._shape, x._buffer, x._view]
    return block + sum(map(sys.getsizeof, objects))


def _beyond_limit() -> float:
    """Free many sizes, large ones too, into a cache that has room for few of them."""
    limit = refarray.memory.statistics().cache_limit
    refarray.memory.set_cache_limit(LIMIT)
    try:
        most = 0
        for nbytes in [
            *range(0, 1 << 20, 5_000),
            *range(1 << 20, 2 * LIMIT, LIMIT // 8),
        ]:
            refarray.zeros(nbytes, dtype=refarray.uint8)
            most = max(most, refarray.memory.statistics().cached_bytes)
        return max(0, most - LIMIT)
    finally:
        refarray.memory.set_cache_limit(limit)


def _after_emptying() -> float:
    refarray.zeros(1_000_000)
    refarray.memory.empty_cache()
    return refarray.memory.statistics().cached_bytes
