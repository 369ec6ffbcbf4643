"""Checks of the driver itself, below all arrays: what it is, and what it promises.

Next: `checks_suites.py`.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from importlib import metadata
from typing import Any

import numpy as np
from libraries import KINDS, library
from record import NotHere, Record, fastest

import refarray as xp
from refarray import cuda
from refarray._base.devices import DeviceType
from refarray._memory import cuda_context as context
from refarray._memory import cuda_memory as memory
from refarray._memory.cuda_context import primary_context
from refarray._memory.cuda_driver import driver
from refarray._memory.cuda_handles import give_back_unowned
from refarray._memory.cuda_pool import Pool
from refarray._memory.cuda_streams import LEGACY, order
from refarray.commands import info

CPU = xp.Device("cpu")


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def environment(record: Record) -> None:
    """What this machine is: driver, device, packages."""
    lines = info.describe(info.facts())
    record.measure("info", [f"{topic}: {text}" for topic, text in lines])
    for package in ("numpy", "cffi", "cupy-cuda12x", "cupy-cuda13x", "torch", "jax"):
        try:
            record.measure(package, metadata.version(package))
        except metadata.PackageNotFoundError:
            record.measure(package, None)
    record.equal(cuda.why_not(), None, "the driver can be used")
    name = cuda.ffi.new("char[]", 256)
    driver().lib.cuDeviceGetName(name, 256, 0)
    record.measure("device", cuda.ffi.string(name).decode())
    record.measure("devices", driver().device_count)
    record.measure("driver runs CUDA", cuda.driver_version())
    record.expect(cuda.driver_version() >= (12, 0), "the driver runs CUDA 12.0 or more")
    free, total = cuda.free_and_total(0)
    record.measure("free bytes", free)
    record.expect(0 < free <= total, "there is free memory")


# ---- Contexts ------------------------------------------------------------------------


def current() -> int:
    """Return the context that is current in this thread, 0 for none."""
    result = cuda.ffi.new("CUcontext *")
    driver().lib.cuCtxGetCurrent(result)
    return int(cuda.ffi.cast("uintptr_t", result[0]))


def context_of(address: int) -> int:
    """Return the context that memory was allocated in."""
    lib = driver().lib
    result = cuda.ffi.new("CUcontext *")
    error = lib.cuPointerGetAttribute(result, lib.CU_POINTER_ATTRIBUTE_CONTEXT, address)
    if error:
        raise cuda.CudaError(f"cuPointerGetAttribute: {error}")
    return int(cuda.ffi.cast("uintptr_t", result[0]))


def work() -> None:
    """Use device 0 from end to end."""
    x = xp.asarray([1.0, 2.0], device=xp.Device("cuda:0"), copy=True)
    assert np.asarray(x.to_device(CPU)).tolist() == [1.0, 2.0]


def in_thread(function: Callable[[], Any]) -> Any:
    """Run a function in a new thread; its result, or what it raised."""
    results: list[Any] = []

    def call() -> None:
        try:
            results.append(function())
        except Exception as error:
            results.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    return results[0]


def contexts(record: Record) -> None:
    """One context for all libraries, and nobody's current one is changed."""
    start = time.perf_counter()
    ours = int(cuda.ffi.cast("uintptr_t", primary_context(driver(), 0)))
    record.measure("driver and context made, s", round(time.perf_counter() - start, 3))
    x = xp.asarray([1.0], device=xp.Device("cuda:0"), copy=True)
    record.equal(context_of(x._buffer.address), ours, "our memory is in our context")

    def around() -> tuple[int, int]:
        before = current()
        work()
        return before, current()

    record.equal(in_thread(around), (0, 0), "a new thread is left without a context")
    with record.part("another device is current"):
        if driver().device_count < 2:
            raise NotHere("one device only")
        other = primary_context(driver(), 1)
        driver().lib.cuCtxPushCurrent_v2(other)
        seen = around()
        driver().lib.cuCtxPopCurrent_v2(cuda.ffi.new("CUcontext *"))
        expected = int(cuda.ffi.cast("uintptr_t", other))
        record.equal(seen, (expected, expected), "another device stays current")
    for name in KINDS:
        with record.part(name):
            theirs = library(record, name)
            array = theirs.array(np.ones(4))
            address = theirs.pointer(array)
            record.equal(context_of(address), ours, f"{name} shares our context")
            before, after = around()
            record.equal(after, before, f"the context that {name} left stays current")
            if name != "jax":
                record.equal(theirs.device(), 0, f"{name}'s device stays 0")


# ---- What an address is --------------------------------------------------------------


