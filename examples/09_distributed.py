"""Compute with an array that is cut into chunks, one for each of several processes.

An array is pickled with its elements, dtype and shape, so any pool of processes can
take it. Here the chunks are made where they are used, and only sums travel. For whole
engines see examples/distributed: MPI, which moves the memory of arrays itself, Dask and
Cubed. This is the last example; docs/howto has the pages about single tasks.
"""

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import refarray as xp

ROWS, CHUNKS = 3000, 3


def partial(chunk):
    """Make a band of rows of A, A[i, p] = i ** p; return A.T @ A of it."""
    first = chunk * ROWS // CHUNKS
    i = xp.arange(first, first + ROWS // CHUNKS, dtype=xp.float64)
    a = i[:, None] ** xp.arange(3.0)
    return a.T @ a, os.getpid()


def main():
    """Sum up what the processes return, and compare with the known sums."""
    with ProcessPoolExecutor(CHUNKS, mp_context=get_context("spawn")) as pool:
        parts = list(pool.map(partial, range(CHUNKS)))
    total = sum((part for part, _ in parts[1:]), start=parts[0][0])
    n = ROWS
    print("all of them refarray's:", all(isinstance(p, xp.Array) for p, _ in parts))
    print("sum of 1:", float(total[0, 0]) == n)
    print("sum of i:", float(total[0, 1]) == n * (n - 1) / 2)
    print("sum of i**2:", float(total[1, 1]) == n * (n - 1) * (2 * n - 1) / 6)
    print("none in this process:", os.getpid() not in {pid for _, pid in parts})


if __name__ == "__main__":
    main()
