"""The simulated CUDA driver: memory, and the mistakes that are made with it.

More than 400 lines: one test for each mistake, in the order of the driver's calls.
"""

from __future__ import annotations

import mmap
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from raw import INVALID_VALUE, LEGACY, OUT_OF_MEMORY, SUCCESS, alloc, get, pinned
from raw import read as read_back
from simulated import (
    NBYTES,
    array,
    kinds,
    read,
    record,
    simulated,
    start,
    stream,
    wait,
    write,
)
from test_contract_order import new_pool

from refarray._cuda_driver import ffi
from refarray.testing import simulated_driver_memory
from refarray.testing.simulated_driver import SimulatedDriver
from refarray.testing.simulated_driver_memory import POISON, PlainSpace, ProtectedSpace


@pytest.fixture
def driver() -> Iterator[SimulatedDriver]:
    with simulated() as driver:
        yield driver


def managed(driver: SimulatedDriver) -> int:
    pointer: int = get("CUdeviceptr", driver.cuMemAllocManaged, NBYTES, 1)
    return pointer


# ---- Faults: an error of the driver, and a report that says why ----------------------


def free(driver: SimulatedDriver, pointer: int) -> int:
    answer: int = driver.cuMemFree_v2(pointer)
    return answer


def free_host(driver: SimulatedDriver, pointer: int) -> int:
    answer: int = driver.cuMemFreeHost(ffi.cast("void *", pointer))
    return answer


def memset(driver: SimulatedDriver, pointer: int, nbytes: int = 8) -> int:
    answer: int = driver.cuMemsetD8Async(pointer, 0, nbytes, LEGACY)
    return answer


def after_free(use: Callable[..., int]) -> Callable[[SimulatedDriver, int], int]:
    def freed(driver: SimulatedDriver, pointer: int) -> int:
        assert free(driver, pointer) == SUCCESS
        return use(driver, pointer)

    return freed


FAULTS: dict[str, tuple[str, Callable[[SimulatedDriver, int], int]]] = {
    "written after it was freed": ("use after free", after_free(memset)),
    "read after it was freed": (
        "use after free",
        after_free(lambda d, p: d.cuMemcpyDtoH_v2(ffi.new("char[8]"), p + 8, 8)),
    ),
    "freed twice": ("double free", after_free(free)),
    "freed from within": ("bad free", lambda d, p: free(d, p + 8)),
    "freed as pinned memory": ("bad free", free_host),
    "freed as memory of a pool": ("bad free", lambda d, p: d.cuMemFreeAsync(p, LEGACY)),
    "a free of memory of the host": ("bad free", lambda d, p: free(d, 0x1000)),
    "longer than it is": ("out of bounds", lambda d, p: memset(d, p + 60)),
    "a write before it": ("not a device pointer", lambda d, p: memset(d, p - 1)),
    "a copy to the host within a device": (
        "not a host pointer",
        lambda d, p: d.cuMemcpyDtoH_v2(ffi.cast("void *", p), p, 8),
    ),
    "a copy from a pointer of the host": (
        "not a device pointer",
        lambda d, p: d.cuMemcpyDtoDAsync_v2(p, 0x1000, 8, LEGACY),
    ),
}


@pytest.mark.parametrize("what", FAULTS)
def test_faults_are_refused_and_explained(driver: SimulatedDriver, what: str) -> None:
    kind, do = FAULTS[what]
    assert do(driver, alloc(driver, NBYTES)) == INVALID_VALUE
    (report,) = driver.faults
    assert report.kind == kind
    assert "test_simulated_memory.py:" in report.places[-1]
    driver.assert_no_races()


def test_a_use_after_free_names_three_lines(driver: SimulatedDriver) -> None:
    pointer = alloc(driver, NBYTES)
    assert driver.cuMemFree_v2(pointer) == SUCCESS
    assert driver.cuMemsetD8Async(pointer, 0, 8, LEGACY) == INVALID_VALUE
    (report,) = driver.faults
    freed, used = report.places
    line = int(used.rpartition(":")[2])
    assert freed.endswith(f":{line - 1}")
    assert "allocated at" in str(report) and f"freed at {freed}" in str(report)


