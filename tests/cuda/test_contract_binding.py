"""The contract, at the level of refarray's own layer: the same on every driver."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from raw import SUCCESS, get
from targets import Target
from through_binding import (
    address_of,
    allocate,
    allocate_managed,
    allocate_pinned,
    content,
    free,
    on_device,
)

from refarray import cuda
from refarray._base.devices import DeviceType
from refarray._cuda_driver import ffi
from refarray._memory import cuda_memory as memory
from refarray._memory import cuda_streams as streams
from refarray._memory.cuda_context import call
from refarray._memory.cuda_driver import Driver
from refarray._memory.cuda_pool import Pool

DEVICE = DeviceType.kDLCUDA


def second_device(driver: Driver) -> int:
    if driver.device_count < 2:
        pytest.skip("this machine has one device")
    return 1


def current(driver: Driver) -> Any:
    return get("CUcontext", driver.lib.cuCtxGetCurrent)


# ---- Contexts ------------------------------------------------------------------------


def test_the_driver_says_what_it_is(driver: Driver) -> None:
    assert driver.version >= (12, 0)
    assert driver.device_count >= 1
    assert cuda.why_not() is None
    assert driver.contexts == {}


def test_no_context_stays_current(driver: Driver) -> None:
    before = current(driver)
    free(allocate(0, 8))
    assert current(driver) == before
    assert list(driver.contexts) == [0]


def test_the_current_context_is_restored_after_an_error(driver: Driver) -> None:
    before = current(driver)
    with pytest.raises(cuda.CudaError):
        call(0, "cuMemFree_v2", 12345)
    assert current(driver) == before


class Watched:
    """A driver that calls `then(name)` after each function."""

    def __init__(self, lib: Any, then: Callable[[str], None]) -> None:
        self.lib = lib
        self.then = then

    def __getattr__(self, name: str) -> Any:
        function = getattr(self.lib, name)

        def watched(*arguments: Any) -> Any:
            result = function(*arguments)
            self.then(name)
            return result

        return watched


def test_a_context_that_is_current_is_not_set(target: Target) -> None:
    called: list[str] = []
    with cuda.use_driver(Watched(target.lib, called.append)):
        with on_device(0):
            free(allocate(0, 8))
        assert called.count("cuCtxSetCurrent") == 0
        free(allocate(0, 8))
        assert called.count("cuCtxSetCurrent") == 4  # before and after each function
        assert called.count("cuDevicePrimaryCtxRetain") == 1


def test_a_finalizer_may_run_at_any_time(target: Target) -> None:
    """As the garbage collector may start one, which then destroys a stream of ours."""
    finalizing = True

    def finalizer(_: str) -> None:
        nonlocal finalizing
        if not finalizing:
            finalizing = True
            cuda.free_and_total(0)
            finalizing = False

    with cuda.use_driver(Watched(target.lib, finalizer)) as driver:
        finalizing = False
        stream = cuda.Stream()
        free(allocate(0, 8))
        stream.record().synchronize()
        streams.order(0, stream.handle, streams.LEGACY)
        assert current(driver) == ffi.NULL
        del stream
        finalizing = True  # the driver is closed now


def test_the_context_is_the_primary_one(driver: Driver) -> None:
    with on_device(0) as lib:
        assert get("CUcontext", lib.cuDevicePrimaryCtxRetain, 0) == current(driver)
        assert lib.cuDevicePrimaryCtxRelease_v2(0) == SUCCESS


def test_devices_keep_apart(driver: Driver) -> None:
    second = second_device(driver)
    here, there = allocate(0, 8), allocate(second, 8)
    assert memory.locate(here) == (DEVICE, 0)
    assert memory.locate(there) == (DEVICE, second)
    memory.fill(second, there, 7, 8, streams.LEGACY)
    memory.copy_between_devices(0, here, second, there, 8, streams.LEGACY)
    with on_device(second) as lib:
        assert lib.cuCtxSynchronize() == SUCCESS
    assert content(here, 8) == bytes([7]) * 8
    free(here)
    free(there)


def test_a_device_that_does_not_exist(driver: Driver) -> None:
    for ordinal in (-1, driver.device_count):
        with pytest.raises(ValueError, match=rf"no CUDA device has number {ordinal}"):
            allocate(ordinal, 8)


def test_threads_need_no_preparation(driver: Driver) -> None:
    def work(number: int) -> bytes:
        pointer = allocate(0, 64)
        stream = cuda.Stream()
        memory.fill(0, pointer, number, 64, stream.handle)
        seen = content(pointer, 64, stream.handle)
        free(pointer)
        assert current(driver) == ffi.NULL
        return seen

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(40))) == [bytes([n]) * 64 for n in range(40)]


# ---- Memory --------------------------------------------------------------------------


def test_bytes_travel(driver: Driver) -> None:
    pointer, other = allocate(0, 256), allocate(0, 256)
    host = bytes(range(256))
    memory.copy_to_device(0, pointer, address_of(host), 256, streams.LEGACY)
    memory.copy_on_device(0, other, pointer, 256, streams.LEGACY)
    assert content(other, 256) == host
    free(pointer)
    free(other)


def test_bytes_have_arrived_when_the_copy_returns(driver: Driver) -> None:
    """In pinned memory, too, which the driver writes when the stream gets there."""
    pointer, pinned = allocate(0, 8), allocate_pinned(0, 8)
    stream = cuda.Stream()
    memory.fill(0, pointer, 7, 8, stream.handle)
    memory.copy_to_host(0, pinned, pointer, 8, stream.handle)
    assert bytes(ffi.buffer(ffi.cast("char *", pinned), 8)) == bytes([7]) * 8
    free(pointer)
    free(pinned)


def test_no_bytes_are_no_work(driver: Driver) -> None:
    memory.fill(0, 0, 1, 0, streams.LEGACY)
    memory.copy_to_device(0, 0, 0, 0, streams.LEGACY)
    memory.copy_to_host(0, 0, 0, 0, streams.LEGACY)
    memory.copy_on_device(0, 0, 0, 0, streams.LEGACY)
    memory.copy_between_devices(0, 0, 0, 0, 0, streams.LEGACY)
    assert driver.contexts == {}


def test_kinds_of_memory_are_told_apart(driver: Driver) -> None:
    device = allocate(0, 8)
    managed = allocate_managed(0, 8)
    pinned = allocate_pinned(0, 8)
    assert memory.locate(device) == (DEVICE, 0)
    assert memory.locate(managed) == (DeviceType.kDLCUDAManaged, 0)
    assert memory.locate(pinned) == (DeviceType.kDLCUDAHost, 0)
    assert memory.locate(address_of(bytearray(8))) is None
    free(device)
    free(managed)
    free(pinned)


def test_memory_that_is_not_where_it_was_announced(driver: Driver) -> None:
    device = allocate(0, 8)
    managed = allocate_managed(0, 8)
    memory.check_location(device, (2, 0))
    memory.check_location(managed, (13, 0))
    memory.check_location(managed, (2, 0))  # a device can use it as its own
    memory.check_location(12345, (1, 0))  # not CUDA's: nothing is known
    with pytest.raises(BufferError, match=r"kDLCUDAHost 0 is kDLCUDA 0 for the CUDA"):
        memory.check_location(device, (3, 0))
    with pytest.raises(BufferError, match=r"kDLCUDA 5 is kDLCUDA 0 for the"):
        memory.check_location(device, (2, 5))
    host = bytearray(8)
    with pytest.raises(BufferError, match=r"the CUDA driver knows of none"):
        memory.check_location(address_of(host), (2, 0))
    free(device)
    free(managed)


def test_no_room(driver: Driver) -> None:
    message = r"no 1,125,899,906,842,624 bytes: [\d,]+ of the [\d,]+ bytes of cuda:0"
    for take in (memory.allocate, memory.allocate_pinned):
        with pytest.raises(MemoryError, match=message):
            take(0, 1 << 50)
    free, total = cuda.free_and_total(0)
    assert 0 < free <= total


@pytest.fixture
def pool(driver: Driver) -> Pool:
    try:
        return Pool(0, keep=1 << 20)
    except cuda.CudaError as error:
        pytest.skip(str(error))


def test_a_pool_gives_memory_in_the_order_of_a_stream(
    target: Target, pool: Pool
) -> None:
    stream, other = cuda.Stream(), cuda.Stream()
    block = pool.allocate(64, stream.handle)
    pointer = block.address
    memory.fill(0, pointer, 7, 64, stream.handle)
    other.wait(stream)
    assert content(pointer, 64, other.handle) == bytes([7]) * 64
    stream.wait(other)
    pool.free(block, stream.handle)
    pool.free(block, stream.handle)  # the second time, there is nothing to give back
    assert target.races() == []
    stream.synchronize()
    with pytest.raises(MemoryError, match=r"no 1,125,899,906,842,624 bytes"):
        pool.allocate(1 << 50, stream.handle)


def test_memory_of_a_pool_needs_order(target: Target, pool: Pool) -> None:
    if not target.lazy:
        pytest.skip("a real device does not report races")
    stream, other = cuda.Stream(), cuda.Stream()
    block = pool.allocate(64, stream.handle)
    memory.fill(0, block.address, 7, 64, other.handle)
    pool.free(block, stream.handle)
    assert len(target.races()) == 2


def test_errors_have_the_name_and_text_of_the_driver(driver: Driver) -> None:
    with pytest.raises(cuda.CudaError) as caught:
        call(0, "cuMemFree_v2", 12345)
    assert str(caught.value).startswith("cuMemFree: CUDA_ERROR_INVALID_VALUE (1): ")
    assert (caught.value.code, caught.value.name) == (1, "CUDA_ERROR_INVALID_VALUE")
