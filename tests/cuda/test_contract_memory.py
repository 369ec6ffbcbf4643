"""The contract of test_contract.py, continued: memory and copies."""

from __future__ import annotations

from typing import Any

import pytest
from raw import (
    INVALID_VALUE,
    LEGACY,
    NON_BLOCKING,
    NULL_STREAM,
    OUT_OF_MEMORY,
    SUCCESS,
    alloc,
    get,
    pinned,
    read,
)
from targets import POISON, Target

from refarray._cuda_driver import ffi

MEMORY_TYPE = ffi.integer_const("CU_POINTER_ATTRIBUTE_MEMORY_TYPE")
IS_MANAGED = ffi.integer_const("CU_POINTER_ATTRIBUTE_IS_MANAGED")
DEVICE_ORDINAL = ffi.integer_const("CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL")
CONTEXT = ffi.integer_const("CU_POINTER_ATTRIBUTE_CONTEXT")
RANGE_START = ffi.integer_const("CU_POINTER_ATTRIBUTE_RANGE_START_ADDR")
RANGE_SIZE = ffi.integer_const("CU_POINTER_ATTRIBUTE_RANGE_SIZE")
HOST, DEVICE = 1, 2


def attribute(lib: Any, type_name: str, which: int, pointer: int) -> Any:
    result = ffi.new(type_name + " *")
    assert lib.cuPointerGetAttribute(result, which, pointer) == SUCCESS
    return result[0]


# ---- Allocation ----------------------------------------------------------------------


def test_allocations_are_aligned_and_apart(lib: Any) -> None:
    pointers = [alloc(lib, nbytes) for nbytes in (1, 255, 256, 257, 1 << 20)]
    assert all(pointer % 256 == 0 for pointer in pointers)
    assert len(set(pointers)) == 5
    for pointer in pointers:
        assert lib.cuMemFree_v2(pointer) == SUCCESS


def test_nothing_cannot_be_allocated(lib: Any) -> None:
    assert lib.cuMemAlloc_v2(ffi.new("CUdeviceptr *"), 0) == INVALID_VALUE
    managed = ffi.new("CUdeviceptr *")
    assert lib.cuMemAllocManaged(managed, 0, 1) == INVALID_VALUE


def test_more_than_there_is_cannot_be_allocated(lib: Any) -> None:
    assert lib.cuMemAlloc_v2(ffi.new("CUdeviceptr *"), 1 << 50) == OUT_OF_MEMORY


def test_free_memory_is_counted(lib: Any) -> None:
    def free_and_total() -> tuple[int, int]:
        free, total = ffi.new("size_t *"), ffi.new("size_t *")
        assert lib.cuMemGetInfo_v2(free, total) == SUCCESS
        return free[0], total[0]

    before, total = free_and_total()
    assert 0 < before <= total
    pointer = alloc(lib, 32 << 20)
    assert free_and_total()[0] <= before - (32 << 20)
    assert lib.cuMemFree_v2(pointer) == SUCCESS
    assert free_and_total()[0] > before - (32 << 20)


def test_memory_is_freed_once_and_as_a_whole(lib: Any) -> None:
    pointer = alloc(lib, 1024)
    assert lib.cuMemFree_v2(pointer + 8) == INVALID_VALUE
    assert lib.cuMemFree_v2(pointer) == SUCCESS
    assert lib.cuMemFree_v2(pointer) == INVALID_VALUE


def test_freed_memory_is_refused(lib: Any) -> None:
    pointer = alloc(lib, 64 << 20)  # so large that a real driver unmaps it
    assert lib.cuMemFree_v2(pointer) == SUCCESS
    assert lib.cuMemsetD8Async(pointer, 0, 8, LEGACY) == INVALID_VALUE
    assert lib.cuMemcpyDtoH_v2(ffi.new("char[8]"), pointer, 8) == INVALID_VALUE
    result = ffi.new("int *")
    assert lib.cuPointerGetAttribute(result, MEMORY_TYPE, pointer) == INVALID_VALUE


