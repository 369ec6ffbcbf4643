"""dask.array with chunks of refarray, on a cluster of several processes.

    python examples/distributed/dask_workers.py

Each chunk is made on a worker, as an array of refarray; operators and functions of
refarray compute with it there. Cutting the array the other way takes pieces of every
chunk to every worker: they are pickled, sent and joined. What comes back is an array of
refarray again, and it is right.

How-to: docs/howto/dask.md.
"""

import logging
import os
import sys
from collections.abc import Sequence
from typing import Any

# Dask asks NumPy what a dtype is. Workers inherit the environment.
os.environ["REFARRAY_PROFILE"] = "numpy_interop"

import dask.array as da
from distributed import Client, LocalCluster
from distributed.diagnostics.plugin import WorkerPlugin

import refarray as xp

ROWS, COLUMNS = 1200, 8
WORKERS = 3

# What an array of refarray looks like to Dask when there is none yet.
LIKE = xp.empty((0, 0))


class Introduction(WorkerPlugin):
    """Tells Dask, in each process, how to join chunks of refarray, and their sizes.

    Otherwise NumPy joins them, and the result is NumPy's; and Dask, which watches how
    much memory is in use, takes each of them for some hundred bytes.
    """

    def setup(self, worker: Any = None) -> None:
        """Fill in Dask's tables."""
        # Imported here: a table imported above would travel to the worker with this
        # class, and only the copy would be changed.
        from dask.array.dispatch import concatenate_lookup
        from dask.sizeof import sizeof

        concatenate_lookup.register(xp.Array, join)
        sizeof.register(xp.Array, nbytes)


def join(chunks: Sequence[xp.Array], axis: int = 0) -> xp.Array:
    """Join chunks along one axis."""
    return xp.concat(chunks, axis=axis)


def nbytes(chunk: xp.Array) -> int:
    """Return the size of a chunk in bytes."""
    return chunk.nbytes


def make(block_info: Any = None) -> xp.Array:
    """Return one chunk of the array whose element (i, j) is i * COLUMNS + j."""
    (first, last), (left, right) = block_info[None]["array-location"]
    i = xp.arange(first, last, dtype=xp.float64)
    j = xp.arange(left, right, dtype=xp.float64)
    return i[:, None] * COLUMNS + j[None, :]


def who(chunk: xp.Array) -> xp.Array:
    """Return the process that has a chunk, and whether the chunk is refarray's."""
    assert isinstance(chunk, xp.Array), type(chunk)
    return xp.asarray([[os.getpid()]])


def total(chunk: xp.Array, axis: Any, keepdims: bool) -> xp.Array:
    """Sum of a chunk, and of such sums."""
    return xp.sum(chunk, axis=axis, keepdims=keepdims)


def processes(x: da.Array) -> set[int]:
    """Return the processes in which the chunks of `x` are."""
    like = xp.empty((0, 0), dtype=xp.int64)
    owners = x.map_blocks(who, dtype="int64", chunks=(1, 1), meta=like)
    return {int(pid) for pid in xp.reshape(owners.compute(), (-1,))}


def sent(client: Client) -> int:
    """Return how many bytes the workers have sent, to each other and elsewhere."""
    totals = client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
    return sum(totals.values())


def main() -> None:
    """Run the program on the cluster, and check what it computes."""
    cluster = LocalCluster(
        n_workers=WORKERS,
        threads_per_worker=1,
        dashboard_address=":0",  # any free port
        silence_logs=logging.CRITICAL,  # a worker's last words when the cluster ends
    )
    with cluster, Client(cluster) as client:
        client.register_plugin(Introduction())
        Introduction().setup()

        rows = da.map_blocks(
            make, chunks=((ROWS // 6,) * 6, (COLUMNS,)), dtype="float64", meta=LIKE
        )
        scaled = ((rows - 4.0) * 0.5).persist()
        pids = processes(scaled)
        print(f"6 chunks of rows, made and scaled in {len(pids)} processes")

        before = sent(client)
        columns = scaled.rechunk((ROWS, 2)).persist()
        pids |= processes(columns)
        moved = sent(client) - before
        print(f"cut into 4 chunks of columns: {moved} bytes between the processes")

        running = columns.map_blocks(
            xp.cumulative_sum, axis=0, dtype="float64", meta=LIKE
        )
        sums = da.reduction(
            scaled,
            chunk=total,
            aggregate=total,
            axis=0,
            dtype="float64",
            concatenate=True,
            meta=xp.empty((0,)),
        )
        last, sums = running[-1, :].compute(), sums.compute()
        whole = scaled.compute()

    # The sum over i of (i * COLUMNS + j - 4) / 2.
    j = xp.arange(COLUMNS, dtype=xp.float64)
    expected = (ROWS * (ROWS - 1) / 2 * COLUMNS + ROWS * (j - 4)) / 2
    i = xp.arange(ROWS, dtype=xp.float64)[:, None]
    right = {
        "the sums of columns, chunk by chunk": bool(xp.all(sums == expected)),
        "their running sums, each in one process": bool(xp.all(last == expected)),
        "every element": bool(xp.all(whole == (i * COLUMNS + j - 4) / 2)),
        "all results are arrays of refarray": all(
            isinstance(x, xp.Array) for x in (sums, last, whole)
        ),
        "there were several processes, none of them this one": (
            len(pids) > 1 and os.getpid() not in pids
        ),
        "chunks went from one to another": moved > 0,
    }
    for what, is_right in right.items():
        print(f"{'right' if is_right else 'WRONG'}: {what}")
    if not all(right.values()):
        sys.exit("the result is wrong")


if __name__ == "__main__":
    main()
