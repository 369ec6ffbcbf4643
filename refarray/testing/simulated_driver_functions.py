"""The functions of the simulated CUDA driver, without those for memory.

Each method has the name and the parameters of a function of the driver. It returns
nothing, and raises `Failure` where the driver would return an error. What the driver
leaves open, or promises in some cases only, is not promised here. Source: NVIDIA, "CUDA
Driver API", and the chapter of "CUDA C++ Programming Guide" on concurrent execution.

Next: simulated_driver_allocation.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from enum import IntEnum
from typing import Any

from refarray.testing.simulated_driver_memory import ffi
from refarray.testing.simulated_driver_order import Work
from refarray.testing.simulated_driver_state import Failure, Result, State, where

INVALID_VALUE = Result.CUDA_ERROR_INVALID_VALUE
INVALID_CONTEXT = Result.CUDA_ERROR_INVALID_CONTEXT
INVALID_HANDLE = Result.CUDA_ERROR_INVALID_HANDLE
NOT_READY = Result.CUDA_ERROR_NOT_READY

NAME = b"refarray simulated device"

TEXTS = {
    Result.CUDA_SUCCESS: "no error",
    Result.CUDA_ERROR_INVALID_VALUE: "invalid argument",
    Result.CUDA_ERROR_OUT_OF_MEMORY: "out of memory",
    Result.CUDA_ERROR_NOT_INITIALIZED: "initialization error",
    Result.CUDA_ERROR_DEINITIALIZED: "driver shutting down",
    Result.CUDA_ERROR_STUB_LIBRARY: "the library is a stub",
    Result.CUDA_ERROR_NO_DEVICE: "no CUDA-capable device is detected",
    Result.CUDA_ERROR_INVALID_DEVICE: "invalid device ordinal",
    Result.CUDA_ERROR_INVALID_CONTEXT: "invalid device context",
    Result.CUDA_ERROR_INVALID_HANDLE: "invalid resource handle",
    Result.CUDA_ERROR_NOT_READY: "device not ready",
    Result.CUDA_ERROR_CONTEXT_IS_DESTROYED: "context is destroyed",
    Result.CUDA_ERROR_NOT_PERMITTED: "operation not permitted",
    Result.CUDA_ERROR_NOT_SUPPORTED: "operation not supported",
}

# What cuGetErrorName and cuGetErrorString return stays valid for good.
_C_NAMES = {code: ffi.new("char[]", code.name.encode()) for code in Result}
_C_TEXTS = {code: ffi.new("char[]", text.encode()) for code, text in TEXTS.items()}


class DeviceAttribute(IntEnum):
    """What cuDeviceGetAttribute knows."""

    CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76
    CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY = 83
    CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115


DEVICE_ATTRIBUTES = {
    DeviceAttribute.CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING: 1,
    DeviceAttribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: 9,
    DeviceAttribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: 0,
    DeviceAttribute.CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY: 1,
    DeviceAttribute.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED: 1,
}


class StreamFlags(IntEnum):
    """How a stream stands to the legacy stream."""

    CU_STREAM_DEFAULT = 0
    CU_STREAM_NON_BLOCKING = 1


class EventFlags(IntEnum):
    """Bits that cuEventCreate takes."""

    CU_EVENT_DEFAULT = 0
    CU_EVENT_BLOCKING_SYNC = 1
    CU_EVENT_DISABLE_TIMING = 2


def check(condition: bool, code: Result = INVALID_VALUE) -> None:
    """Fail unless a condition holds."""
    if not condition:
        raise Failure(code)


def put(pointer: Any, value: Any) -> None:
    """Write a result through a pointer of the caller."""
    check(bool(pointer))
    pointer[0] = value


def put_handle(pointer: Any, handle: int) -> None:
    """Write a handle of whatever type the pointer is made for."""
    put(pointer, ffi.cast("void *", handle))


class DriverFunctions:
    """The driver, its errors, devices and contexts."""

    def __init__(self, state: State) -> None:
        self._state = state

    def cuInit(self, flags: int) -> None:
        """Start; refused by a machine without a device."""
        check(flags == 0)
        check(self._state.devices > 0, Result.CUDA_ERROR_NO_DEVICE)
        self._state.initialized = True

    def cuDriverGetVersion(self, version: Any) -> None:
        """Give the CUDA version, 13000 for 13.0."""
        put(version, self._state.version)

    def cuGetErrorName(self, error: int, name: Any) -> None:
        """Give the name of an error, NULL if there is no such error."""
        put(name, _C_NAMES.get(Result(error)) if error in TEXTS else ffi.NULL)
        check(error in TEXTS)

    def cuGetErrorString(self, error: int, text: Any) -> None:
        """Give a description of an error, NULL if there is no such error."""
        put(text, _C_TEXTS.get(Result(error)) if error in TEXTS else ffi.NULL)
        check(error in TEXTS)

    def cuDeviceGetCount(self, count: Any) -> None:
        """Give the number of devices."""
        put(count, self._state.devices)

    def cuDeviceGet(self, device: Any, ordinal: int) -> None:
        """Give the device with an ordinal."""
        put(device, self._state.device(ordinal))

    def cuDeviceGetName(self, name: Any, nbytes: int, device: int) -> None:
        """Give a name, cut to `nbytes` with its final zero."""
        self._state.device(device)
        check(bool(name) and nbytes > 0)
        text = NAME[: nbytes - 1] + b"\0"
        ffi.buffer(ffi.cast("char *", name), len(text))[:] = text

    def cuDeviceTotalMem_v2(self, nbytes: Any, device: int) -> None:
        """Give the size of a device's memory."""
        self._state.device(device)
        put(nbytes, self._state.heap.total)

    def cuDeviceGetAttribute(self, value: Any, which: int, device: int) -> None:
        """Give one of DEVICE_ATTRIBUTES."""
        check(which in list(DeviceAttribute))
        self._state.device(device)
        put(value, DEVICE_ATTRIBUTES[DeviceAttribute(which)])

    def cuDevicePrimaryCtxRetain(self, context: Any, device: int) -> None:
        """Give the primary context, which stays until it is released as often."""
        check(bool(context))
        ordinal = self._state.device(device)
        put_handle(context, self._state.retain(ordinal).handle)

    def cuDevicePrimaryCtxRelease_v2(self, device: int) -> None:
        """Undo one cuDevicePrimaryCtxRetain."""
        self._state.release(self._state.device(device))

    def cuDevicePrimaryCtxGetState(self, device: int, flags: Any, active: Any) -> None:
        """Say whether the primary context exists; ask without creating it."""
        ordinal = self._state.device(device)
        put(flags, 0)
        put(active, int(self._state.retained[ordinal] > 0))

    def cuCtxGetCurrent(self, context: Any) -> None:
        """Give the thread's current context, NULL if there is none."""
        contexts = self._state.thread.contexts
        put_handle(context, contexts[-1].handle if contexts else 0)

    def cuCtxSetCurrent(self, context: Any) -> None:
        """Replace the top of the thread's stack; NULL takes it away."""
        new = [self._state.context(context)] if context else []
        self._state.thread.contexts[-1:] = new

    def cuCtxPushCurrent_v2(self, context: Any) -> None:
        """Make a context the current one, above the one that was."""
        self._state.thread.contexts.append(self._state.context(context))

    def cuCtxPopCurrent_v2(self, context: Any) -> None:
        """Go back to the context before, and give the one that was current."""
        check(bool(self._state.thread.contexts), INVALID_CONTEXT)
        popped = self._state.thread.contexts.pop()
        if context:  # NULL: the caller does not want to know
            put_handle(context, popped.handle)

    def cuCtxGetDevice(self, device: Any) -> None:
        """Give the device of the current context."""
        put(device, self._state.current().device)

    def cuCtxSynchronize(self) -> None:
        """Wait for all work in the current context."""
        self._state.synchronize(self._state.current())


