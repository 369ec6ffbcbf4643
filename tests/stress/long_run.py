"""Exchange and compute for a long time: memory stays as it is. `make long-run`.

    python tests/stress/long_run.py MINUTES

One round is every kind of function, exchange, view, refusal and pickle, on arrays of
one element to three megabytes, first here and then on four new threads at once. After
a tenth of the time the process has all that it needs: from then on its resident memory,
read after each round, has to stay within 5 MiB, and at the end nothing may be left.
What refarray's cache and glibc keep of freed memory is given back before it is read: it
comes and goes by tens of MiB, and would hide what is lost. Linux, for /proc and glibc.
Exit status 1 if anything is lost.
"""

from __future__ import annotations

import ctypes
import gc
import mmap
import pickle
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

import refarray as xp
from refarray import dlpack, memory
from refarray.testing.standard.functions import FUNCTIONS

M_ARENA_MAX, M_MMAP_THRESHOLD = -8, -3  # of malloc.h
_libc = ctypes.CDLL(None)

ALLOWED = 5 * 2**20
SIZES = (1, 100, 10_000, 100_000)


# ---- Computing ---------------------------------------------------------------------


def elementwise(n: int) -> Iterator[Callable[[], Any]]:
    """Yield a call of each elementwise function, for each dtype that it takes."""
    for name, function in FUNCTIONS.items():
        for dtype in function.dtypes if n <= 100 else function.dtypes[-1:]:
            x = xp.ones(n, dtype=getattr(xp, dtype))
            operands = (x,) * function.operands
            yield lambda name=name, operands=operands: getattr(xp, name)(*operands)


def others(n: int) -> list[Callable[[], Any]]:
    """Return calls of functions of all other kinds."""
    x = xp.linspace(0.0, 1.0, 4 * n)
    m, i = xp.reshape(x, (2, -1)), xp.arange(4 * n)
    small = xp.eye(3) + xp.ones((3, 3))
    return [
        lambda: (xp.zeros(n), xp.ones(n), xp.full(n, 2), xp.empty(n), xp.eye(3)),
        lambda: (xp.zeros_like(x), xp.full_like(x, 3.0), xp.tril(m), xp.triu(m)),
        lambda: xp.meshgrid(i[:3], i[:4]),
        lambda: (xp.sum(m, axis=0), xp.prod(x), xp.mean(m), xp.std(x), xp.var(m)),
        lambda: (xp.min(x), xp.max(m, axis=1), xp.any(i), xp.all(m > 0, axis=0)),
        lambda: (xp.cumulative_sum(x), xp.diff(x), xp.argmax(x), xp.count_nonzero(i)),
        lambda: (xp.sort(x), xp.argsort(i, descending=True), xp.searchsorted(x, x)),
        lambda: (xp.unique_values(i), xp.unique_all(x), xp.nonzero(i)),
        lambda: (xp.concat([x, x]), xp.stack([x, x]), xp.roll(m, 1), xp.tile(x, (2,))),
        lambda: (
            xp.repeat(x, 2),
            xp.flip(m),
            xp.squeeze(x[None, :], axis=0),
            xp.unstack(m),
        ),
        lambda: (xp.where(i > 1, x, x), xp.take(x, i), x[i > 2], m[:, ::2], x[i]),
        lambda: (
            m @ xp.matrix_transpose(m),
            xp.vecdot(x, x),
            xp.tensordot(m, m, axes=2),
        ),
        lambda: (xp.astype(x, xp.float32), xp.astype(i, xp.complex64), float(x[0])),
        lambda: (xp.linalg.inv(small), xp.linalg.svd(small), xp.linalg.qr(small)),
        lambda: (
            xp.linalg.eigh(small),
            xp.linalg.solve(small, small),
            xp.linalg.det(small),
        ),
        lambda: (xp.fft.fft(xp.astype(x, xp.complex128)), xp.fft.rfft(x)),
        lambda: (str(x), repr(m), xp.finfo(x), xp.result_type(x, 1.0)),
    ]


# ---- Exchanging --------------------------------------------------------------------


def to_numpy_and_back(n: int) -> None:
    """Both libraries hold the memory, and let go in either order."""
    for dtype in (xp.bool, xp.int16, xp.float64, xp.complex128):
        x = xp.zeros((2, n), dtype=dtype)
        a = np.from_dlpack(x)
        y = xp.from_dlpack(a[:, ::-1])
        del x, a
        y[...] = xp.ones((), dtype=dtype)
        z = xp.from_dlpack(np.ones(n, dtype=str(dtype)), copy=True)
        assert bool(xp.all(xp.equal(y[0, :], z)))