def attributes(record: Record) -> None:
    """What the driver says of addresses: of every kind, inside, freed, unknown."""
    size = 1 << 16
    for kind, take, place in (
        ("device", memory.allocate, (2, 0)),
        ("managed", memory.allocate_managed, (13, 0)),
        ("pinned", memory.allocate_pinned, (3, 0)),
    ):
        with record.part(kind):
            block = take(0, size)
            address = block.address
            record.equal(memory.locate(address), place, f"{kind} memory")
            inside = memory.locate(address + size - 1)
            record.equal(inside, place, f"{kind} memory, the last byte")
            memory.check_location(address, place)
            del block
            give_back_unowned()
            record.equal(memory.locate(address), None, f"{kind} memory, freed")
    with record.part("pool"):
        pool = Pool(0)
        block = pool.allocate(size, LEGACY)
        record.equal(memory.locate(block.address), (2, 0), "memory of a pool")
        pool.free(block, LEGACY)
    with record.part("pageable"):
        values = np.ones(8192)
        seen = memory.locate(values.ctypes.data)
        record.equal(seen, None, "pageable memory of the host")
        what = "pageable memory announced as that of a device is refused"
        address = values.ctypes.data
        record.refuses(
            BufferError, lambda: memory.check_location(address, (2, 0)), what
        )
        managed = memory.allocate_managed(0, 64)
        memory.check_location(managed.address, (2, 0))  # a device can use it
    with record.part("registered"):
        record.only("driver")
        library = ctypes.CDLL("libcuda.so.1")
        values = np.ones(8192)

        def register_and_look() -> None:
            address, nbytes = ctypes.c_void_p(values.ctypes.data), values.nbytes
            error = library.cuMemHostRegister_v2(address, ctypes.c_size_t(nbytes), 0)
            record.equal(error, 0, "cuMemHostRegister")
            seen = memory.locate(values.ctypes.data)
            record.equal(seen, (DeviceType.kDLCUDAHost, 0), "registered memory")
            library.cuMemHostUnregister(address)

        context.run(0, register_and_look, driver())


# ---- What goes wrong -----------------------------------------------------------------

NO_DEVICE = """
import refarray as xp
try:
    xp.Device("cuda:0")
except ValueError as error:
    print(error, "|", [str(d) for d in xp.__array_namespace_info__().devices()])
"""

FORK = """
import os
from refarray import cuda
stream = cuda.Stream()
child = os.fork()
if child == 0:
    try:
        cuda.Stream()
    except cuda.CudaError as error:
        print(error, flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
stream.synchronize()
"""


def negative(record: Record) -> None:
    """No device, a forked process, no room, and the words of an error."""
    with record.part("no device"):
        record.only("driver", "fake")
        none = {"CUDA_VISIBLE_DEVICES": ""}
        if record.target == "fake":
            none["FAKECUDA_INIT"] = "100"
        ended = run(NO_DEVICE, **none)
        record.measure("no device", ended.stdout.strip())
        message = "CUDA driver found, but no device (CUDA_VISIBLE_DEVICES is '')"
        record.expect(message in ended.stdout, f"a hidden device: {ended}")
        record.expect("| ['cpu']" in ended.stdout, "the CPU alone is listed then")
    with record.part("fork"):
        record.only("driver", "fake")
        ended = run(FORK)
        record.measure("fork", ended.stdout.strip())
        record.equal(ended.returncode, 0, f"the parent goes on {ended.stderr[-300:]}")
        told = "before this process was forked" in ended.stdout
        record.expect(told, "a child is told")
    with record.part("no room"):
        device = xp.Device("cuda:0")
        too_much = cuda.free_and_total(0)[1] + (1 << 30)

        def ask() -> object:
            return xp.empty((too_much,), dtype=xp.uint8, device=device)

        said = record.refuses(MemoryError, ask, "more memory than there is")
        record.measure("no room", said)
        record.expect("bytes of cuda:0 are free" in said, "free and total are said")
        work()
    with record.part("the words of an error"):
        address = memory.allocate(0, 64).address
        give_back_unowned()
        what = "memory is freed once"

        def free_again() -> None:
            context.call(0, "cuMemFree_v2", address)

        said = record.refuses(cuda.CudaError, free_again, what)
        record.measure("freed twice", said)
        record.expect("cuMemFree: CUDA_ERROR_INVALID_VALUE (1)" in said, said)


# ---- Costs ---------------------------------------------------------------------------


def costs(record: Record) -> None:
    """Nanoseconds of single steps, by the fastest of five loops."""
    times = 500 if record.target == "driver" else 20
    device = xp.Device("cuda:0")
    megabyte = 1 << 20

    def cost(what: str, action: Callable[[], object]) -> None:
        record.measure(f"{what}, ns", fastest(action, times))

    def allocate_and_free() -> None:
        memory.allocate(0, megabyte)
        give_back_unowned()

    cost("cuMemAlloc and cuMemFree of 1 MiB", allocate_and_free)
    with record.part("pool"):
        pool = Pool(0)
        cost(
            "1 MiB of a pool, taken and given back",
            lambda: pool.free(pool.allocate(megabyte, LEGACY), LEGACY),
        )
    cost("empty of 1 MiB", lambda: xp.empty(megabyte, dtype=xp.uint8, device=device))
    here, there = cuda.Stream(), cuda.Stream()
    cost("event recorded and waited for", lambda: order(0, here.handle, there.handle))
    cost("synchronize, nothing to wait for", here.synchronize)
    small = xp.zeros(1, device=device)
    large = xp.zeros(megabyte // 8, device=device)
    there_large = xp.zeros(megabyte // 8)
    cost("8 bytes to the host", lambda: small.to_device(CPU))
    cost("1 MiB to the host", lambda: large.to_device(CPU))
    cost("1 MiB to the device", lambda: there_large.to_device(device))
    version = (1, 3)
    cost("export", lambda: small.__dlpack__(stream=1, max_version=version))
    other = here.handle
    cost(
        "export to another stream",
        lambda: small.__dlpack__(stream=other, max_version=version),
    )
    cost("from_dlpack of our own", lambda: xp.from_dlpack(small))
    work()
    record.expect(True, "measured")