def test_kernels_are_checked_like_copies(driver: SimulatedDriver) -> None:
    pointer = alloc(driver, NBYTES)
    with pytest.raises(RuntimeError, match="out of bounds"):
        driver.launch(LEGACY, lambda: None, [(pointer, NBYTES + 1)])
    other = stream(driver)
    start(driver, device=1)
    with pytest.raises(RuntimeError, match="of device 0 on device 1"):
        driver.launch(LEGACY, lambda: None, writes=[(pointer, NBYTES)])
    with pytest.raises(RuntimeError, match="context is not the current one"):
        driver.launch(other, lambda: None)
    with pytest.raises(RuntimeError, match="CUDA_ERROR_INVALID_HANDLE"):
        driver.launch(0x123456, lambda: None)
    for everywhere in (managed(driver), int(ffi.cast("size_t", pinned(driver, 64)[0]))):
        driver.launch(LEGACY, lambda: None, [(everywhere, NBYTES)])
    assert driver.cuMemFree_v2(pointer) == SUCCESS
    with pytest.raises(RuntimeError, match="use after free"):
        driver.launch(LEGACY, lambda: None, [(pointer, NBYTES)])
    with pytest.raises(RuntimeError, match="use after free"):
        driver.shadow(pointer, NBYTES)


def test_kernels_compute_in_the_shadow(driver: SimulatedDriver) -> None:
    pointer = alloc(driver, NBYTES)
    values = array(driver, pointer)
    driver.launch(LEGACY, lambda: values.fill(2.5), writes=[(pointer, NBYTES)])
    assert not (values == 2.5).any()
    assert read_back(driver, pointer, NBYTES) == np.full(8, 2.5).tobytes()
    assert driver.shadow(pointer, 0).nbytes == 0