def capsules(n: int) -> None:
    """Capsules that are taken, dropped, looked at, and taken twice."""
    x = xp.ones(n)
    taken, dropped, looked = (x.__dlpack__(max_version=(1, 3)) for _ in range(3))
    y = dlpack.from_capsule(taken)
    dlpack.inspect(looked)
    refused(ValueError, lambda: dlpack.from_capsule(taken))
    refused(BufferError, lambda: xp.broadcast_to(y, (2, n)).__dlpack__())
    del dropped
    dlpack.Tensor.from_dlpack(y).__dlpack__(copy=True)
    with dlpack.trace() as trace:
        np.from_dlpack(trace.watch(y))
    str(trace)


def views(n: int) -> None:
    """Views of views, through the buffer protocol as well."""
    x = xp.reshape(xp.arange(4 * n), (2, 2, n))
    part = xp.permute_dims(x, (2, 1, 0))[:, ::-1, 0]
    b = memoryview(part)
    y = dlpack.Tensor.from_buffer(np.asarray(b))
    del x, part
    assert b[0, 0] == n
    del b, y


def pickles(n: int) -> None:
    """Old pickles, new ones, and memory beside the pickle."""
    x = xp.arange(n)
    for protocol in range(2, 6):
        assert pickle.loads(pickle.dumps(x, protocol)).shape == (n,)
    beside: list[pickle.PickleBuffer] = []
    data = pickle.dumps(x, 5, buffer_callback=beside.append)
    pickle.loads(data, buffers=beside)


def refusals(n: int) -> None:
    """What ends with an exception."""
    x = xp.ones(n)
    refused(TypeError, lambda: x + xp.ones(n, dtype=xp.int64))
    refused(IndexError, lambda: x[n + 1])
    refused(ValueError, lambda: xp.reshape(x, (n + 1,)))
    refused(AttributeError, lambda: xp.from_dlpack([1.0]))
    refused(MemoryError, lambda: xp.zeros(2**55))


def refused(kind: type[Exception], function: Callable[[], Any]) -> None:
    """Call what raises."""
    try:
        function()
    except kind:
        return
    raise AssertionError(f"no {kind.__name__}")


EXCHANGES = (to_numpy_and_back, capsules, views, pickles, refusals)


# ---- Measuring ---------------------------------------------------------------------


def everything() -> int:
    """Do all of it once; return how many calls that were."""
    calls = 0
    for n in SIZES:
        for call in (*elementwise(n), *others(n)):
            call()
            calls += 1
        for exchange in EXCHANGES:
            for _ in range(20 if n <= 100 else 2):
                exchange(n)
                calls += 1
    return calls


def one_round() -> int:
    """Do all of it here, and on four new threads at once."""
    calls = everything()
    with ThreadPoolExecutor(4) as pool:
        work = [pool.submit(everything) for _ in range(4)]
    return calls + sum(future.result() for future in work)


def keep_little() -> None:
    """Let glibc have one heap for all threads, and give large blocks back at once."""
    _libc.mallopt(M_ARENA_MAX, 1)
    _libc.mallopt(M_MMAP_THRESHOLD, 128 * 1024)


def resident() -> int:
    """Return the bytes of memory that the process has in use, and cannot give back."""
    gc.collect()
    memory.empty_cache()
    _libc.malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE


def held() -> tuple[int, ...]:
    """Return what is in use of refarray's."""
    now = memory.statistics()
    tensors = now.exported - now.exports_deleted, now.imported - now.imports_deleted
    return now.live_bytes, now.live_buffers, *tensors


def main() -> int:
    """Run, and say what the figures are."""
    keep_little()
    seconds = 60 * float(sys.argv[1])
    start = time.monotonic()
    before, calls, sizes = held(), 0, []
    for rounds in count(1):  # noqa: B007
        calls += one_round()
        passed = time.monotonic() - start
        if passed > seconds / 10 or sizes:
            sizes.append(resident())
            print(f"{passed:.0f} s: {sizes[-1] / 2**20:.1f} MiB", flush=True)
        if passed > seconds and len(sizes) > 2:
            break
    mib = [size / 2**20 for size in sizes]
    print(
        f"{passed / 60:.1f} minutes, {rounds} rounds, {calls:,} calls; resident memory "
        f"after warm-up {mib[0]:.1f} MiB, at the end {mib[-1]:.1f} MiB, in between "
        f"{min(mib):.1f} to {max(mib):.1f} MiB; in use before {before}, after {held()}"
    )
    if max(sizes) - min(sizes) > ALLOWED:
        print("FAILED: resident memory does not stay within 5 MiB")
        return 1
    if held() != before:
        print("FAILED: something is left")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
