"""The sizes in docs/reference/memory-use.md, by Python's own count of NumPy's memory.

Results lie in memory of refarray, which that count leaves out; so do the copies that
`roll`, `count_nonzero`, `var` and `diff` make.
"""

import tracemalloc

import numpy as np
import pytest

import refarray as xp

N = 500_000
ROOM = 150_000  # for what does not grow with the arrays

RANDOM = np.random.default_rng(0)
x = xp.asarray(RANDOM.random(N))
matrix = xp.reshape(x, (100, -1))
eight = xp.reshape(x[: 4**8], (4,) * 8)
integers = xp.asarray(RANDOM.integers(0, 1000, N))
mask = x > 0.5
few = x[:100]
numbers = xp.asarray(RANDOM.random(N) + 1j)
square = xp.asarray(RANDOM.random((500, 500)))  # half as many elements as the others

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
    "sum": (0, lambda: xp.sum(matrix, axis=0)),
    "sum, 8 axes": (0, lambda: xp.sum(xp.flip(eight), axis=(0, 3, 5))),
    "sum of narrow integers": (1, lambda: xp.sum(xp.astype(mask, xp.int8))),
    "prod": (0, lambda: xp.prod(matrix.T, axis=1)),
    "mean": (0, lambda: xp.mean(matrix, axis=0)),
    "max": (0, lambda: xp.max(matrix.T, axis=0)),
    "var": (0, lambda: xp.var(matrix, axis=1)),
    "all": (0, lambda: xp.all(x)),
    "any": (0, lambda: xp.any(matrix, axis=0)),
    "diff": (0, lambda: xp.diff(x, n=3)),
    "cumulative_sum": (0, lambda: xp.cumulative_sum(x, include_initial=True)),
    "cumulative_prod": (0, lambda: xp.cumulative_prod(xp.flip(eight), axis=2)),
    "astype": (0, lambda: xp.astype(x, xp.int32)),
    "clip": (0, lambda: xp.clip(x, 0.1, 0.9)),
    "floor_divide": (2, lambda: x // x),
    "pow": (4, lambda: x**x),
    "complex expm1": (4, lambda: xp.expm1(numbers)),
    "complex log1p": (64, lambda: xp.log1p(numbers)),
    "masked": (12, lambda: x[mask]),
    "matmul": (0, lambda: square @ square),
    "matmul, strided": (4, lambda: square.T @ square[:, ::-1]),
    "inv": (4, lambda: xp.linalg.inv(square)),
    "solve": (4, lambda: xp.linalg.solve(square, square)),
    "svd": (9, lambda: xp.linalg.svd(square)),
    "qr": (13, lambda: xp.linalg.qr(square)),
    "eigh": (5, lambda: xp.linalg.eigh(square + square.T)),
    "vector_norm": (16, lambda: xp.linalg.vector_norm(x)),
    "fft": (0, lambda: xp.fft.fft(numbers)),
    "rfft": (0, lambda: xp.fft.rfft(x)),
}  # fmt: skip

# From version 2.5 on, NumPy has Python count the working memory of LAPACK and of stable
# sorting too.
if np.lib.NumpyVersion(np.__version__) >= "2.5.0":
    WORK = {
        **{"argsort": 4, "argsort, descending": 4},
        **{"inv": 8, "solve": 8, "svd": 24, "qr": 4, "eigh": 12},
    }
    for name, work in WORK.items():
        CASES[name] = (CASES[name][0] + work, CASES[name][1])


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