def test_what_a_kernel_raises_comes_out_of_the_wait(driver: SimulatedDriver) -> None:
    ran: list[str] = []
    driver.launch(LEGACY, lambda: 1 // 0)
    driver.launch(LEGACY, lambda: ran.append("the next"))
    with pytest.raises(ZeroDivisionError):
        driver.cuStreamSynchronize(LEGACY)
    assert driver.cuStreamSynchronize(LEGACY) == SUCCESS
    assert ran == ["the next"]


def test_a_kernel_runs_before_its_memory_is_freed_in_stream_order(
    driver: SimulatedDriver,
) -> None:
    on, pool, result = stream(driver), new_pool(driver), np.zeros(8)
    pointer = get("CUdeviceptr", driver.cuMemAllocFromPoolAsync, NBYTES, pool, on)
    values, span = array(driver, pointer), (pointer, NBYTES)
    driver.launch(on, lambda: values.fill(2.5), writes=[span])
    driver.launch(on, lambda: np.copyto(result, values), reads=[span])
    assert driver.cuMemFreeAsync(pointer, on) == SUCCESS
    assert driver.cuStreamSynchronize(on) == SUCCESS
    assert (result == 2.5).all()
    assert values.nbytes == NBYTES and not (values == 2.5).any()
    driver.assert_no_races()


# ---- Memory in use when it is freed --------------------------------------------------


def test_pinned_memory_freed_while_a_copy_needs_it(driver: SimulatedDriver) -> None:
    on, to, (host, content) = stream(driver), alloc(driver, NBYTES), pinned(driver, 64)
    content[:] = bytes(range(64))
    assert driver.cuMemcpyHtoDAsync_v2(to, host, NBYTES, on) == SUCCESS
    assert driver.cuMemFreeHost(host) == SUCCESS
    assert kinds(driver) == ["free after read"]
    assert "cuMemFreeHost" in str(driver.races[0])
    assert driver.cuStreamSynchronize(on) == SUCCESS
    assert read_back(driver, to, NBYTES) == bytes(range(64))


def test_memory_of_a_pool_freed_at_once_while_in_use(driver: SimulatedDriver) -> None:
    on, pool = stream(driver), new_pool(driver)
    pointer = get("CUdeviceptr", driver.cuMemAllocFromPoolAsync, NBYTES, pool, on)
    assert driver.cuMemFree_v2(pointer) == SUCCESS
    assert kinds(driver) == ["free after allocation"]
    pointer = get("CUdeviceptr", driver.cuMemAllocFromPoolAsync, NBYTES, pool, on)
    assert driver.cuStreamSynchronize(on) == SUCCESS
    driver.races.clear()
    assert driver.cuMemFree_v2(pointer) == SUCCESS
    driver.assert_no_races()


def test_memory_freed_after_work_of_another_device_that_its_own_waits_for(
    driver: SimulatedDriver,
) -> None:
    pointer = managed(driver)
    own = get("CUcontext", driver.cuCtxGetCurrent)
    start(driver, device=1)
    read(driver, LEGACY, pointer)
    event = record(driver, LEGACY)
    assert driver.cuCtxSetCurrent(own) == SUCCESS
    wait(driver, LEGACY, event)
    assert driver.cuMemFree_v2(pointer) == SUCCESS
    driver.assert_no_races()


def test_memory_freed_while_another_device_uses_it(driver: SimulatedDriver) -> None:
    pointer = managed(driver)
    start(driver, device=1)
    read(driver, LEGACY, pointer)
    assert driver.cuMemFree_v2(pointer) == SUCCESS
    assert kinds(driver) == ["free after read"]


def test_memory_of_a_pool_used_before_it_is_there(driver: SimulatedDriver) -> None:
    a, b, pool = stream(driver), stream(driver), new_pool(driver)
    pointer = get("CUdeviceptr", driver.cuMemAllocFromPoolAsync, NBYTES, pool, a)
    write(driver, b, pointer)
    assert kinds(driver) == ["write after allocation"]


def test_memory_of_a_pool_goes_back_when_the_stream_gets_there(
    driver: SimulatedDriver,
) -> None:
    on, pool = stream(driver), new_pool(driver)
    pointer = get("CUdeviceptr", driver.cuMemAllocFromPoolAsync, NBYTES, pool, on)
    write(driver, on, pointer)
    assert driver.cuMemFreeAsync(pointer, on) == SUCCESS
    assert driver.live_bytes == NBYTES
    assert driver.cuMemsetD8Async(pointer, 0, 8, on) == INVALID_VALUE
    assert driver.cuMemFreeAsync(pointer, on) == INVALID_VALUE
    assert [report.kind for report in driver.faults] == [
        "use after free",
        "double free",
    ]
    assert driver.cuStreamSynchronize(on) == SUCCESS
    assert driver.live_bytes == 0
    driver.assert_no_races()


# ---- Pinned memory and the host ------------------------------------------------------


def test_pinned_memory_changed_before_it_is_copied(driver: SimulatedDriver) -> None:
    on, to, (host, content) = stream(driver), alloc(driver, NBYTES), pinned(driver, 64)
    content[:] = bytes(range(64))
    assert driver.cuMemcpyHtoDAsync_v2(to, host, NBYTES, on) == SUCCESS
    content[3:4] = b"!"
    assert driver.cuStreamSynchronize(on) == SUCCESS
    assert kinds(driver) == ["host write after read"]
    assert "cuMemcpyHtoDAsync_v2" in str(driver.races[0])


def test_pinned_memory_reused_after_waiting(driver: SimulatedDriver) -> None:
    on, to, (host, content) = stream(driver), alloc(driver, NBYTES), pinned(driver, 64)
    for value in range(3):
        content[:] = bytes([value]) * 64
        assert driver.cuMemcpyHtoDAsync_v2(to, host, NBYTES, on) == SUCCESS
        assert driver.cuStreamSynchronize(on) == SUCCESS
    driver.assert_no_races()


def test_pinned_memory_passed_on_by_the_device(driver: SimulatedDriver) -> None:
    """A copy may wait in a stream for the bytes that it is to copy."""
    on, a, b = stream(driver), alloc(driver, NBYTES), alloc(driver, NBYTES)
    host, _ = pinned(driver, NBYTES)
    write(driver, on, a, 7)
    assert driver.cuMemcpyDtoHAsync_v2(host, a, NBYTES, on) == SUCCESS
    assert driver.cuMemcpyHtoDAsync_v2(b, host, NBYTES, on) == SUCCESS
    write(driver, on, a, 8)
    assert driver.cuMemcpyDtoHAsync_v2(host, a, NBYTES, on) == SUCCESS
    assert driver.cuStreamSynchronize(on) == SUCCESS
    assert read_back(driver, b, NBYTES) == bytes([7]) * NBYTES
    driver.assert_no_races()


def test_pinned_memory_read_before_a_copy_has_arrived(driver: SimulatedDriver) -> None:
    on, pointer, (host, content) = stream(driver), alloc(driver, 64), pinned(driver, 64)
    write(driver, on, pointer, 7)
    content[:] = bytes([7]) * 64  # left from before, so that the mistake would not show
    assert driver.cuMemcpyDtoHAsync_v2(host, pointer, 64, on) == SUCCESS
    assert bytes(content) == bytes([POISON]) * 64
    assert driver.cuStreamSynchronize(on) == SUCCESS
    assert bytes(content) == bytes([7]) * 64


# ---- How much there is ---------------------------------------------------------------


def test_live_and_peak_bytes(driver: SimulatedDriver) -> None:
    first, second = alloc(driver, 1000), alloc(driver, 50)
    host, _ = pinned(driver, 10)
    assert driver.live_bytes == driver.peak_bytes == 1060
    assert len(driver.live) == 3
    assert any("50 bytes of device memory" in block for block in driver.live)
    assert driver.cuMemFree_v2(first) == SUCCESS
    assert driver.cuMemFreeHost(host) == SUCCESS
    assert (driver.live_bytes, driver.peak_bytes) == (50, 1060)
    assert driver.cuMemFree_v2(second) == SUCCESS
    assert driver.live == []


def test_a_device_has_as_much_memory_as_wanted() -> None:
    with simulated(memory=1 << 20) as driver:
        pointer = alloc(driver, 1 << 20)
        assert driver.cuMemAlloc_v2(ffi.new("CUdeviceptr *"), 1) == OUT_OF_MEMORY
        pinned(driver, 100)  # is memory of the host
        start(driver, device=1)
        alloc(driver, 1 << 20)
        assert driver.cuMemFree_v2(pointer) == SUCCESS


# ---- Addresses -----------------------------------------------------------------------

PREPARE = """
import sys
sys.path.insert(0, {folder!r})
import faulthandler; faulthandler.disable()
from raw import ffi, alloc
from simulated import simulated
with simulated() as driver:
    pointer = alloc(driver, 64)
    print("ready", flush=True)
    {use}
"""


@pytest.mark.needs("shadow")
@pytest.mark.parametrize(
    "use",
    [
        "ffi.buffer(ffi.cast('char *', pointer), 8)[:]",
        "ffi.cast('char *', pointer)[0] = b'x'",
        "driver.close(); ffi.buffer(ffi.cast('char *', pointer), 8)[:]",
    ],
    ids=["read", "written", "read after the end"],
)
def test_the_host_cannot_use_device_memory(use: str, request: Any) -> None:
    program = PREPARE.format(folder=str(request.path.parent), use=use)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True)
    assert done.stdout == b"ready\n", done.stderr
    assert done.returncode == -signal.SIGSEGV


