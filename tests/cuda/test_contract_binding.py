"""The contract, at the level of refarray's own layer: the same on every driver."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

import pytest
from raw import SUCCESS, get, in_thread
from targets import POISON, Target

from refarray import cuda
from refarray._base import devices
from refarray._base.devices import DeviceType
from refarray._cuda_driver import ffi
from refarray._memory import cuda_memory as memory
from refarray._memory import cuda_streams as streams
from refarray._memory.cuda_context import on_device
from refarray._memory.cuda_driver import Driver

DEVICE = DeviceType.kDLCUDA


@pytest.fixture
def driver(target: Target) -> Iterator[Driver]:
    """The target as the driver of the process."""
    with cuda.use_driver(target.lib) as using:
        yield using


def second_device(driver: Driver) -> int:
    if driver.device_count < 2:
        pytest.skip("this machine has one device")
    return 1


def current(driver: Driver) -> Any:
    return get("CUcontext", driver.lib.cuCtxGetCurrent)


def address_of(host: Any) -> int:
    return int(ffi.cast("uintptr_t", ffi.from_buffer(host)))


def content(pointer: int, nbytes: int, stream: int = streams.LEGACY) -> bytes:
    host = bytearray(nbytes)
    memory.copy_to_host(0, address_of(host), pointer, nbytes, stream)
    return bytes(host)


# ---- Contexts ------------------------------------------------------------------------


def test_the_driver_says_what_it_is(driver: Driver) -> None:
    assert driver.version >= (12, 0)
    assert driver.device_count >= 1
    assert cuda.why_not() is None
    assert driver.contexts == {}


def test_no_context_stays_current(driver: Driver) -> None:
    before = current(driver)
    memory.free(0, memory.allocate(0, 8))
    assert current(driver) == before
    assert list(driver.contexts) == [0]


def test_the_current_context_is_restored_after_an_error(driver: Driver) -> None:
    before = current(driver)
    with pytest.raises(cuda.CudaError):
        memory.free(0, 12345)
    assert current(driver) == before


def test_a_context_that_is_current_is_not_pushed(driver: Driver) -> None:
    with on_device(0) as lib:
        inside = current(driver)
        with on_device(0):
            assert current(driver) == inside
        assert current(driver) == inside
        # Whoever finds it current may pop it: there is nothing of ours above it.
        assert get("CUcontext", lib.cuCtxPopCurrent_v2) == inside
        assert lib.cuCtxPushCurrent_v2(inside) == SUCCESS


def test_the_context_is_the_primary_one(driver: Driver) -> None:
    with on_device(0) as lib:
        assert get("CUcontext", lib.cuDevicePrimaryCtxRetain, 0) == current(driver)
        assert lib.cuDevicePrimaryCtxRelease_v2(0) == SUCCESS


def test_devices_keep_apart(driver: Driver) -> None:
    second = second_device(driver)
    here, there = memory.allocate(0, 8), memory.allocate(second, 8)
    assert memory.locate(here) == (DEVICE, 0)
    assert memory.locate(there) == (DEVICE, second)
    memory.fill(second, there, 7, 8, streams.LEGACY)
    memory.copy_between_devices(0, here, second, there, 8, streams.LEGACY)
    with on_device(second) as lib:
        assert lib.cuCtxSynchronize() == SUCCESS
    assert content(here, 8) == bytes([7]) * 8
    memory.free(0, here)
    memory.free(second, there)


def test_a_device_that_does_not_exist(driver: Driver) -> None:
    for ordinal in (-1, driver.device_count):
        with pytest.raises(ValueError, match=rf"no CUDA device has number {ordinal}"):
            memory.allocate(ordinal, 8)


def test_threads_need_no_preparation(driver: Driver) -> None:
    def work(number: int) -> bytes:
        pointer = memory.allocate(0, 64)
        stream = cuda.Stream()
        memory.fill(0, pointer, number, 64, stream.handle)
        seen = content(pointer, 64, stream.handle)
        memory.free(0, pointer)
        assert current(driver) == ffi.NULL
        return seen

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(40))) == [bytes([n]) * 64 for n in range(40)]


# ---- Memory --------------------------------------------------------------------------


def test_bytes_travel(driver: Driver) -> None:
    pointer, other = memory.allocate(0, 256), memory.allocate(0, 256)
    host = bytes(range(256))
    memory.copy_to_device(0, pointer, address_of(host), 256, streams.LEGACY)
    memory.copy_on_device(0, other, pointer, 256, streams.LEGACY)
    assert content(other, 256) == host
    memory.free(0, pointer)
    memory.free(0, other)


def test_no_bytes_are_no_work(driver: Driver) -> None:
    for allocate in (memory.allocate, memory.allocate_managed, memory.allocate_pinned):
        assert allocate(0, 0) == 0
    memory.free(0, 0)
    memory.free_pinned(0, 0)
    memory.fill(0, 0, 1, 0, streams.LEGACY)
    memory.copy_to_device(0, 0, 0, 0, streams.LEGACY)
    memory.copy_to_host(0, 0, 0, 0, streams.LEGACY)
    memory.copy_on_device(0, 0, 0, 0, streams.LEGACY)
    memory.copy_between_devices(0, 0, 0, 0, 0, streams.LEGACY)
    assert driver.contexts == {}


def test_kinds_of_memory_are_told_apart(driver: Driver) -> None:
    device = memory.allocate(0, 8)
    managed = memory.allocate_managed(0, 8)
    pinned = memory.allocate_pinned(0, 8)
    assert memory.locate(device) == (DEVICE, 0)
    assert memory.locate(managed) == (DeviceType.kDLCUDAManaged, 0)
    assert memory.locate(pinned) == (DeviceType.kDLCUDAHost, 0)
    assert memory.locate(address_of(bytearray(8))) is None
    memory.free(0, device)
    memory.free(0, managed)
    memory.free_pinned(0, pinned)


def test_memory_that_is_not_where_it_was_announced(driver: Driver) -> None:
    device = memory.allocate(0, 8)
    managed = memory.allocate_managed(0, 8)
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
    memory.free(0, device)
    memory.free(0, managed)


def test_no_room(driver: Driver) -> None:
    message = r"no 1,125,899,906,842,624 bytes: [\d,]+ of the [\d,]+ bytes of cuda:0"
    for allocate in (memory.allocate, memory.allocate_pinned):
        with pytest.raises(MemoryError, match=message):
            allocate(0, 1 << 50)
    free, total = cuda.free_and_total(0)
    assert 0 < free <= total


def test_errors_have_the_name_and_text_of_the_driver(driver: Driver) -> None:
    with pytest.raises(cuda.CudaError) as caught:
        memory.free(0, 12345)
    assert str(caught.value).startswith("cuMemFree: CUDA_ERROR_INVALID_VALUE (1): ")
    assert (caught.value.code, caught.value.name) == (1, "CUDA_ERROR_INVALID_VALUE")


# ---- Streams and events --------------------------------------------------------------


def test_order_and_its_absence(target: Target, driver: Driver) -> None:
    writer, reader = cuda.Stream(), cuda.Stream()
    pointers = [memory.allocate(0, 4) for _ in range(3)]
    for pointer in pointers:
        memory.fill(0, pointer, 1, 4, writer.handle)
    if target.lazy:
        assert content(pointers[0], 4, reader.handle) == bytes([POISON]) * 4
        assert len(target.races()) == 1
    reported = len(target.races())
    reader.wait(writer.record())
    assert content(pointers[1], 4, reader.handle) == b"\1\1\1\1"
    memory.fill(0, pointers[2], 2, 4, writer.handle)
    streams.order(0, writer.handle, reader.handle)
    assert content(pointers[2], 4, reader.handle) == b"\2\2\2\2"
    assert len(target.races()) == reported


def test_order_of_a_stream_with_itself_is_no_work(driver: Driver) -> None:
    streams.order(0, 1, 1)
    assert driver.events == {}
    stream = cuda.Stream()
    for _ in range(5):
        streams.order(0, stream.handle, 1)
    assert len(driver.events[0]) == 1  # one event served all


def test_polling_and_waiting(driver: Driver) -> None:
    stream = cuda.Stream()
    pointer = memory.allocate(0, 4)
    memory.fill(0, pointer, 1, 4, stream.handle)
    event = stream.record()
    event.synchronize()
    assert event.query()
    stream.synchronize()
    assert stream.query()


def test_elapsed_time(driver: Driver) -> None:
    stream = cuda.Stream()
    start, end = cuda.Event(timing=True), cuda.Event(timing=True)
    with pytest.raises(cuda.CudaError, match="INVALID_HANDLE"):
        end.elapsed_since(start)
    assert stream.record(start) is start
    stream.record(end)
    end.synchronize()
    assert 0 <= end.elapsed_since(start) < 10_000


def test_the_current_stream_belongs_to_a_block_and_a_device(driver: Driver) -> None:
    outer, inner = cuda.Stream(), cuda.Stream()
    assert streams.current_stream(0) == streams.LEGACY
    with outer as entered:
        assert entered is outer
        assert streams.current_stream(0) == outer.handle
        assert streams.current_stream(1) == streams.LEGACY
        with inner, outer, inner:
            assert streams.current_stream(0) == inner.handle
        assert streams.current_stream(0) == outer.handle
        with pytest.raises(KeyError), inner:
            raise KeyError
        assert streams.current_stream(0) == outer.handle
    assert streams.current_stream(0) == streams.LEGACY


def test_the_current_stream_belongs_to_a_thread_or_context(driver: Driver) -> None:
    stream = cuda.Stream()
    with stream:
        assert in_thread(lambda: streams.current_stream(0)) == streams.LEGACY
        context = copy_context()
    assert context.run(streams.current_stream, 0) == stream.handle


def test_one_stream_may_be_current_in_two_threads(driver: Driver) -> None:
    stream = cuda.Stream()
    entered, leave = threading.Event(), threading.Event()

    def other() -> None:
        with stream:
            entered.set()
            assert leave.wait(10)

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(other)
        assert entered.wait(10)
        with stream:
            leave.set()
            done.result()
        assert streams.current_stream(0) == streams.LEGACY


def test_streams_that_always_exist(driver: Driver) -> None:
    assert cuda.Stream.legacy().__cuda_stream__() == (0, 1)
    assert cuda.Stream.per_thread().__cuda_stream__() == (0, 2)
    for stream in (cuda.Stream.legacy(), cuda.Stream.per_thread()):
        stream.synchronize()
        assert stream.query()
        assert stream.record().query() in (True, False)
    assert repr(cuda.Stream.legacy()) == "<refarray.cuda.Stream legacy on cuda:0>"
    assert "per thread" in repr(cuda.Stream.per_thread())


def test_streams_of_other_libraries(driver: Driver) -> None:
    ours = cuda.Stream()

    class Foreign:
        def __cuda_stream__(self) -> tuple[int, int]:
            return 0, ours.handle

    for given in (Foreign(), ours.handle, ours):
        stream = cuda.Stream.external(given)
        assert stream.handle == ours.handle and stream == ours
        stream.synchronize()
    assert hash(cuda.Stream.external(ours)) == hash(ours)
    assert cuda.Stream.external(0) == cuda.Stream.legacy()
    assert ours != cuda.Stream() and ours != ours.handle


def test_what_is_no_stream(driver: Driver) -> None:
    class Newer:
        def __cuda_stream__(self) -> tuple[int, int]:
            return 1, 77

    with pytest.raises(ValueError, match="version 1 of __cuda_stream__ is unknown"):
        cuda.Stream.external(Newer())
    with pytest.raises(ValueError, match="-1 is no stream"):
        cuda.Stream.external(-1)
    with pytest.raises(TypeError, match="or an integer handle, not str"):
        cuda.Stream.external("legacy")
    with pytest.raises(TypeError, match="expected a CUDA device or None, not int"):
        cuda.Stream(0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"Device\('cpu'\) is no CUDA device"):
        cuda.Stream(devices.CPU)


def test_streams_and_events_are_destroyed_with_their_last_reference(
    target: Target, driver: Driver
) -> None:
    if not target.lazy:
        pytest.skip("a real driver does not promise to notice a destroyed stream")
    stream = cuda.Stream()
    stream.record()
    handle = streams.cast(stream.handle)
    with on_device(0) as lib:
        assert lib.cuStreamQuery(handle) in (0, 600)
        del stream
        assert lib.cuStreamSynchronize(handle) == 400
