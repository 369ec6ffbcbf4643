"""The sizes in docs/reference/memory-use.md, by Python's own count of NumPy's memory.

Results lie in memory of refarray, which that count leaves out; so do the copies that
`roll` and `count_nonzero` make.
"""

import tracemalloc

import numpy as np
import pytest

import refarray as xp

N = 500_000
ROOM = 100_000  # for what does not grow with the arrays

RANDOM = np.random.default_rng(0)
x = xp.asarray(RANDOM.random(N))
matrix = xp.reshape(x, (100, -1))
eight = xp.reshape(x[: 4**8], (4,) * 8)
integers = xp.asarray(RANDOM.integers(0, 1000, N))
mask = x > 0.5
few = x[:100]

CASES = {
    "zeros": (0, lambda: xp.zeros(N)),
    "ones": (0, lambda: xp.ones(N)),
    "full": (0, lambda: xp.full(N, 2)),
    "eye": (0, lambda: xp.eye(500)),
    "meshgrid": (0, lambda: xp.meshgrid(x[:500], x[:500])),
    "arange": (8, lambda: xp.arange(N)),
    "arange of floats": (8, lambda: xp.arange(0.0, N)),
    "linspace": (8, lambda: xp.linspace(0, 1, N)),
    "linspace, complex": (8, lambda: xp.linspace(0, 1j, N)),
    "tril": (1, lambda: xp.tril(matrix)),
    "asarray of NumPy": (0, lambda: xp.asarray(np.asarray(memoryview(x)), copy=True)),
    "views": (0, lambda: xp.flip(xp.broadcast_to(matrix.T, (2, N // 100, 100)))),
    "reshape": (0, lambda: xp.reshape(matrix.T, (-1,))),
    "concat": (0, lambda: xp.concat([x, x])),
    "concat, flattened": (0, lambda: xp.concat([matrix.T, matrix.T], axis=None)),
    "stack": (0, lambda: xp.stack([x, x], axis=1)),
    "tile": (0, lambda: xp.tile(matrix, (2, 2))),
    "roll": (0, lambda: xp.roll(matrix.T, 3, axis=0)),
    "roll, 8 axes": (0, lambda: xp.roll(xp.flip(eight), 3, axis=(0, 5))),
    "roll, flattened": (0, lambda: xp.roll(matrix.T, 3)),
    "repeat": (0, lambda: xp.repeat(matrix.T, 2, axis=1)),
    "repeat by an array": (16, lambda: xp.repeat(x, xp.astype(mask, xp.int64))),
    "take": (8, lambda: xp.take(x, integers)),
    "take_along_axis": (8, lambda: xp.take_along_axis(x, integers)),
    "argmax": (0, lambda: xp.argmax(x)),
    "argmax of columns": (8, lambda: xp.argmax(matrix, axis=0)),
    "argmax, 8 axes": (8, lambda: xp.argmax(xp.flip(eight), axis=3)),
    "count_nonzero": (0, lambda: xp.count_nonzero(matrix, axis=0)),
    "nonzero": (8, lambda: xp.nonzero(xp.ones_like(mask))),
    "searchsorted": (8, lambda: xp.searchsorted(xp.sort(few), x)),
    "where": (0, lambda: xp.where(mask, x, 0.0)),
    "where, 8 axes": (0, lambda: xp.where(xp.flip(eight) > 0.5, eight, xp.flip(eight))),
    "isin": (50, lambda: xp.isin(x, few)),
    "isin of integers": (20, lambda: xp.isin(integers, integers[:100])),
    "unique_values": (17, lambda: xp.unique_values(x)),
    "unique_counts": (17, lambda: xp.unique_counts(x)),
    "unique_inverse": (33, lambda: xp.unique_inverse(x)),
    "unique_all": (33, lambda: xp.unique_all(x)),
    "sort": (1, lambda: xp.sort(x)),
    "sort, descending": (1, lambda: xp.sort(matrix, axis=0, descending=True)),
    "sort, 8 axes": (1, lambda: xp.sort(xp.flip(eight), axis=2)),
    "sort of integers": (0, lambda: xp.sort(integers, descending=True)),
    "argsort": (8, lambda: xp.argsort(x)),
    "argsort, descending": (16, lambda: xp.argsort(x, descending=True)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_memory_beside_the_result(name):
    size, function = CASES[name]
    function()
    tracemalloc.start()
    try:
        result = function()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    del result
    assert peak <= size * N + ROOM
