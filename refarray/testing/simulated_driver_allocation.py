"""The functions of the simulated CUDA driver that give memory, and take it back.

As in simulated_driver_functions.py, where it is said how. Next:
simulated_driver_copies.py.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from refarray.testing.simulated_driver_functions import (
    INVALID_VALUE,
    check,
    put,
    put_handle,
)
from refarray.testing.simulated_driver_memory import Allocation, Kind, ffi
from refarray.testing.simulated_driver_order import Context
from refarray.testing.simulated_driver_state import (
    Failure,
    Result,
    State,
    number,
    where,
)

OUT_OF_MEMORY = Result.CUDA_ERROR_OUT_OF_MEMORY


class PointerAttribute(IntEnum):
    """What cuPointerGetAttribute knows."""

    CU_POINTER_ATTRIBUTE_CONTEXT = 1
    CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2
    CU_POINTER_ATTRIBUTE_IS_MANAGED = 8
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9
    CU_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11
    CU_POINTER_ATTRIBUTE_RANGE_SIZE = 12


class MemoryType(IntEnum):
    """Where memory is."""

    CU_MEMORYTYPE_HOST = 1
    CU_MEMORYTYPE_DEVICE = 2


class MemoryFlags(IntEnum):
    """Values of enumerations that need no class of their own."""

    CU_MEM_ATTACH_GLOBAL = 1
    CU_MEM_ALLOCATION_TYPE_PINNED = 1
    CU_MEM_LOCATION_TYPE_DEVICE = 1
    CU_MEM_HANDLE_TYPE_NONE = 0
    CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4


class AllocationFunctions:
    """Allocation and release, and what a pointer leads to."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._heap = state.heap
        self._schedule = state.schedule

    def cuMemGetInfo_v2(self, free: Any, total: Any) -> None:
        """Give the bytes free, and all bytes, of the current device."""
        used = self._heap.used[self._state.current().device]
        put(free, self._heap.total - used)
        put(total, self._heap.total)

    def cuMemAlloc_v2(self, pointer: Any, nbytes: int) -> None:
        """Give memory of the current device."""
        context = self._state.current()
        put(pointer, self._allocate("device memory", nbytes, context).address)

    def cuMemFree_v2(self, pointer: int) -> None:
        """Free device or managed memory, after all work of its device.

        The driver waits, but nobody should count on it for anything but the memory
        freed: other work stays without an order. Memory of a pool it frees at once.
        """
        self._state.current()
        block = self._whole(pointer, "device memory", "managed memory", "pool memory")
        if block.context is not None:
            waited = [s.last for s in block.context.streams if s.last is not None]
            for work in waited:
                self._schedule.run(work)
            # Work of other devices too, which a stream of this one waits for.
            block.accesses = [
                access
                for access in block.accesses
                if not any(work.comes_after(access.work) for work in waited)
            ]
        self._schedule.released(block, "cuMemFree_v2", where())
        self._heap.forget(block, where())
        self._heap.give_back(block)

    def cuMemAllocManaged(self, pointer: Any, nbytes: int, flags: int) -> None:
        """Give memory that the host and all devices can use."""
        check(flags in (1, 2))
        context = self._state.current()
        put(pointer, self._allocate("managed memory", nbytes, context).address)

    def cuMemHostAlloc(self, pointer: Any, nbytes: int, flags: int) -> None:
        """Give memory of the host that devices can use too."""
        check(0 <= flags < 8)
        context = self._state.current()
        put_handle(pointer, self._allocate("pinned memory", nbytes, context).address)

    def cuMemFreeHost(self, pointer: Any) -> None:
        """Free pinned memory; who frees it has waited for the work that uses it."""
        self._state.current()
        block = self._whole(pointer, "pinned memory")
        self._schedule.released(block, "cuMemFreeHost", where())
        for access in block.accesses:
            self._schedule.run(access.work)
        self._heap.forget(block, where())
        self._heap.give_back(block)

    def cuPointerGetAttribute(self, value: Any, which: int, pointer: int) -> None:
        """Say something about the memory that a pointer leads to."""
        check(bool(value) and which in list(PointerAttribute))
        block = self._heap.find(number(pointer))
        if block is None:
            raise Failure(INVALID_VALUE)
        on_host = block.kind == "pinned memory"
        memory_type = MemoryType.CU_MEMORYTYPE_DEVICE
        answers = {
            PointerAttribute.CU_POINTER_ATTRIBUTE_CONTEXT: (
                "uintptr_t",
                block.context.handle if block.context else 0,
            ),
            PointerAttribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE: (
                "unsigned int",
                MemoryType.CU_MEMORYTYPE_HOST if on_host else memory_type,
            ),
            PointerAttribute.CU_POINTER_ATTRIBUTE_IS_MANAGED: (
                "int",
                block.kind == "managed memory",
            ),
            PointerAttribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: ("int", block.device),
            PointerAttribute.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: (
                "uint64_t",
                block.address,
            ),
            PointerAttribute.CU_POINTER_ATTRIBUTE_RANGE_SIZE: ("size_t", block.nbytes),
        }
        type_name, answer = answers[PointerAttribute(which)]
        put(ffi.cast(type_name + " *", value), answer)

    # Memory in the order of a stream ---------------------------------------------

    def cuMemPoolCreate(self, pool: Any, properties: Any) -> None:
        """Give a new pool for memory of one device."""
        check(bool(pool) and bool(properties))
        wanted = properties[0]
        check(wanted.allocType == MemoryFlags.CU_MEM_ALLOCATION_TYPE_PINNED)
        check(wanted.location.type == MemoryFlags.CU_MEM_LOCATION_TYPE_DEVICE)
        device = self._state.device(wanted.location.id)
        put_handle(pool, self._state.new_pool(device).handle)

    def cuMemPoolDestroy(self, pool: Any) -> None:
        """Forget a pool; memory taken from it stays valid."""
        self._state.destroy_pool(pool)

    def cuMemPoolSetAttribute(self, pool: Any, which: int, value: Any) -> None:
        """Set how much freed memory a pool may keep; here it keeps none."""
        found = self._state.pool(pool)
        check(which == MemoryFlags.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD and bool(value))
        found.threshold = int(ffi.cast("uint64_t *", value)[0])

    def cuMemAllocFromPoolAsync(
        self, pointer: Any, nbytes: int, pool: Any, stream: Any
    ) -> None:
        """Give memory that work may use once it is ordered after this call."""
        check(bool(pointer))
        found, queue = self._state.pool(pool), self._state.stream(stream)
        block = self._allocate("pool memory", nbytes, None, found.device)
        stop = block.address + nbytes
        self._schedule.enqueue(
            queue,
            "cuMemAllocFromPoolAsync",
            where(),
            accesses=[(block, "allocates", block.address, stop)],
        )
        put(pointer, block.address)

    def cuMemFreeAsync(self, pointer: int, stream: Any) -> None:
        """Free memory of a pool in the order of a stream."""
        queue = self._state.stream(stream)
        block = self._whole(pointer, "pool memory")
        self._schedule.enqueue(
            queue,
            "cuMemFreeAsync",
            where(),
            lambda: self._heap.give_back(block),
            [(block, "frees", block.address, block.address + block.nbytes)],
        )
        self._heap.forget(block, where())

    def _allocate(
        self, kind: Kind, nbytes: int, context: Context | None, device: int = 0
    ) -> Allocation:
        check(nbytes > 0)
        ordinal = device if context is None else context.device
        block = self._heap.allocate(kind, nbytes, ordinal, context, where())
        if block is None:
            raise Failure(OUT_OF_MEMORY)
        return block

    def _whole(self, pointer: Any, *kinds: Kind) -> Allocation:
        """Return the block that starts at a pointer, which shall be freed."""
        address, place = number(pointer), where()
        block = self._heap.find(address)
        if block is None:
            freed = self._heap.find_freed(address)
            if freed is None:
                text = f"{place} frees {address:#x}, where the driver has no memory"
                raise self._state.fault("bad free", text, place)
            text = f"{place} frees {freed} once more"
            raise self._state.fault("double free", text, freed.freed, place)
        if block.address != address:
            text = f"{place} frees {address:#x}, which is inside {block}"
            raise self._state.fault("bad free", text, place)
        if block.kind not in kinds:
            text = f"{place} frees {block}: there is another function for that"
            raise self._state.fault("bad free", text, place)
        return block
