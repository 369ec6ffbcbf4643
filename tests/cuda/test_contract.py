"""What a CUDA driver does, as far as refarray relies on it: a contract.

The same tests run on three drivers: the simulated one, the fake in C, and a real driver
where there is one (see targets.py), so that the first two cannot drift away from the
third. Expected results come from NVIDIA's "CUDA Driver API".

This file stays at the level of the raw functions. test_contract_memory.py goes on with
memory, test_contract_order.py with the order of work in streams, and
test_contract_binding.py and test_contract_streams.py with refarray's own layer on top.
"""

from __future__ import annotations

import threading
from typing import Any

import pytest
from raw import (
    DEFAULT,
    INVALID_CONTEXT,
    INVALID_DEVICE,
    INVALID_HANDLE,
    INVALID_VALUE,
    LEGACY,
    NO_TIMING,
    NON_BLOCKING,
    NOT_INITIALIZED,
    NOT_READY,
    NULL_STREAM,
    PER_THREAD,
    SUCCESS,
    TIMING,
    get,
    in_thread,
)
from targets import Target

from refarray._cuda_driver import ffi

# ---- The driver and its errors -------------------------------------------------------


def test_version_is_known_before_initialisation(target: Target) -> None:
    assert get("int", target.lib.cuDriverGetVersion) >= 12000
    assert target.lib.cuDriverGetVersion(ffi.NULL) == INVALID_VALUE


def test_nothing_else_works_before_initialisation(target: Target) -> None:
    if target.name == "driver":
        pytest.skip("a real driver is initialised once for the whole process")
    assert target.lib.cuDeviceGetCount(ffi.new("int *")) == NOT_INITIALIZED
    assert target.lib.cuMemAlloc_v2(ffi.new("CUdeviceptr *"), 8) == NOT_INITIALIZED
    assert target.lib.cuCtxGetCurrent(ffi.new("CUcontext *")) == NOT_INITIALIZED


def test_initialisation_can_be_repeated_and_takes_no_flags(target: Target) -> None:
    assert target.lib.cuInit(1) == INVALID_VALUE
    assert target.lib.cuInit(0) == SUCCESS
    assert target.lib.cuInit(0) == SUCCESS


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (0, b"CUDA_SUCCESS"),
        (1, b"CUDA_ERROR_INVALID_VALUE"),
        (2, b"CUDA_ERROR_OUT_OF_MEMORY"),
        (3, b"CUDA_ERROR_NOT_INITIALIZED"),
        (34, b"CUDA_ERROR_STUB_LIBRARY"),
        (100, b"CUDA_ERROR_NO_DEVICE"),
        (101, b"CUDA_ERROR_INVALID_DEVICE"),
        (201, b"CUDA_ERROR_INVALID_CONTEXT"),
        (400, b"CUDA_ERROR_INVALID_HANDLE"),
        (600, b"CUDA_ERROR_NOT_READY"),
        (801, b"CUDA_ERROR_NOT_SUPPORTED"),
    ],
)
def test_errors_have_names_and_texts(target: Target, error: int, name: bytes) -> None:
    text = ffi.new("char **")
    assert target.lib.cuGetErrorName(error, text) == SUCCESS
    assert ffi.string(text[0]) == name
    assert target.lib.cuGetErrorString(error, text) == SUCCESS
    assert ffi.string(text[0])


def test_unknown_errors_have_neither(target: Target) -> None:
    text = ffi.new("char **")
    assert target.lib.cuGetErrorName(54321, text) == INVALID_VALUE
    assert text[0] == ffi.NULL
    assert target.lib.cuGetErrorString(54321, text) == INVALID_VALUE
    assert text[0] == ffi.NULL


# ---- Devices -------------------------------------------------------------------------