class StreamFunctions:
    """Streams and events."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._schedule = state.schedule

    def cuStreamCreate(self, stream: Any, flags: int) -> None:
        """Give a new stream."""
        check(bool(stream) and flags in list(StreamFlags))
        blocking = flags != StreamFlags.CU_STREAM_NON_BLOCKING
        put_handle(stream, self._state.new_stream(blocking).handle)

    def cuStreamDestroy_v2(self, stream: Any) -> None:
        """Forget a stream without waiting for its work."""
        self._state.destroy_stream(stream)

    def cuStreamSynchronize(self, stream: Any) -> None:
        """Wait for the work of one stream, and for what that waits for."""
        self._schedule.wait(self._state.stream(stream).last)

    def cuStreamQuery(self, stream: Any) -> None:
        """Say whether the work of a stream is over; each "no" lets one piece run."""
        self._answer(self._state.stream(stream).last)

    def cuStreamWaitEvent(self, stream: Any, event: Any, flags: int) -> None:
        """Let later work of a stream wait for what the event was recorded after."""
        waiting, record = self._state.stream(stream), self._state.event(event).record
        check(flags == 0)
        if record is not None:
            self._schedule.enqueue(
                waiting, "cuStreamWaitEvent", where(), after=[record]
            )

    def cuStreamGetFlags(self, stream: Any, flags: Any) -> None:
        """Give the flags that a stream was made with."""
        found = self._state.stream(stream)
        non_blocking = StreamFlags.CU_STREAM_NON_BLOCKING
        put(flags, StreamFlags.CU_STREAM_DEFAULT if found.blocking else non_blocking)

    def cuStreamGetCtx(self, stream: Any, context: Any) -> None:
        """Give the context of a stream."""
        put_handle(context, self._state.stream(stream).context.handle)

    def cuLaunchHostFunc(self, stream: Any, function: Any, data: Any) -> None:
        """Call a function on the host when the stream gets there."""
        check(bool(function))
        self._schedule.enqueue(
            self._state.stream(stream),
            "cuLaunchHostFunc",
            where(),
            self._host_function(function, data),
        )

    def _host_function(self, function: Any, data: Any) -> Callable[[], None]:
        def call() -> None:
            # Meanwhile, this thread may not call the driver.
            self._state.host_function_in = threading.get_ident()
            try:
                function(data)
            finally:
                self._state.host_function_in = None

        return call

    def cuEventCreate(self, event: Any, flags: int) -> None:
        """Give a new event."""
        check(bool(event) and 0 <= flags < 4)
        timing = not flags & EventFlags.CU_EVENT_DISABLE_TIMING
        put_handle(event, self._state.new_event(timing).handle)

    def cuEventDestroy_v2(self, event: Any) -> None:
        """Forget an event; who waits for it goes on waiting."""
        self._state.destroy_event(event)

    def cuEventRecord(self, event: Any, stream: Any) -> None:
        """Let an event stand for what was given to the stream so far."""
        found, recorded = self._state.event(event), self._state.stream(stream)
        check(found.context is recorded.context, INVALID_HANDLE)
        found.record = self._schedule.enqueue(recorded, "cuEventRecord", where())

    def cuEventQuery(self, event: Any) -> None:
        """Say whether an event has happened; each "no" lets one piece of work run."""
        self._answer(self._state.event(event).record)

    def cuEventSynchronize(self, event: Any) -> None:
        """Wait for an event; one never recorded has happened."""
        self._schedule.wait(self._state.event(event).record)

    def cuEventElapsedTime(self, milliseconds: Any, start: Any, end: Any) -> None:
        """Give the time between two events, both recorded with timing and over."""
        records = []
        for event in map(self._state.event, (start, end)):
            if event.record is None or not event.timing:
                raise Failure(INVALID_HANDLE)
            records.append(event.record)
        times = [record.finished for record in records]
        if times[0] is None or times[1] is None:
            raise Failure(NOT_READY)
        put(milliseconds, (times[1] - times[0]) * 1e3)

    def _answer(self, work: Work | None) -> None:
        if work is not None:
            check(self._schedule.step(work), NOT_READY)
            self._schedule.wait(work)