def test_pointers_of_one_simulation_mean_nothing_in_the_next() -> None:
    with simulated() as driver:
        old = alloc(driver, NBYTES)
    with simulated() as driver:
        assert alloc(driver, NBYTES) != old
        assert memset(driver, old) == INVALID_VALUE


def test_it_works_where_memory_has_one_view(monkeypatch: pytest.MonkeyPatch) -> None:
    """On other systems than Linux; the host can read device memory there."""
    plain = PlainSpace()
    monkeypatch.setattr(simulated_driver_memory, "device_space", lambda: plain)
    with simulated() as driver:
        pointer = alloc(driver, NBYTES)
        write(driver, LEGACY, pointer, 5)
        assert read_back(driver, pointer, NBYTES) == bytes([5]) * NBYTES
        assert driver.cuMemFree_v2(pointer) == SUCCESS
        assert memset(driver, pointer) == INVALID_VALUE
        assert [report.kind for report in driver.faults] == ["use after free"]
        assert driver.cuMemAlloc_v2(ffi.new("CUdeviceptr *"), 1 << 50) == OUT_OF_MEMORY


class SmallSpace(ProtectedSpace):
    _NBYTES = 64 * mmap.PAGESIZE


@pytest.mark.needs("shadow")
def test_addresses_return_last_and_never_overlap() -> None:
    space, choose = SmallSpace(), random.Random(0)
    taken: dict[int, tuple[int, memoryview]] = {}
    wraps, last = 0, 0
    for _ in range(5000):
        nbytes = choose.choice([1, 8, 511, 513, 4096, 5000, 20000])
        found = space.take(nbytes)
        while found is None:
            oldest = next(iter(taken))
            space.give_back(oldest, taken.pop(oldest)[0])
            found = space.take(nbytes)
        address, memory = found
        assert len(memory) == nbytes
        wraps += address < last
        last = address
        for other, (size, _) in taken.items():
            assert address + nbytes <= other or other + size <= address
        taken[address] = nbytes, memory
        while sum(size for size, _ in taken.values()) > 100_000:
            freed = choose.choice(list(taken))
            space.give_back(freed, taken.pop(freed)[0])
    assert 50 < wraps < 5000


@pytest.mark.needs("shadow")
def test_freed_device_memory_goes_back_to_the_system() -> None:
    def resident() -> int:
        with open("/proc/self/statm") as file:  # noqa: PTH123
            return int(file.read().split()[2]) * mmap.PAGESIZE  # shared pages

    with simulated(memory=1 << 28) as driver:
        before = resident()
        for _ in range(8):
            pointer = alloc(driver, 64 << 20)
            assert driver.cuMemFree_v2(pointer) == SUCCESS
        assert resident() < before + (32 << 20)
