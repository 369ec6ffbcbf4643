"""Memory in the order of a stream: an alternative to `cuda_memory.allocate`.

The driver gives and takes such memory as work on a stream, without waiting for the
device. Whoever uses it on another stream has to order that stream after the allocation,
and the release after that use. The pool is ours: the device's default pool, which other
libraries may have set up for themselves, stays as it is.

Source: NVIDIA, "CUDA Driver API", stream ordered memory allocator.

Next: `device_use.py`.
"""

from __future__ import annotations

from typing import Any
from weakref import finalize

from refarray._cuda_driver import ffi
from refarray._memory.cuda_context import on_device
from refarray._memory.cuda_driver import CudaError, Driver, check, driver
from refarray._memory.cuda_memory import check_room
from refarray._memory.cuda_streams import cast

_SUPPORTED: int = ffi.integer_const("CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED")
_PINNED: int = ffi.integer_const("CU_MEM_ALLOCATION_TYPE_PINNED")
_ON_DEVICE: int = ffi.integer_const("CU_MEM_LOCATION_TYPE_DEVICE")
_THRESHOLD: int = ffi.integer_const("CU_MEMPOOL_ATTR_RELEASE_THRESHOLD")


class Pool:
    """Memory of one device, of which up to `keep` freed bytes stay with the pool.

    CudaError if the device has no such pools.
    """

    __slots__ = ("ordinal", "_driver", "_handle", "__weakref__")

    def __init__(self, ordinal: int, keep: int = 256 << 20) -> None:
        using = driver()
        with on_device(ordinal, using) as lib:
            device, supported = ffi.new("CUdevice *"), ffi.new("int *")
            check(lib.cuCtxGetDevice(device), "cuCtxGetDevice", lib)
            error = lib.cuDeviceGetAttribute(supported, _SUPPORTED, device[0])
            check(error, "cuDeviceGetAttribute", lib)
            if not supported[0]:
                raise CudaError(f"cuda:{ordinal} has no stream-ordered memory pools")
            properties = ffi.new("CUmemPoolProps *")
            properties.allocType = _PINNED
            properties.location.type = _ON_DEVICE
            properties.location.id = device[0]
            result = ffi.new("CUmemoryPool *")
            check(lib.cuMemPoolCreate(result, properties), "cuMemPoolCreate", lib)
            self._driver = using
            self._handle = result[0]
            self.ordinal = ordinal
            destroy = finalize(self, _destroy, using, ordinal, result[0])
            destroy.atexit = False
            # Without this the pool gives all of it back whenever anybody waits.
            threshold = ffi.new("unsigned long long *", keep)
            error = lib.cuMemPoolSetAttribute(result[0], _THRESHOLD, threshold)
            check(error, "cuMemPoolSetAttribute", lib)

    def allocate(self, nbytes: int, stream: int) -> int:
        """Return the address of new memory, there from this point of `stream` on.

        0 for no bytes; MemoryError, with what is free, if there is no room.
        """
        if nbytes == 0:
            return 0
        result = ffi.new("CUdeviceptr *")
        with on_device(self.ordinal, self._driver) as lib:
            error = lib.cuMemAllocFromPoolAsync(
                result, nbytes, self._handle, cast(stream)
            )
            check_room(error, "cuMemAllocFromPoolAsync", lib, self.ordinal, nbytes)
        return int(result[0])

    def free(self, address: int, stream: int) -> None:
        """Give memory back at this point of `stream`; nothing waits."""
        if address:
            with on_device(self.ordinal, self._driver) as lib:
                error = lib.cuMemFreeAsync(address, cast(stream))
                check(error, "cuMemFreeAsync", lib)


def _destroy(using: Driver, ordinal: int, handle: Any) -> None:
    # Memory of the pool that is still in use stays usable, for as long as it is.
    if using.unusable is None:
        with on_device(ordinal, using) as lib:
            lib.cuMemPoolDestroy(handle)