def test_fresh_memory_is_poisoned(target: Target, lib: Any) -> None:
    if not target.lazy:
        pytest.skip("a real driver does not fill memory")
    pointer = alloc(lib, 16)
    assert read(lib, pointer, 16) == bytes([POISON]) * 16
    assert lib.cuMemFree_v2(pointer) == SUCCESS


# ---- Kinds of memory -----------------------------------------------------------------


def test_device_memory_knows_its_range(lib: Any) -> None:
    pointer = alloc(lib, 4096)
    for inside in (pointer, pointer + 100, pointer + 4095):
        assert attribute(lib, "unsigned int", MEMORY_TYPE, inside) == DEVICE
        assert attribute(lib, "int", IS_MANAGED, inside) == 0
        assert attribute(lib, "int", DEVICE_ORDINAL, inside) == 0
        assert attribute(lib, "CUdeviceptr", RANGE_START, inside) == pointer
        assert attribute(lib, "size_t", RANGE_SIZE, inside) == 4096
    context = get("CUcontext", lib.cuCtxGetCurrent)
    assert attribute(lib, "CUcontext", CONTEXT, pointer) == context
    assert lib.cuMemFree_v2(pointer) == SUCCESS


def test_pinned_memory_is_host_memory(lib: Any) -> None:
    pointer, content = pinned(lib, 64)
    content[:] = bytes(range(64))
    address = int(ffi.cast("uintptr_t", pointer))
    assert attribute(lib, "unsigned int", MEMORY_TYPE, address) == HOST
    assert attribute(lib, "int", IS_MANAGED, address) == 0
    to = alloc(lib, 64)
    assert lib.cuMemcpyHtoD_v2(to, pointer, 64) == SUCCESS
    assert read(lib, to, 64) == bytes(range(64))
    assert lib.cuMemFree_v2(to) == SUCCESS
    assert lib.cuMemFreeHost(pointer) == SUCCESS
    assert lib.cuMemFreeHost(pointer) == INVALID_VALUE


def test_managed_memory_is_read_by_both_sides(lib: Any) -> None:
    pointer = get("CUdeviceptr", lib.cuMemAllocManaged, 64, 1)
    assert attribute(lib, "int", IS_MANAGED, pointer) == 1
    content = ffi.buffer(ffi.cast("char *", pointer), 64)
    assert lib.cuMemsetD8Async(pointer, 7, 64, LEGACY) == SUCCESS
    assert lib.cuCtxSynchronize() == SUCCESS
    assert bytes(content) == bytes([7]) * 64
    content[:] = bytes(range(64))
    assert read(lib, pointer, 64) == bytes(range(64))
    assert lib.cuMemFree_v2(pointer) == SUCCESS


def test_other_memory_is_unknown(lib: Any) -> None:
    address = int(ffi.cast("uintptr_t", ffi.new("char[64]")))
    result = ffi.new("unsigned int *")
    assert lib.cuPointerGetAttribute(result, MEMORY_TYPE, address) == INVALID_VALUE


# ---- Copies --------------------------------------------------------------------------


def test_bytes_travel_to_the_device_and_back(lib: Any) -> None:
    pointer = alloc(lib, 100)
    assert lib.cuMemcpyHtoD_v2(pointer, bytes(range(100)), 100) == SUCCESS
    assert read(lib, pointer, 100) == bytes(range(100))
    assert read(lib, pointer + 90, 10) == bytes(range(90, 100))
    assert lib.cuMemsetD8Async(pointer + 10, 5, 3, NULL_STREAM) == SUCCESS
    expected = bytes([*range(10), 5, 5, 5, *range(13, 100)])
    assert read(lib, pointer, 100) == expected
    other = alloc(lib, 100)
    assert lib.cuMemcpyDtoDAsync_v2(other, pointer, 100, LEGACY) == SUCCESS
    assert read(lib, other, 100) == expected
    for each in (pointer, other):
        assert lib.cuMemFree_v2(each) == SUCCESS


def test_copies_of_nothing(lib: Any) -> None:
    pointer = alloc(lib, 8)
    assert lib.cuMemcpyHtoD_v2(pointer, b"", 0) == SUCCESS
    assert lib.cuMemcpyDtoH_v2(ffi.new("char[1]"), pointer, 0) == SUCCESS
    assert lib.cuMemcpyDtoDAsync_v2(pointer, pointer, 0, LEGACY) == SUCCESS
    assert lib.cuMemsetD8Async(pointer, 1, 0, LEGACY) == SUCCESS
    assert lib.cuMemFree_v2(pointer) == SUCCESS


