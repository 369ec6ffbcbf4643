"""Checks of what two libraries do with one memory: order, contents, and its end.

The third party that is always there is the `Peer` of tests/cuda/peer.py, a library of
its own on the same driver.

Next: `checks_compute.py`.
"""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import arrays
import numpy as np
from arrays import DTYPES, numbers
from libraries import library
from peer import ONES, TWOS, Consumer, Peer
from record import NotHere, Record

import refarray as xp
from refarray import cuda
from refarray._memory import cuda_memory as memory
from refarray._memory.cuda_context import call
from refarray._memory.cuda_handles import give_back_unowned
from refarray._memory.cuda_pool import Pool
from refarray._memory.cuda_streams import LEGACY, cast
from refarray._memory.device_use import extent, note_use
from refarray.memory import statistics

CPU = xp.Device("cpu")
DELAY = 0.2

#: Those that end no process: torch cannot do with negative strides.
LAYOUTS = {name: view for name, view in arrays.LAYOUTS.items() if name != "reversed"}


def host(x: Any) -> np.ndarray[Any, Any]:
    """Return the elements on the host."""
    return np.asarray(x.to_device(CPU))


def delay(handle: int) -> None:
    """Keep a stream busy for a while, without a kernel: its next work comes after.

    A function of the host, called in the stream's turn, sleeps. It is C's own: one in
    Python would need the interpreter's lock, which the waiting thread may hold.
    """
    sleep = ctypes.cast(ctypes.CDLL(None).usleep, ctypes.c_void_p).value
    microseconds = cuda.ffi.cast("void *", int(DELAY * 1e6))
    function = cuda.ffi.cast("CUhostFn", sleep)
    call(0, "cuLaunchHostFunc", cast(handle), function, microseconds)


def overwrite_late(x: Any, stream: cuda.Stream) -> None:
    """Give a stream a delay, and after it a write of `TWOS` to all elements."""
    with stream:
        note_use(x, writes=True)
        delay(stream.handle)
        address, nbytes = extent(x)
        memory.fill(0, address, 2, nbytes, stream.handle)


