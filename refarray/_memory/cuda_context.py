"""The CUDA context of a device: current while refarray calls the driver, and no longer.

refarray uses the primary context of each device, as other libraries do, so that memory
and streams can be shared. It is retained once for each device, when first needed: that
takes some 0.3 seconds and hundreds of MB of device memory. What was current before in
the calling thread is current again afterwards: other libraries read it as "the device".

Next: `cuda_handles.py`.
"""

from __future__ import annotations

from _thread import RLock, _local
from collections.abc import Callable
from functools import partial
from typing import Any

from refarray._cuda_driver import ffi
from refarray._memory.cuda_driver import CudaError, Driver, check, driver

_lock = RLock()  # a finalizer may come here in the middle of it


class _Cell(_local):
    """Where the driver writes the current context of this thread."""

    def __init__(self) -> None:
        self.context: Any = ffi.new("CUcontext *")


_cell = _Cell()


def primary_context(using: Driver, ordinal: int) -> Any:
    """Return the primary context of a device, retained by the first call."""
    retained = using.contexts.get(ordinal)
    return retained[0] if retained and retained[0] else _retain(using, ordinal)


def _retain(using: Driver, ordinal: int) -> Any:
    if not 0 <= ordinal < using.device_count:
        raise ValueError(
            f"no CUDA device has number {ordinal}; this machine has "
            f"{using.device_count}, counted from 0"
        )
    device, lib = ffi.new("CUdevice *"), using.lib
    check(lib.cuDeviceGet(device, ordinal), "cuDeviceGet", lib)
    with _lock:
        # The driver writes into a cell that `using` has already: an exception of a
        # signal handler, right after the call, does not lose the context.
        context = using.contexts.setdefault(ordinal, ffi.new("CUcontext *"))
        if not context[0]:
            error = lib.cuDevicePrimaryCtxRetain(context, device[0])
            check(error, "cuDevicePrimaryCtxRetain", lib)
    return context[0]


def call(
    ordinal: int, function: str, *arguments: Any, owner: Driver | None = None
) -> None:
    """Call a function of the driver with a device's context current.

    `owner` is the driver that the arguments belong to, by default the one in use.
    CudaError if the function fails, or if that driver cannot be used any more.
    """
    error = answer(ordinal, function, *arguments, owner=owner)
    if error:
        using = driver() if owner is None else owner
        check(error, function.removesuffix("_v2"), using.lib)


def answer(
    ordinal: int, function: str, *arguments: Any, owner: Driver | None = None
) -> int:
    """Return the error code of a function of the driver; otherwise as `call`."""
    using = driver() if owner is None else owner
    found = getattr(using.lib, function)
    error: int = run(ordinal, partial(found, *arguments), using)
    return error


def run(ordinal: int, step: Callable[[], Any], using: Driver) -> Any:
    """Return what `step` returns, called with a device's context current.

    If the context is current already, nothing is changed.
    """
    if using.unusable is not None:
        raise CudaError(using.unusable)
    lib, context = using.lib, primary_context(using, ordinal)
    cell = _cell.context
    check(lib.cuCtxGetCurrent(cell), "cuCtxGetCurrent", lib)
    before = cell[0]
    if before == context:
        return step()
    # Not `with`: an exception of a signal handler may be raised at the first bytecode
    # of `__exit__`. To set what was current before does no harm when it is done twice.
    try:
        check(lib.cuCtxSetCurrent(context), "cuCtxSetCurrent", lib)
        result = step()
        lib.cuCtxSetCurrent(before)
    except BaseException:
        lib.cuCtxSetCurrent(before)
        raise
    return result
