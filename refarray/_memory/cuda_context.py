"""The CUDA context of a device: current while refarray calls the driver, and no longer.

refarray uses the primary context of each device, as other libraries do, so that memory
and streams can be shared. It is retained once for each device, when first needed: that
takes some 0.3 seconds and hundreds of MB of device memory. What was current before in
the calling thread is current again afterwards: other libraries read it as "the device".

Next: `cuda_streams.py`.
"""

from __future__ import annotations

from _thread import RLock, _local
from types import TracebackType
from typing import Any

from refarray._cuda_driver import ffi
from refarray._memory.cuda_driver import CudaError, Driver, check, driver

_lock = RLock()  # a finalizer may come here in the middle of it


class _Cell(_local):
    """Where the driver writes the current context of this thread."""

    def __init__(self) -> None:
        self.context: Any = ffi.new("CUcontext *")


_cell = _Cell()

# Where it writes what nobody reads. Not the cell: a finalizer may run between any two
# steps of `on_device` and go through it, too, and has to leave the cell as it was.
_unread = ffi.new("CUcontext *")


def primary_context(using: Driver, ordinal: int) -> Any:
    """Return the primary context of a device, retained by the first call."""
    context = using.contexts.get(ordinal)
    return _retain(using, ordinal) if context is None else context


def _retain(using: Driver, ordinal: int) -> Any:
    if not 0 <= ordinal < using.device_count:
        raise ValueError(
            f"no CUDA device has number {ordinal}; this machine has "
            f"{using.device_count}, counted from 0"
        )
    with _lock:
        context = using.contexts.get(ordinal)
        if context is None:
            device, result = ffi.new("CUdevice *"), ffi.new("CUcontext *")
            lib = using.lib
            check(lib.cuDeviceGet(device, ordinal), "cuDeviceGet", lib)
            error = lib.cuDevicePrimaryCtxRetain(result, device[0])
            check(error, "cuDevicePrimaryCtxRetain", lib)
            context = using.contexts[ordinal] = result[0]
    return context


class on_device:
    """`with on_device(0) as lib:` calls the driver with that device's context current.

    `owner` is the driver that a thing to be used belongs to; CudaError if it cannot be
    used any more. If the context is current already, nothing is pushed.
    """

    __slots__ = ("_driver", "_ordinal", "_pushed")

    def __init__(self, ordinal: int, owner: Driver | None = None) -> None:
        self._driver = driver() if owner is None else owner
        if self._driver.unusable is not None:
            raise CudaError(self._driver.unusable)
        self._ordinal = ordinal

    def __enter__(self) -> Any:
        lib = self._driver.lib
        context = primary_context(self._driver, self._ordinal)
        cell = _cell.context
        check(lib.cuCtxGetCurrent(cell), "cuCtxGetCurrent", lib)
        self._pushed = cell[0] != context
        if self._pushed:
            check(lib.cuCtxPushCurrent_v2(context), "cuCtxPushCurrent", lib)
        return lib

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._pushed:
            self._driver.lib.cuCtxPopCurrent_v2(_unread)