class Unordered:
    """A producer that orders nothing, whatever its consumer asks for."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __dlpack_device__(self) -> tuple[int, int]:
        kind, number = self.x.__dlpack_device__()
        return int(kind), number

    def __dlpack__(self, **asked: Any) -> Any:
        return self.x.__dlpack__(**{**asked, "stream": -1})


# ---- Order ---------------------------------------------------------------------------


def order(record: Record) -> None:
    """A late write is seen by whoever is ordered after it, and by nobody else."""
    streams = {
        "legacy": cuda.Stream.legacy(),
        "per thread": cuda.Stream.per_thread(),
        "non-blocking": cuda.Stream(),
    }
    old, new = np.full(8192, ONES), np.full(8192, TWOS)
    ours = xp.asarray(old, device=xp.Device("cuda:0"), copy=True)
    writer = cuda.Stream()
    for name, stream in streams.items():
        with record.part(f"our write, read on the {name} stream"):
            for ordered in (False, True):
                restore(ours)
                overwrite_late(ours, writer)
                producer = ours if ordered else Unordered(ours)
                start = time.perf_counter()
                seen = Consumer(producer, stream).read().tolist()
                waited = time.perf_counter() - start
                record.measure(f"{name}, {ordered=}, s", round(waited, 4))
                right = new if ordered else old
                record.equal(seen == right.tolist(), True, f"{name}, {ordered=}")
        with record.part(f"a peer's write, read on the {name} stream"):
            peer = Peer(8192)
            delay(peer.stream.handle)
            memory.fill(0, peer.pointer, 2, 8 * peer.n, peer.stream.handle)
            with stream:
                seen = host(xp.from_dlpack(peer)).tolist()
            record.equal(seen == new.tolist(), True, f"a peer's write, {name}")
    for name in ("cupy", "torch", "jax"):
        with record.part(name):
            theirs = library(record, name)
            order_with(record, theirs, ours, writer)


def restore(x: Any) -> None:
    """Write `ONES` to all elements, and wait for it."""
    with cuda.Stream.legacy() as stream:
        note_use(x, writes=True)
        address, nbytes = extent(x)
        memory.fill(0, address, 1, nbytes, stream.handle)
        stream.synchronize()


def order_with(record: Record, theirs: Any, ours: Any, writer: cuda.Stream) -> None:
    """Let a library read after our write, and us after its."""
    name = theirs.name
    reader = cuda.Stream()

    def on() -> AbstractContextManager[Any]:
        return theirs.on(reader) if hasattr(theirs, "on") else nullcontext()

    def read(producer: Any) -> float:
        with on():
            return float(theirs.host(theirs.take(producer))[-1])

    read(ours)  # what is loaded late may wait for the whole device
    for ordered in (False, True):
        restore(ours)
        overwrite_late(ours, writer)
        seen = read(ours if ordered else Unordered(ours))
        record.measure(f"{name} sees, {ordered=}", "new" if seen == TWOS else "old")
        if ordered:
            record.equal(seen, TWOS, f"{name} waits for our write")
        elif name != "jax":
            record.equal(seen, ONES, f"{name} does not, if nobody tells it to")
        writer.synchronize()
    if hasattr(theirs, "fill"):
        array = theirs.array(np.zeros(8192))
        theirs.fill(array, 1.0)
        with theirs.on(writer):
            delay(writer.handle)
            theirs.fill(array, 7.0)
            # Here refarray has not computed yet: afterwards, CuPy's current stream is
            # ours, and CuPy waits for no other.
            with reader:
                taken = xp.from_dlpack(array)
        with reader:
            record.equal(float(host(taken)[-1]), 7.0, f"we wait for a write of {name}")


# ---- Contents ------------------------------------------------------------------------


def exchange(record: Record) -> None:
    """Every dtype and layout, both ways; streams, devices, copies."""
    device = xp.Device("cuda:0")
    for dtype in DTYPES:
        values = numbers(dtype)
        x = xp.asarray(values, device=device, copy=True)
        for layout, view in LAYOUTS.items():
            with record.part(f"{dtype}, {layout}"):
                here = view(x)
                back = xp.from_dlpack(here)
                what = f"our own, {dtype}, {layout}"
                record.equal(address_of(back), address_of(here), f"{what}, address")
                record.expect(same(host(back), view(values)), what)
    keywords(record, device)
    for name in ("cupy", "torch", "jax"):
        with record.part(name):
            theirs = library(record, name)
            give(record, theirs, device)
            take(record, theirs)
    with record.part("__cuda_array_interface__, CuPy"):
        theirs = library(record, "cupy")
        x = xp.asarray(numbers("float32"), device=device, copy=True)
        seen = theirs.host(theirs.module.asarray(x.T))
        record.expect(same(seen, numbers("float32").T), "CuPy reads the interface")
    with record.part("__cuda_array_interface__, numba"):
        record.only("driver")
        try:
            from numba import cuda as numba
        except ImportError as error:
            raise NotHere("numba is not installed") from error
        x = xp.asarray(numbers("float32"), device=device, copy=True)
        seen = numba.as_cuda_array(x).copy_to_host()
        record.expect(same(seen, numbers("float32")), "numba reads the interface")


def same(seen: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> bool:
    """Return whether dtype, shape and elements are the same."""
    return seen.dtype == right.dtype and np.array_equal(seen, right)


def address_of(x: Any) -> int:
    """Return where the first element of an array of ours lies; 0 without elements."""
    address: int = x._buffer.address + x._byte_offset if x._size else 0
    return address


def keywords(record: Record, device: xp.Device) -> None:
    """What the arguments of `__dlpack__` do."""
    x = xp.asarray([1.0, 2.0, 3.0], device=device, copy=True)
    own = cuda.Stream()
    for stream in (None, LEGACY, 2, -1, own.handle):
        with record.part(f"stream={stream}"):
            x.__dlpack__(stream=stream, max_version=(1, 3))
            record.expect(True, "a stream is taken")
    for wrong, error in ((0, ValueError), (-2, ValueError), ("x", TypeError)):
        ask = partial(x.__dlpack__, stream=wrong)
        record.refuses(error, ask, f"stream={wrong!r}")
    with record.part("to the host"):
        seen = np.from_dlpack(x, device="cpu")
        record.equal(seen.tolist(), [1.0, 2.0, 3.0], "NumPy takes a copy")
        uncopied = {"dl_device": (1, 0), "copy": False, "max_version": (1, 3)}
        what = "the host, without a copy"
        record.refuses(BufferError, lambda: x.__dlpack__(**uncopied), what)
        streamed = {"dl_device": (1, 0), "stream": 1}
        what = "the host, with a stream"
        record.refuses(ValueError, lambda: x.__dlpack__(**streamed), what)
    with record.part("copies"):
        copied = xp.from_dlpack(x, copy=True)
        record.expect(address_of(copied) != address_of(x), "copy=True copies")
        record.equal(host(copied).tolist(), [1.0, 2.0, 3.0], "and all of it")
        other = {"dl_device": (2, 7), "max_version": (1, 3)}
        what = "a device that it is not on"
        record.refuses(BufferError, lambda: x.__dlpack__(**other), what)


def give(record: Record, theirs: Any, device: xp.Device) -> None:
    """Let a library take every dtype and layout of ours; refusals are noted."""
    refused: dict[str, str] = {}
    for dtype in DTYPES:
        values = numbers(dtype)
        x = xp.asarray(values, device=device, copy=True)
        for layout, view in LAYOUTS.items():
            what = f"{dtype}, {layout}"
            try:
                seen = theirs.host(theirs.take(view(x)))
            except Exception as error:
                refused[what] = f"{type(error).__name__}: {str(error)[:120]}"
                continue
            right = np.array_equal(seen, view(values))
            record.expect(right, f"to {theirs.name}: {what}")
    record.measure(f"{theirs.name} refuses", refused)


def take(record: Record, theirs: Any) -> None:
    """Take every dtype and layout that a library has."""
    lacks: dict[str, str] = {}
    for dtype in DTYPES:
        values = numbers(dtype)
        try:
            x = theirs.array(values)
        except Exception as error:
            lacks[dtype] = f"{type(error).__name__}: {str(error)[:120]}"
            continue
        for layout, view in LAYOUTS.items():
            what = f"from {theirs.name}: {dtype}, {layout}"
            with record.part(what):
                y = xp.from_dlpack(view(x))
                record.expect(same(host(y), view(values)), what)
                if theirs.name != "jax":  # its views are copies
                    there = theirs.pointer(view(x)) if y._size else 0
                    record.equal(address_of(y), there, f"{what}, address")
    record.measure(f"{theirs.name} lacks", lacks)


def jax_minus_one(record: Record) -> None:
    """JAX asked for stream -1, which it may take for a pointer."""
    theirs = library(record, "jax")
    x = theirs.array(np.ones(4))
    capsule = x.__dlpack__(stream=-1)
    record.expect(capsule is not None, "JAX gives a capsule for stream=-1")


# ---- Memory of the host that devices reach -------------------------------------------


def pinned_and_managed(record: Record) -> None:
    """Memory for both sides: its DLPack type, and who can read it."""
    values = np.arange(12.0).reshape(3, 4)
    for name, pair in (("cuda_managed:0", (13, 0)), ("cuda_host:0", (3, 0))):
        with record.part(name):
            x = xp.asarray(values, device=xp.Device(name), copy=True)
            record.equal(x.__dlpack_device__(), pair, f"{name}, DLPack type")
            record.equal(memory.locate(x._buffer.address), pair, f"{name}, driver")
            there = np.from_dlpack(x)
            record.equal(there.ctypes.data, x._buffer.address, f"{name}, no copy")
            record.expect(same(there, values), f"{name}, read by NumPy")
            there[0, 0] = 7.0
            device = x.to_device(xp.Device("cuda:0"))
            record.equal(float(host(device)[0, 0]), 7.0, f"{name}, written by NumPy")
    with record.part("CuPy and managed memory"):
        theirs = library(record, "cupy")
        x = xp.asarray(values, device=xp.Device("cuda_managed:0"), copy=True)
        y = theirs.take(x)
        y += 1
        theirs.module.cuda.Device().synchronize()
        record.expect(same(np.from_dlpack(x), values + 1), "written by CuPy")
    with record.part("JAX and pinned memory"):
        theirs = library(record, "jax")
        x = xp.asarray(values, device=xp.Device("cuda_host:0"), copy=True)
        record.expect(same(theirs.host(theirs.take(x)), values), "read by JAX")
    with record.part("torch and pinned memory"):
        theirs = library(record, "torch")
        tensor = theirs.module.ones(4).pin_memory()
        record.measure("torch's pinned tensor", str(tensor.__dlpack_device__()))
        record.equal(host(xp.from_dlpack(tensor)).tolist(), [1.0] * 4, "of torch")


# ---- The end of memory ---------------------------------------------------------------


def lifetime(record: Record) -> None:
    """Memory goes back once, and not before the work on it is done."""
    device = xp.Device("cuda:0")
    with record.part("a deleter waits for pending work"):
        peer, stream = Peer(8192), cuda.Stream()
        with stream:
            y = xp.from_dlpack(peer)
            delay(stream.handle)
            copied = xp.asarray(y, copy=True)
        del y
        start = time.perf_counter()
        xp.empty(1, device=device)  # gives back what can be given back
        early = peer.deleted
        if time.perf_counter() - start < DELAY / 2:
            record.equal(early, 0, "the deleter did not run before our copy")
        stream.synchronize()
        cuda.empty_cache()
        record.equal(peer.deleted, 1, "the deleter ran once")
        record.equal(float(host(copied)[-1]), ONES, "the copy is right")
    with record.part("10,000 exchanges"):
        x = xp.asarray([1.0, 2.0], device=device, copy=True)
        xp.from_dlpack(x)
        gc.collect()
        cuda.empty_cache()
        free, live = cuda.free_and_total(0)[0], statistics().live_buffers
        start = time.perf_counter()
        for _ in range(10_000):
            xp.from_dlpack(x)
        seconds = time.perf_counter() - start
        record.measure("one of 10,000 exchanges, ns", round(seconds * 1e5))
        cuda.empty_cache()
        record.equal(statistics().live_buffers, live, "buffers left behind")
        record.equal(cuda.free_and_total(0)[0], free, "free memory afterwards")
    with record.part("cuMemFree and work of others"):
        unrelated = [memory.allocate(0, 1 << 20)]

        def free() -> None:
            unrelated.clear()
            give_back_unowned()

        seconds = during_work(free)
        record.measure("cuMemFree while a stream is busy, s", seconds)
    with record.part("cuMemFreeAsync and work of others"):
        pool = Pool(0)
        block = pool.allocate(1 << 20, LEGACY)
        cuda.Stream.legacy().synchronize()
        seconds = during_work(lambda: pool.free(block, LEGACY))
        record.measure("cuMemFreeAsync while a stream is busy, s", seconds)


def during_work(action: Callable[[], object]) -> float:
    """Return the seconds that an action takes while another stream has a delay."""
    busy = cuda.Stream()
    delay(busy.handle)
    start = time.perf_counter()
    action()
    seconds = round(time.perf_counter() - start, 6)
    busy.synchronize()
    return seconds
