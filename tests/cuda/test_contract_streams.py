"""The contract, at the level of refarray's own layer, continued: streams and events."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import pytest
from raw import in_thread
from targets import POISON, Target
from through_binding import allocate, content, on_device

from refarray import cuda
from refarray._base import devices
from refarray._memory import cuda_memory as memory
from refarray._memory import cuda_streams as streams
from refarray._memory.cuda_driver import Driver


def test_order_and_its_absence(target: Target, driver: Driver) -> None:
    writer, reader = cuda.Stream(), cuda.Stream()
    pointers = [allocate(0, 4) for _ in range(3)]
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
    pointer = allocate(0, 4)
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


def test_blocks_may_be_left_in_any_order(driver: Driver) -> None:
    first, second = cuda.Stream(), cuda.Stream()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert cuda.current_stream() == second
    second.__exit__(None, None, None)
    assert streams.current_stream(0) == streams.LEGACY
    for left_twice in (first, second):
        with pytest.raises(RuntimeError, match="where it was not entered"):
            left_twice.__exit__(None, None, None)


def test_what_is_no_event_is_refused(driver: Driver) -> None:
    stream, event = cuda.Stream(), cuda.Event(timing=True)
    for refused in (
        lambda: stream.wait(stream.handle),  # type: ignore[arg-type]
        lambda: stream.record(stream),  # type: ignore[arg-type]
        lambda: event.elapsed_since(stream),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError, match=r"of refarray\.cuda is expected, not"):
            refused()


def test_the_current_stream_belongs_to_a_thread_or_context(driver: Driver) -> None:
    stream = cuda.Stream()
    # Python's rule: from 3.14 on a thread may begin with its starter's context.
    inherits = getattr(sys.flags, "thread_inherit_context", False)
    expected = stream.handle if inherits else streams.LEGACY
    with stream:
        assert in_thread(lambda: streams.current_stream(0)) == expected
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


def test_streams_without_references_are_destroyed_by_the_next_stream(
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
        assert lib.cuStreamSynchronize(handle) == 0
        cuda.Stream()
        assert lib.cuStreamSynchronize(handle) == 400
