"""Processes in a ring exchange the borders of an array; MPI moves refarray's memory.

    mpiexec -n 3 python examples/distributed/mpi_ring.py

Heat spreads over a torus, in explicit steps. Each process has a band of rows, and the
last row of each neighbour in a row of its own below and above. Before each step these
border rows travel around the ring, and after the last one all processes sum up the heat
that they have. mpi4py reads and fills the memory of the arrays themselves: it gets them
through DLPack, the protocol that would hand it the memory of a GPU as well.

What is checked: the field, against the solution, which a wave on a torus has in closed
form; the heat, which stays what it was; the memory, which is lent and never copied.

How-to: docs/howto/mpi.md.
"""

import math
import sys
from typing import Any

from mpi4py import MPI

import refarray as xp

ROWS = 24  # of each process
COLUMNS = 32
STEPS = 50
RATE = 0.2


class Lent:
    """An array as a stranger sees it who knows nothing but DLPack.

    mpi4py would rather have a buffer, and an array on the host is one: `Send(x)` works
    as it is. Arrays on a GPU have DLPack alone, and so has this.
    """

    def __init__(self, x: xp.Array) -> None:
        self.x = x

    def __dlpack__(self, **wishes: Any) -> Any:
        return self.x.__dlpack__(**wishes)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.x.__dlpack_device__()


def wave(first_row: int, rows: int, all_rows: int) -> xp.Array:
    """Some rows of 1 + sin * cos, a wave that keeps its shape and loses height."""
    i = xp.arange(first_row, first_row + rows, dtype=xp.float64)
    j = xp.arange(COLUMNS, dtype=xp.float64)
    along = xp.sin(i * (2 * math.pi / all_rows))
    across = xp.cos(j * (2 * math.pi * 2 / COLUMNS))
    return 1 + along[:, None] * across[None, :]


def exchange_borders(ring: MPI.Comm, field: xp.Array) -> None:
    """Fill the first and the last row with the nearest rows of the neighbours.

    Each row is a view of the field, and received straight into it.
    """
    below, above = (ring.rank - 1) % ring.size, (ring.rank + 1) % ring.size
    ring.Sendrecv(
        Lent(field[-2, :]), dest=above, recvbuf=Lent(field[0, :]), source=below
    )
    ring.Sendrecv(
        Lent(field[1, :]), dest=below, recvbuf=Lent(field[-1, :]), source=above
    )


def step(field: xp.Array) -> None:
    """Let heat flow between neighbours, for one step of time."""
    middle = field[1:-1, :]
    flow = field[:-2, :] + field[2:, :] - 4 * middle
    flow += xp.roll(middle, 1, axis=1) + xp.roll(middle, -1, axis=1)
    field[1:-1, :] = middle + RATE * flow


def heat(ring: MPI.Comm, field: xp.Array) -> float:
    """Sum of the rows of all processes."""
    own, total = xp.sum(field[1:-1, :]), xp.zeros(())
    ring.Allreduce(Lent(own), Lent(total), op=MPI.SUM)
    return float(total)


def main() -> None:
    """Run, check, and let the first process tell what happened."""
    ring = MPI.COMM_WORLD
    all_rows = ring.size * ROWS
    first_row = ring.rank * ROWS
    field = xp.zeros((ROWS + 2, COLUMNS))
    field[1:-1, :] = wave(first_row, ROWS, all_rows)
    before = heat(ring, field)
    for _ in range(STEPS):
        exchange_borders(ring, field)
        step(field)
    after = heat(ring, field)

    # A wave is an eigenvector of the step: its height shrinks by one factor.
    curvature = 4 - 2 * math.cos(2 * math.pi / all_rows)
    curvature -= 2 * math.cos(2 * math.pi * 2 / COLUMNS)
    height = (1 - RATE * curvature) ** STEPS
    expected = 1 + height * (wave(first_row, ROWS, all_rows) - 1)
    error = xp.max(xp.abs(field[1:-1, :] - expected))
    worst = xp.zeros(())
    ring.Allreduce(Lent(error), Lent(worst), op=MPI.MAX)

    counts = xp.memory.statistics()
    lent = ring.gather((counts.exported, counts.exports_deleted, counts.imported))
    failed = float(worst) > 1e-12 or abs(after - before) > 1e-9
    if lent is not None:
        print(f"{ring.size} processes, {MPI.Get_library_version().splitlines()[0]}")
        print(f"{STEPS} steps on {all_rows} x {COLUMNS} numbers; from the closed form")
        print(f"the field differs by at most {float(worst):.1e}")
        print(f"heat before {before:.6f}, after {after:.6f}, by Allreduce")
        for rank, (exported, deleted, imported) in enumerate(lent):
            print(f"process {rank}: lent memory {exported} times, back {deleted} times")
            # Two sums and the error, each from one array to another; four borders a
            # step.
            failed |= (exported, deleted, imported) != (6 + 4 * STEPS,) * 2 + (0,)
    if ring.bcast(failed):
        sys.exit("the result is wrong")


if __name__ == "__main__":
    main()
