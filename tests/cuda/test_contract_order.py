"""The contract of test_contract.py, continued: the order of work in streams."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from raw import (
    DEFAULT,
    LEGACY,
    NO_TIMING,
    NON_BLOCKING,
    NULL_STREAM,
    PER_THREAD,
    SUCCESS,
    alloc,
    get,
    pinned,
    read,
)
from targets import POISON, Target

from refarray._cuda_driver import ffi


def write_on(lib: Any, writer: Any, reader: Any, ordered: bool) -> bytes:
    """Write ones on one stream, read on another; what the reader saw."""
    pointer = alloc(lib, 4)
    host, content = pinned(lib, 4)
    assert lib.cuMemsetD8Async(pointer, 1, 4, writer) == SUCCESS
    if ordered:
        event = get("CUevent", lib.cuEventCreate, NO_TIMING)
        assert lib.cuEventRecord(event, writer) == SUCCESS
        assert lib.cuStreamWaitEvent(reader, event, 0) == SUCCESS
        assert lib.cuEventDestroy_v2(event) == SUCCESS
    assert lib.cuMemcpyDtoHAsync_v2(host, pointer, 4, reader) == SUCCESS
    assert lib.cuStreamSynchronize(reader) == SUCCESS
    seen = bytes(content)
    assert lib.cuCtxSynchronize() == SUCCESS
    assert lib.cuMemFree_v2(pointer) == SUCCESS
    assert lib.cuMemFreeHost(host) == SUCCESS
    return seen


def test_an_event_orders_two_streams(target: Target, lib: Any) -> None:
    writer = get("CUstream", lib.cuStreamCreate, NON_BLOCKING)
    reader = get("CUstream", lib.cuStreamCreate, NON_BLOCKING)
    assert write_on(lib, writer, reader, ordered=True) == b"\1\1\1\1"
    assert write_on(lib, reader, writer, ordered=True) == b"\1\1\1\1"
    assert target.races() == []
    for stream in (writer, reader):
        assert lib.cuStreamDestroy_v2(stream) == SUCCESS


def test_a_missing_wait_is_seen_and_reported(target: Target, lib: Any) -> None:
    if not target.lazy:
        pytest.skip("a real device may be done in time")
    writer = get("CUstream", lib.cuStreamCreate, NON_BLOCKING)
    reader = get("CUstream", lib.cuStreamCreate, NON_BLOCKING)
    assert write_on(lib, writer, reader, ordered=False) == bytes([POISON]) * 4
    (race,) = target.races()
    assert "read" in race and "write" in race


def test_the_host_orders_two_streams(target: Target, lib: Any) -> None:
    """What was waited for is over for everything that is asked afterwards."""
    writer = get("CUstream", lib.cuStreamCreate, NON_BLOCKING)
    reader = get("CUstream", lib.cuStreamCreate, NON_BLOCKING)
    pointer = alloc(lib, 4)
    assert lib.cuMemsetD8Async(pointer, 1, 4, writer) == SUCCESS
    assert lib.cuStreamSynchronize(writer) == SUCCESS
    assert lib.cuMemsetD8Async(pointer, 2, 4, reader) == SUCCESS
    assert lib.cuStreamSynchronize(reader) == SUCCESS
    assert read(lib, pointer, 4) == b"\2\2\2\2"
    assert target.races() == []


def test_an_event_stands_for_what_was_recorded_before_the_wait(
    target: Target, lib: Any
) -> None:
    if not target.lazy:
        pytest.skip("a real device may be done in time")
    writer = get("CUstream", lib.cuStreamCreate, NON_BLOCKING)
    reader = get("CUstream", lib.cuStreamCreate, NON_BLOCKING)
    event = get("CUevent", lib.cuEventCreate, NO_TIMING)
    pointer = alloc(lib, 4)
    assert lib.cuEventRecord(event, writer) == SUCCESS
    assert lib.cuStreamWaitEvent(reader, event, 0) == SUCCESS
    assert lib.cuMemsetD8Async(pointer, 1, 4, writer) == SUCCESS
    assert lib.cuEventRecord(event, writer) == SUCCESS  # too late for the reader
    host, content = pinned(lib, 4)
    assert lib.cuMemcpyDtoHAsync_v2(host, pointer, 4, reader) == SUCCESS
    assert lib.cuStreamSynchronize(reader) == SUCCESS
    assert bytes(content) == bytes([POISON]) * 4
    assert len(target.races()) == 1


@pytest.mark.parametrize("legacy", [NULL_STREAM, LEGACY])
def test_the_legacy_stream_waits_for_blocking_streams_and_they_for_it(
    target: Target, lib: Any, legacy: Any
) -> None:
    blocking = get("CUstream", lib.cuStreamCreate, DEFAULT)
    for writer, reader in ((blocking, legacy), (legacy, blocking)):
        assert write_on(lib, writer, reader, ordered=False) == b"\1\1\1\1"
    assert write_on(lib, PER_THREAD, legacy, ordered=False) == b"\1\1\1\1"
    assert write_on(lib, legacy, PER_THREAD, ordered=False) == b"\1\1\1\1"
    assert target.races() == []
    assert lib.cuStreamDestroy_v2(blocking) == SUCCESS


def test_the_legacy_stream_passes_non_blocking_streams_by(
    target: Target, lib: Any
) -> None:
    if not target.lazy:
        pytest.skip("a real device may be done in time")
    stream = get("CUstream", lib.cuStreamCreate, NON_BLOCKING)
    assert write_on(lib, stream, LEGACY, ordered=False) == bytes([POISON]) * 4
    assert write_on(lib, LEGACY, stream, ordered=False) == bytes([POISON]) * 4
    assert len(target.races()) == 2


def test_a_write_during_a_read_is_a_race(target: Target, lib: Any) -> None:
    if not target.lazy:
        pytest.skip("a real device does not report races")
    reader = get("CUstream", lib.cuStreamCreate, NON_BLOCKING)
    writer = get("CUstream", lib.cuStreamCreate, NON_BLOCKING)
    pointer, copy = alloc(lib, 4), alloc(lib, 4)
    assert lib.cuMemcpyDtoDAsync_v2(copy, pointer, 4, reader) == SUCCESS
    assert lib.cuMemcpyDtoDAsync_v2(copy, pointer, 4, reader) == SUCCESS
    assert target.races() == []
    assert lib.cuMemsetD8Async(pointer, 1, 4, writer) == SUCCESS
    assert len(target.races()) == 1


def test_freeing_waits_for_the_device(target: Target, lib: Any) -> None:
    stream = get("CUstream", lib.cuStreamCreate, NON_BLOCKING)
    pointer = alloc(lib, 4)
    done = threading.Event()
    callback = ffi.callback("void(void *)", lambda _: done.set())
    assert lib.cuMemsetD8Async(pointer, 1, 4, stream) == SUCCESS
    assert lib.cuLaunchHostFunc(stream, callback, ffi.NULL) == SUCCESS
    assert lib.cuMemFree_v2(pointer) == SUCCESS
    assert done.is_set()
    assert target.races() == []
    assert lib.cuStreamDestroy_v2(stream) == SUCCESS


# ---- Memory in the order of a stream -------------------------------------------------


def new_pool(lib: Any) -> Any:
    properties = ffi.new("CUmemPoolProps *")
    properties.allocType = ffi.integer_const("CU_MEM_ALLOCATION_TYPE_PINNED")
    properties.location.type = ffi.integer_const("CU_MEM_LOCATION_TYPE_DEVICE")
    properties.location.id = 0
    pool = get("CUmemoryPool", lib.cuMemPoolCreate, properties)
    threshold = ffi.new("unsigned long long *", 1 << 20)
    which = ffi.integer_const("CU_MEMPOOL_ATTR_RELEASE_THRESHOLD")
    assert lib.cuMemPoolSetAttribute(pool, which, threshold) == SUCCESS
    return pool


def test_a_pool_gives_and_takes_memory_in_stream_order(
    target: Target, lib: Any
) -> None:
    which = ffi.integer_const("CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED")
    if not get("int", lib.cuDeviceGetAttribute, which, 0):
        pytest.skip("the device has no memory pools")
    pool = new_pool(lib)
    stream = get("CUstream", lib.cuStreamCreate, NON_BLOCKING)
    pointer = get("CUdeviceptr", lib.cuMemAllocFromPoolAsync, 64, pool, stream)
    host, content = pinned(lib, 64)
    assert lib.cuMemsetD8Async(pointer, 3, 64, stream) == SUCCESS
    assert lib.cuMemcpyDtoHAsync_v2(host, pointer, 64, stream) == SUCCESS
    assert lib.cuMemFreeAsync(pointer, stream) == SUCCESS
    assert lib.cuStreamSynchronize(stream) == SUCCESS
    assert bytes(content) == bytes([3]) * 64
    assert target.races() == []
    assert lib.cuMemPoolDestroy(pool) == SUCCESS
    assert lib.cuMemFreeHost(host) == SUCCESS
    assert lib.cuStreamDestroy_v2(stream) == SUCCESS


def test_memory_of_a_pool_freed_while_another_stream_reads(
    target: Target, lib: Any
) -> None:
    if not target.lazy:
        pytest.skip("a real device does not report races")
    pool = new_pool(lib)
    owner = get("CUstream", lib.cuStreamCreate, NON_BLOCKING)
    reader = get("CUstream", lib.cuStreamCreate, NON_BLOCKING)
    pointer = get("CUdeviceptr", lib.cuMemAllocFromPoolAsync, 64, pool, owner)
    host, _ = pinned(lib, 64)
    assert lib.cuMemsetD8Async(pointer, 3, 64, owner) == SUCCESS
    assert lib.cuStreamSynchronize(owner) == SUCCESS
    assert lib.cuMemcpyDtoHAsync_v2(host, pointer, 64, reader) == SUCCESS
    assert lib.cuMemFreeAsync(pointer, owner) == SUCCESS
    assert len(target.races()) == 1