def test_copies_end_where_the_memory_ends(target: Target, lib: Any) -> None:
    # A real driver sees what leaves its mapping (2 MiB), not each byte too many.
    extra = 1 if target.lazy else 1 << 30
    nbytes = 64 << 20
    pointer, other = alloc(lib, nbytes), alloc(lib, nbytes)
    too_many = nbytes + extra
    assert lib.cuMemsetD8Async(pointer, 0, too_many, LEGACY) == INVALID_VALUE
    copied = lib.cuMemcpyDtoDAsync_v2(other, pointer, too_many, LEGACY)
    assert copied == INVALID_VALUE
    if target.lazy:
        host = ffi.new("char[]", 16)
        end = pointer + nbytes - 8
        assert lib.cuMemcpyDtoH_v2(host, end, 9) == INVALID_VALUE
        assert lib.cuMemcpyHtoD_v2(end, host, 9) == INVALID_VALUE
        assert lib.cuMemcpyHtoD_v2(pointer - 1, host, 9) == INVALID_VALUE
    for each in (pointer, other):
        assert lib.cuMemFree_v2(each) == SUCCESS


def test_pageable_memory_is_done_with_when_the_call_returns(lib: Any) -> None:
    """Its bytes have been read, or have arrived, whichever way they went."""
    stream = get("CUstream", lib.cuStreamCreate, NON_BLOCKING)
    pointer = alloc(lib, 16)
    host = bytearray(range(16))
    from_host = ffi.from_buffer(host)
    assert lib.cuMemcpyHtoDAsync_v2(pointer, from_host, 16, stream) == SUCCESS
    host[:] = bytes(16)
    to = ffi.new("char[16]")
    assert lib.cuMemcpyDtoHAsync_v2(to, pointer, 16, stream) == SUCCESS
    assert bytes(ffi.buffer(to)) == bytes(range(16))
    assert lib.cuMemFree_v2(pointer) == SUCCESS
    assert lib.cuStreamDestroy_v2(stream) == SUCCESS


def test_pinned_memory_is_read_when_the_stream_gets_there(
    target: Target, lib: Any
) -> None:
    if not target.lazy:
        pytest.skip("a real device may be done before the host writes again")
    stream = get("CUstream", lib.cuStreamCreate, NON_BLOCKING)
    pointer = alloc(lib, 4)
    host, content = pinned(lib, 4)
    content[:] = b"\1\1\1\1"
    assert lib.cuMemcpyHtoDAsync_v2(pointer, host, 4, stream) == SUCCESS
    content[:] = b"\2\2\2\2"
    assert lib.cuStreamSynchronize(stream) == SUCCESS
    assert read(lib, pointer, 4) == b"\2\2\2\2"


def test_copies_between_devices(lib: Any) -> None:
    if get("int", lib.cuDeviceGetCount) < 2:
        pytest.skip("this machine has one device")
    first = get("CUcontext", lib.cuCtxGetCurrent)
    second = get("CUcontext", lib.cuDevicePrimaryCtxRetain, 1)
    here = alloc(lib, 16)
    assert lib.cuCtxPushCurrent_v2(second) == SUCCESS
    there = alloc(lib, 16)
    assert attribute(lib, "int", DEVICE_ORDINAL, there) == 1
    assert lib.cuMemcpyHtoD_v2(there, bytes(range(16)), 16) == SUCCESS
    assert lib.cuCtxSynchronize() == SUCCESS  # the bytes may only be on their way
    get("CUcontext", lib.cuCtxPopCurrent_v2)
    copied = lib.cuMemcpyPeerAsync(here, first, there, second, 16, LEGACY)
    assert copied == SUCCESS
    assert read(lib, here, 16) == bytes(range(16))
    for pointer in (here, there):  # whatever context is current
        assert lib.cuMemFree_v2(pointer) == SUCCESS
    assert lib.cuDevicePrimaryCtxRelease_v2(1) == SUCCESS