def test_devices_have_a_name_and_memory(lib: Any) -> None:
    count = get("int", lib.cuDeviceGetCount)
    assert count >= 1
    for ordinal in range(count):
        device = get("CUdevice", lib.cuDeviceGet, ordinal)
        name = ffi.new("char[]", 100)
        assert lib.cuDeviceGetName(name, 100, device) == SUCCESS
        assert ffi.string(name)
        assert get("size_t", lib.cuDeviceTotalMem_v2, device) >= 1 << 20
        for attribute in (
            "CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING",
            "CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY",
        ):
            which = ffi.integer_const(attribute)
            assert get("int", lib.cuDeviceGetAttribute, which, device) == 1


def test_devices_that_do_not_exist(lib: Any) -> None:
    count = get("int", lib.cuDeviceGetCount)
    for ordinal in (-1, count):
        assert lib.cuDeviceGet(ffi.new("CUdevice *"), ordinal) == INVALID_DEVICE
    assert lib.cuDeviceTotalMem_v2(ffi.new("size_t *"), count) == INVALID_DEVICE


# ---- Contexts ------------------------------------------------------------------------


def test_a_device_has_one_primary_context(lib: Any) -> None:
    context = get("CUcontext", lib.cuCtxGetCurrent)
    assert get("CUcontext", lib.cuDevicePrimaryCtxRetain, 0) == context
    assert lib.cuDevicePrimaryCtxRelease_v2(0) == SUCCESS
    assert get("CUdevice", lib.cuCtxGetDevice) == 0


def test_a_primary_context_is_active_while_retained(target: Target) -> None:
    lib = target.lib
    assert lib.cuInit(0) == SUCCESS

    def active() -> int:
        flags, result = ffi.new("unsigned int *"), ffi.new("int *")
        assert lib.cuDevicePrimaryCtxGetState(0, flags, result) == SUCCESS
        return int(result[0])

    if target.lazy:  # others may hold the context of a real driver
        assert active() == 0
    get("CUcontext", lib.cuDevicePrimaryCtxRetain, 0)
    assert active() == 1
    assert lib.cuDevicePrimaryCtxRelease_v2(0) == SUCCESS
    if target.lazy:
        assert active() == 0
        assert lib.cuDevicePrimaryCtxRelease_v2(0) == INVALID_CONTEXT


def test_contexts_are_a_stack(lib: Any) -> None:
    context = get("CUcontext", lib.cuCtxGetCurrent)
    assert lib.cuCtxPushCurrent_v2(context) == SUCCESS
    assert get("CUcontext", lib.cuCtxPopCurrent_v2) == context
    assert get("CUcontext", lib.cuCtxGetCurrent) == context
    assert lib.cuCtxSetCurrent(ffi.NULL) == SUCCESS  # as a pop
    assert get("CUcontext", lib.cuCtxGetCurrent) == ffi.NULL
    assert lib.cuCtxSetCurrent(context) == SUCCESS
    assert get("CUcontext", lib.cuCtxGetCurrent) == context


def test_a_new_thread_has_no_context(lib: Any) -> None:
    def thread() -> None:
        assert get("CUcontext", lib.cuCtxGetCurrent) == ffi.NULL
        assert lib.cuMemAlloc_v2(ffi.new("CUdeviceptr *"), 8) == INVALID_CONTEXT
        assert lib.cuStreamCreate(ffi.new("CUstream *"), 0) == INVALID_CONTEXT
        assert lib.cuEventCreate(ffi.new("CUevent *"), 0) == INVALID_CONTEXT
        assert lib.cuCtxGetDevice(ffi.new("CUdevice *")) == INVALID_CONTEXT
        assert lib.cuCtxSynchronize() == INVALID_CONTEXT
        assert lib.cuCtxPopCurrent_v2(ffi.new("CUcontext *")) == INVALID_CONTEXT

    in_thread(thread)


