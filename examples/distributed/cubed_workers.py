"""A Cubed program whose chunks are arrays of refarray, on several worker processes.

    python examples/distributed/cubed_workers.py

Cubed computes with arrays that are larger than memory: it plans what each task may
take before anything runs, and chunks pass from task to task through files of Zarr's.
Here A has the powers of 0, 1, 2, ... in its columns, and A.T @ A is summed up from
blocks of rows. The right answer is known in closed form: the sum of the i**p is a
polynomial.

How-to: docs/howto/cubed.md.
"""

import os
import sys
import tempfile
import time
from fractions import Fraction
from math import comb

# Both are read at import, and inherited by the workers. Cubed asks NumPy what a dtype
# is, and how many bytes it has.
os.environ["CUBED_BACKEND_ARRAY_API_MODULE"] = "refarray"
os.environ["REFARRAY_PROFILE"] = "numpy_interop"

import cubed
import cubed.array_api as cp

import refarray as xp

ROWS, POWERS = 4000, 4
BLOCK = 500
WORKERS = 3


def powers(block: xp.Array) -> xp.Array:
    """Return the powers 0, 1, ... of the numbers in a block of one column."""
    assert isinstance(block, xp.Array), type(block)
    return block ** xp.arange(POWERS, dtype=xp.float64)


def who(block: xp.Array) -> xp.Array:
    """Return the process that works on a block."""
    assert isinstance(block, xp.Array), type(block)
    time.sleep(0.5)  # while the other workers start, one of them could do it all
    return xp.full((1, 1), os.getpid())


def sum_of_powers(p: int) -> Fraction:
    """Sum of i**p for i from 0 to ROWS - 1, by Bernoulli's formula."""
    bernoulli: list[Fraction] = []
    for m in range(p + 1):
        known = sum((comb(m + 1, k) * b for k, b in enumerate(bernoulli)), Fraction(0))
        bernoulli.append((Fraction(m == 0) * (m + 1) - known) / (m + 1))
    terms = (comb(p + 1, k) * b * ROWS ** (p + 1 - k) for k, b in enumerate(bernoulli))
    return sum(terms, Fraction(0)) / (p + 1)


def main() -> None:
    """Run the program, and check what it computes."""
    with tempfile.TemporaryDirectory() as folder:
        spec = cubed.Spec(
            folder,
            allowed_mem="100MB",
            executor_name="processes",
            executor_options={"max_workers": WORKERS},
        )
        i = cp.arange(ROWS, dtype=cp.float64, chunks=BLOCK, spec=spec)
        column = cp.expand_dims(i, axis=1)
        matrix = cubed.map_blocks(
            powers, column, dtype=cp.float64, chunks=((BLOCK,) * 8, (POWERS,))
        )
        squares = cp.matmul(cp.permute_dims(matrix, (1, 0)), matrix)
        highest = cp.max(matrix, axis=0)
        owners = cubed.map_blocks(who, column, dtype=cp.int64, chunks=((1,) * 8, (1,)))
        squares, highest, owners = (
            xp.asarray(x) for x in cubed.compute(squares, highest, owners)
        )
    pids = {int(pid) for pid in xp.reshape(owners, (-1,))}
    print(f"{ROWS} rows in blocks of {BLOCK}, in {len(pids)} processes")
    worst = max(
        abs(Fraction(float(squares[j, k])) / sum_of_powers(j + k) - 1)
        for j in range(POWERS)
        for k in range(POWERS)
    )
    print(
        f"A.T @ A differs from the exact sums by at most {float(worst):.1e}, relative"
    )
    right = {
        "the sums": worst < 1e-14,
        "the highest powers": all(
            float(highest[j]) == (ROWS - 1) ** j for j in range(POWERS)
        ),
        "there were several processes, none of them this one": (
            len(pids) > 1 and os.getpid() not in pids
        ),
    }
    for what, is_right in right.items():
        print(f"{'right' if is_right else 'WRONG'}: {what}")
    if not all(right.values()):
        sys.exit("the result is wrong")


if __name__ == "__main__":
    main()
