"""Memory in the order of a stream: an alternative to `cuda_memory.allocate`.

The driver gives and takes such memory as work on a stream, without waiting for the
device. Whoever uses it on another stream has to order that stream after the allocation,
and the release after that use. The pool is ours: the device's default pool, which other
libraries may have set up for themselves, stays as it is.

Source: NVIDIA, "CUDA Driver API", stream ordered memory allocator.

Next: `device_use.py`.
"""

from __future__ import annotations

from refarray._cuda_driver import ffi
from refarray._memory.cuda_context import call
from refarray._memory.cuda_driver import CudaError, driver
from refarray._memory.cuda_handles import Handle
from refarray._memory.cuda_memory import Block, synchronize
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
        device, supported = ffi.new("CUdevice *"), ffi.new("int *")
        call(ordinal, "cuCtxGetDevice", device, owner=using)
        call(
            ordinal,
            "cuDeviceGetAttribute",
            *(supported, _SUPPORTED, device[0]),
            owner=using,
        )
        if not supported[0]:
            raise CudaError(f"cuda:{ordinal} has no stream-ordered memory pools")
        properties = ffi.new("CUmemPoolProps *")
        properties.allocType = _PINNED
        properties.location.type = _ON_DEVICE
        properties.location.id = device[0]
        self._driver = using
        self.ordinal = ordinal
        # Memory of the pool that is still in use stays usable, for as long as it is.
        self._handle = Handle(self, "CUmemoryPool", "cuMemPoolDestroy", ordinal, using)
        self._handle.make("cuMemPoolCreate", properties)
        # Without this the pool gives all of it back whenever anybody waits.
        threshold = ffi.new("unsigned long long *", keep)
        call(
            ordinal,
            "cuMemPoolSetAttribute",
            *(self._handle.value, _THRESHOLD, threshold),
            owner=using,
        )

    def allocate(self, nbytes: int, stream: int) -> Block:
        """Return new memory, there from this point of `stream` on.

        Without `free`, it goes back after all work of the device. MemoryError, with
        what is free, if there is no room. The driver refuses 0 bytes.
        """
        block = Block(
            *("CUdeviceptr", "cuMemFree_v2", self.ordinal, self._driver),
            prepare=_wait_for_device,
        )
        function = "cuMemAllocFromPoolAsync"
        block.make(function, nbytes, self._handle.value, cast(stream))
        return block

    def free(self, block: Block, stream: int) -> None:
        """Give memory back at this point of `stream`; nothing waits."""
        block.handle.release("cuMemFreeAsync", cast(stream))


def _wait_for_device(handle: Handle) -> None:
    # Of memory from a pool the driver thinks that it is no longer used.
    synchronize(handle.ordinal, handle.driver)