def test_a_context_is_current_in_one_thread_only(lib: Any) -> None:
    context = get("CUcontext", lib.cuCtxGetCurrent)

    def thread() -> bool:
        assert lib.cuCtxPushCurrent_v2(context) == SUCCESS
        pointer = get("CUdeviceptr", lib.cuMemAlloc_v2, 8)
        assert lib.cuMemFree_v2(pointer) == SUCCESS
        return get("CUcontext", lib.cuCtxPopCurrent_v2) == context

    assert in_thread(thread)
    assert in_thread(lambda: get("CUcontext", lib.cuCtxGetCurrent)) == ffi.NULL


# ---- Streams -------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [NULL_STREAM, LEGACY, PER_THREAD])
def test_the_streams_that_always_exist(lib: Any, stream: Any) -> None:
    assert lib.cuStreamSynchronize(stream) == SUCCESS
    assert lib.cuStreamQuery(stream) == SUCCESS
    assert get("CUcontext", lambda p: lib.cuStreamGetCtx(stream, p)) == get(
        "CUcontext", lib.cuCtxGetCurrent
    )


@pytest.mark.parametrize("flags", [DEFAULT, NON_BLOCKING])
def test_streams_know_their_flags_and_context(lib: Any, flags: int) -> None:
    stream = get("CUstream", lib.cuStreamCreate, flags)
    assert int(ffi.cast("uintptr_t", stream)) > 2
    assert get("unsigned int", lambda p: lib.cuStreamGetFlags(stream, p)) == flags
    assert get("CUcontext", lambda p: lib.cuStreamGetCtx(stream, p)) == get(
        "CUcontext", lib.cuCtxGetCurrent
    )
    assert lib.cuStreamDestroy_v2(stream) == SUCCESS


def test_stream_flags_that_do_not_exist(lib: Any) -> None:
    assert lib.cuStreamCreate(ffi.new("CUstream *"), 8) == INVALID_VALUE


def test_a_destroyed_stream_is_refused(target: Target, lib: Any) -> None:
    if target.name == "driver":
        pytest.skip("a real driver does not promise to notice a destroyed stream")
    stream = get("CUstream", lib.cuStreamCreate, NON_BLOCKING)
    assert lib.cuStreamDestroy_v2(stream) == SUCCESS
    assert lib.cuStreamSynchronize(stream) == INVALID_HANDLE
    assert lib.cuStreamDestroy_v2(stream) == INVALID_HANDLE


def test_host_functions_run_in_the_order_of_the_stream(lib: Any) -> None:
    stream = get("CUstream", lib.cuStreamCreate, NON_BLOCKING)
    order: list[int] = []

    @ffi.callback("void(void *)")
    def note(data: Any) -> None:
        order.append(int(ffi.cast("uintptr_t", data)))

    for number in range(5):
        data = ffi.cast("void *", number)
        assert lib.cuLaunchHostFunc(stream, note, data) == SUCCESS
    assert lib.cuStreamSynchronize(stream) == SUCCESS
    assert order == [0, 1, 2, 3, 4]
    assert lib.cuStreamDestroy_v2(stream) == SUCCESS


def test_destroying_a_stream_does_not_lose_its_work(lib: Any) -> None:
    stream = get("CUstream", lib.cuStreamCreate, NON_BLOCKING)
    done = threading.Event()
    callback = ffi.callback("void(void *)", lambda _: done.set())
    assert lib.cuLaunchHostFunc(stream, callback, ffi.NULL) == SUCCESS
    assert lib.cuStreamDestroy_v2(stream) == SUCCESS
    assert lib.cuCtxSynchronize() == SUCCESS
    assert done.wait(10)


# ---- Events --------------------------------------------------------------------------


def test_an_event_never_recorded_has_happened(lib: Any) -> None:
    event = get("CUevent", lib.cuEventCreate, NO_TIMING)
    assert lib.cuEventQuery(event) == SUCCESS
    assert lib.cuEventSynchronize(event) == SUCCESS
    assert lib.cuStreamWaitEvent(LEGACY, event, 0) == SUCCESS
    assert lib.cuEventDestroy_v2(event) == SUCCESS


