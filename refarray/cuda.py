"""CUDA as users see it: devices, streams, events, memory, and the driver.

    x = refarray.asarray([1.0, 2.0], device=refarray.Device("cuda:0"))
    with refarray.cuda.Stream():
        y = x + 1

Devices are named "cuda:0" and so on; "cuda_managed:0" has managed memory, and
"cuda_host:0" is pinned memory of the host. Work goes to the current stream of its
device: the one of the innermost `with`, or else the legacy default stream. Memory,
copies and exchange need the driver alone; CuPy computes.

Nothing here needs CUDA to be imported. The driver is opened by the first thing that
uses it; `why_not()` says in words why it cannot be, or returns None.

What is behind it: `_memory/cuda_driver.py`, and the files that follow there.
"""

from __future__ import annotations

from typing import Any

from refarray._cuda_driver import ffi
from refarray._memory import device as _device
from refarray._memory import device_views as _device_views  # noqa: F401 (registers)
from refarray._memory.cuda_driver import CudaError, driver, use_driver, why_not
from refarray._memory.cuda_memory import free_and_total
from refarray._memory.cuda_streams import Event, Stream
from refarray._memory.cuda_streams import current_stream as _current_stream
from refarray._memory.device import use_pools
from refarray._memory.device_release import (
    cached_bytes,
    empty_cache,
    set_cache_limit,
)

__all__ = [
    "CudaError",
    "Event",
    "Stream",
    "cached_bytes",
    "cupy_allocator",
    "current_stream",
    "driver_version",
    "empty_cache",
    "ffi",
    "free_and_total",
    "set_cache_limit",
    "use_driver",
    "use_pools",
    "why_not",
]


def driver_version() -> tuple[int, int]:
    """Return the newest CUDA that the driver runs, such as (13, 0). CudaError."""
    return driver().version


def current_stream(ordinal: int = 0) -> Stream:
    """Return the stream that work on a device goes to; the device by its number."""
    return Stream._known(_current_stream(ordinal), ordinal)


def cupy_allocator(nbytes: int) -> Any:
    """Allocate `nbytes` bytes for CuPy, from refarray's memory and its cache.

    Two caches of one device's memory would contend for it:
    `cupy.cuda.set_allocator(refarray.cuda.cupy_allocator)` leaves one.
    """
    import cupy  # type: ignore[import-not-found,unused-ignore]

    ordinal = cupy.cuda.Device().id
    memory = _device.raw_memory(ordinal, nbytes)
    owned = cupy.cuda.UnownedMemory(
        memory.address, memory.nbytes, memory, device_id=ordinal
    )
    return cupy.cuda.MemoryPointer(owned, 0)