def test_elapsed_time_is_between_two_events_with_timing(lib: Any) -> None:
    stream = get("CUstream", lib.cuStreamCreate, NON_BLOCKING)
    start, end = (get("CUevent", lib.cuEventCreate, TIMING) for _ in range(2))
    untimed = get("CUevent", lib.cuEventCreate, NO_TIMING)
    milliseconds = ffi.new("float *")
    assert lib.cuEventElapsedTime(milliseconds, start, end) == INVALID_HANDLE
    for event in (start, untimed, end):
        assert lib.cuEventRecord(event, stream) == SUCCESS
    assert lib.cuStreamSynchronize(stream) == SUCCESS
    assert lib.cuEventElapsedTime(milliseconds, start, end) == SUCCESS
    assert 0 <= milliseconds[0] < 10_000
    assert lib.cuEventElapsedTime(milliseconds, start, untimed) == INVALID_HANDLE
    for event in (start, end, untimed):
        assert lib.cuEventDestroy_v2(event) == SUCCESS
    assert lib.cuStreamDestroy_v2(stream) == SUCCESS


def test_elapsed_time_of_work_that_is_not_done(target: Target, lib: Any) -> None:
    if not target.lazy:
        pytest.skip("a real device may be done already")
    start, end = (get("CUevent", lib.cuEventCreate, TIMING) for _ in range(2))
    for event in (start, end):
        assert lib.cuEventRecord(event, LEGACY) == SUCCESS
    assert lib.cuEventElapsedTime(ffi.new("float *"), start, end) == NOT_READY


def test_polling_gets_there(target: Target, lib: Any) -> None:
    stream = get("CUstream", lib.cuStreamCreate, NON_BLOCKING)
    event = get("CUevent", lib.cuEventCreate, NO_TIMING)
    callback = ffi.callback("void(void *)", lambda _: None)
    for _ in range(3):
        assert lib.cuLaunchHostFunc(stream, callback, ffi.NULL) == SUCCESS
    assert lib.cuEventRecord(event, stream) == SUCCESS
    answers = [lib.cuEventQuery(event)]
    while answers[-1] == NOT_READY:
        answers.append(lib.cuEventQuery(event))
    assert answers[-1] == SUCCESS
    if target.lazy:  # each question lets one piece of work run, and answers for before
        assert NOT_READY in answers
    assert lib.cuStreamSynchronize(stream) == SUCCESS
    assert lib.cuStreamQuery(stream) == SUCCESS
    assert lib.cuEventDestroy_v2(event) == SUCCESS
    assert lib.cuStreamDestroy_v2(stream) == SUCCESS


def test_two_devices(lib: Any) -> None:
    if get("int", lib.cuDeviceGetCount) < 2:
        pytest.skip("this machine has one device")
    first = get("CUcontext", lib.cuCtxGetCurrent)
    second = get("CUcontext", lib.cuDevicePrimaryCtxRetain, 1)
    assert second != first
    event = get("CUevent", lib.cuEventCreate, NO_TIMING)
    assert lib.cuCtxPushCurrent_v2(second) == SUCCESS
    assert get("CUdevice", lib.cuCtxGetDevice) == 1
    stream = get("CUstream", lib.cuStreamCreate, NON_BLOCKING)
    # An event is recorded on its own device, and waited for on any.
    assert lib.cuEventRecord(event, stream) == INVALID_HANDLE
    assert lib.cuStreamWaitEvent(stream, event, 0) == SUCCESS
    assert lib.cuStreamDestroy_v2(stream) == SUCCESS
    assert get("CUcontext", lib.cuCtxPopCurrent_v2) == second
    assert lib.cuEventRecord(event, LEGACY) == SUCCESS
    assert lib.cuEventDestroy_v2(event) == SUCCESS
    assert lib.cuDevicePrimaryCtxRelease_v2(1) == SUCCESS
