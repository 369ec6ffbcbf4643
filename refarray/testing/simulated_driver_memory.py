"""Memory of the simulated CUDA driver: addresses, what lies there, and what lay there.

Device memory has two addresses on Linux. The one that the program gets, the device
pointer, cannot be read or written: using it on the host ends the process as using a
real device pointer would. The other, the *shadow*, is the driver's own. Both are views
of one anonymous file. Elsewhere there is one view, and a host that reads a device
pointer is not noticed.

Fresh memory is filled with POISON, so that what nobody wrote is recognised. Addresses
of freed memory rest before they return, device pointers until 64 GiB of others have had
their turn, so that a pointer to freed memory points at nothing.

Next: simulated_driver_order.py.
"""

from __future__ import annotations

import mmap
import os
import sys
from bisect import bisect_left, bisect_right, insort
from collections import deque
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from _cffi_backend import FFI

if TYPE_CHECKING:
    from refarray.testing.simulated_driver_order import Access, Context

# Knows the primitive types only. A cdata that another FFI made can be cast with it, so
# nothing here depends on the module with the driver's declarations.
ffi: Any = FFI()

POISON = 0xCB

Kind = Literal["device memory", "pool memory", "pinned memory", "managed memory"]


def address_of(buffer: Any) -> int:
    """Return where the bytes of a buffer lie."""
    return int(ffi.cast("uintptr_t", ffi.from_buffer(buffer)))


def memory_at(address: int, nbytes: int) -> memoryview:
    """Return host memory as writable bytes; nothing checks that it is there."""
    return memoryview(ffi.buffer(ffi.cast("char *", address), nbytes)).cast("B")


def fill(memory: memoryview, value: int) -> None:
    """Set every byte."""
    np.frombuffer(memory, np.uint8)[:] = value


class Space(Protocol):
    """A source of addresses with memory."""

    def take(self, nbytes: int) -> tuple[int, memoryview] | None:
        """Return a new address and the bytes behind it; None if there is no room."""

    def give_back(self, address: int, nbytes: int) -> None:
        """Take memory back: its content is lost, its address rests."""

    def holds(self, address: int) -> bool:
        """Whether nobody else can have memory at an address."""
        ...


class PlainSpace:
    """Memory that the host can use; what was freed last stays mapped for a while.

    Memory never given back stays mapped for good: somebody may still point at it.
    """

    _RESTING_BYTES = 64 << 20

    def __init__(self) -> None:
        self._mapped: dict[int, mmap.mmap] = {}
        self._resting: deque[mmap.mmap] = deque()
        self._resting_bytes = 0

    def take(self, nbytes: int) -> tuple[int, memoryview] | None:
        """Map `nbytes`."""
        try:
            memory = mmap.mmap(-1, nbytes)
        except (OSError, OverflowError):
            return None
        address = address_of(memory)
        self._mapped[address] = memory
        return address, memoryview(memory)

    def give_back(self, address: int, nbytes: int) -> None:
        """Poison it, so that who still reads there sees that it should not."""
        memory = self._mapped.pop(address)
        fill(memoryview(memory), POISON)
        self._resting.append(memory)
        self._resting_bytes += len(memory)
        while self._resting_bytes > self._RESTING_BYTES:
            self._resting_bytes -= len(self._resting.popleft())

    def holds(self, address: int) -> bool:
        """Whether an address is mapped here, in use or resting."""
        return any(
            0 <= address - address_of(memory) < len(memory)
            for memory in (*self._mapped.values(), *self._resting)
        )


def _two_views(nbytes: int) -> tuple[mmap.mmap, mmap.mmap]:
    """Map one anonymous file twice: where nothing can be used, and where all can."""
    if sys.platform != "linux":
        raise OSError("two views of one memory need Linux")
    file = os.memfd_create("refarray simulated CUDA devices")
    try:
        os.ftruncate(file, nbytes)
        shared = mmap.MAP_SHARED
        return (
            mmap.mmap(file, nbytes, flags=shared, prot=0),
            mmap.mmap(file, nbytes, flags=shared),
        )
    finally:
        os.close(file)


class ProtectedSpace:
    """Memory with two views: addresses that the host cannot use, and a shadow.

    OSError where the system does not let us.
    """

    _NBYTES = 64 << 30  # of address space; memory is used only where it is written
    _ALIGNMENT = 512

    def __init__(self) -> None:
        self._view, self._shadow = _two_views(self._NBYTES)
        self._base = address_of(self._view)
        self._bytes = memoryview(self._shadow)
        self._taken: list[tuple[int, int]] = []  # (first, after last), sorted
        self._next = 0

    def _rounded(self, nbytes: int) -> int:
        # Whole pages for whatever fills one: they can go back to the system.
        unit = self._ALIGNMENT if nbytes < mmap.PAGESIZE else mmap.PAGESIZE
        return -(-nbytes // unit) * unit

    def take(self, nbytes: int) -> tuple[int, memoryview] | None:
        """Find room from the last allocation on, then from the start."""
        size = self._rounded(nbytes)
        unit = min(size, mmap.PAGESIZE) if size >= mmap.PAGESIZE else self._ALIGNMENT
        for start in (self._next, 0):
            first = -(-start // unit) * unit
            while first + size <= self._NBYTES:
                after = bisect_right(self._taken, (first + size - 1, self._NBYTES))
                if after == 0 or self._taken[after - 1][1] <= first:
                    insort(self._taken, (first, first + size))
                    self._next = first + size
                    memory = self._bytes[first : first + nbytes]
                    return self._base + first, memory
                first = -(-self._taken[after - 1][1] // unit) * unit
        return None

    def give_back(self, address: int, nbytes: int) -> None:
        """Drop whole pages, whose shadow reads as zeros from now on; poison less."""
        first, size = address - self._base, self._rounded(nbytes)
        del self._taken[bisect_left(self._taken, (first, first + size))]
        if size < mmap.PAGESIZE:
            fill(self._bytes[first : first + nbytes], POISON)
        elif sys.platform == "linux":
            self._shadow.madvise(mmap.MADV_REMOVE, first, size)

    def holds(self, address: int) -> bool:
        """Whether an address is one of ours: they are for good."""
        return 0 <= address - self._base < self._NBYTES


@cache
def device_space() -> Space:
    """Return the one source of device pointers of this process.

    One for all simulations, kept for good: a device pointer that outlives its
    simulation still cannot be read, and means nothing in the next one.
    """
    try:
        return ProtectedSpace()
    except OSError:
        return PlainSpace()


@cache
def host_space() -> Space:
    """Return the one source of pinned and managed memory of this process."""
    return PlainSpace()


@dataclass(eq=False, slots=True)
class Allocation:
    """A block of memory that the driver knows.

    `device` is an ordinal; `context` is None for memory of a pool, as in the driver;
    `memory` is the shadow; `accesses` are those that new work has to be ordered after.
    """

    kind: Kind
    address: int
    nbytes: int
    device: int
    context: Context | None
    memory: memoryview
    where: str
    freed: str = ""
    accesses: list[Access] = field(default_factory=list)

    @property
    def on_device(self) -> bool:
        """Whether the host cannot use it."""
        return self.kind in ("device memory", "pool memory")

    def __str__(self) -> str:
        size = f"{self.nbytes} bytes of {self.kind} at {self.address:#x}"
        freed = f", freed at {self.freed}" if self.freed else ""
        return f"{size} (allocated at {self.where}{freed})"


class Heap:
    """What is allocated, by address, and how much of it.

    `used` counts bytes for each device, of `total` that each has.
    """

    def __init__(self, devices: int, total: int) -> None:
        self.total = total
        self.used = [0] * devices
        self.live_bytes = 0
        self.peak_bytes = 0
        self._starts: list[int] = []
        self._live: dict[int, Allocation] = {}
        self._freed: deque[Allocation] = deque(maxlen=1000)

    def allocate(
        self, kind: Kind, nbytes: int, device: int, context: Context | None, where: str
    ) -> Allocation | None:
        """Return a new poisoned block; None if the device, or the host, has no room."""
        on_host = kind == "pinned memory"
        if not on_host and self.used[device] + nbytes > self.total:
            return None
        protected = kind in ("device memory", "pool memory")
        found = (device_space() if protected else host_space()).take(nbytes)
        if found is None:
            return None
        address, memory = found
        fill(memory, POISON)
        if not on_host:
            self.used[device] += nbytes
        self.live_bytes += nbytes
        self.peak_bytes = max(self.peak_bytes, self.live_bytes)
        block = Allocation(kind, address, nbytes, device, context, memory, where)
        self._live[address] = block
        insort(self._starts, address)
        return block

    def forget(self, block: Allocation, where: str) -> None:
        """Let the program no longer find a block: it has freed it."""
        del self._starts[bisect_left(self._starts, block.address)]
        del self._live[block.address]
        block.freed = where
        block.accesses = []
        self._freed.append(block)

    def give_back(self, block: Allocation, keep: bool = False) -> None:
        """Let go of a forgotten block; its memory goes unless the host may `keep` it.

        Memory kept stays where it is for good.
        """
        if block.kind != "pinned memory":
            self.used[block.device] -= block.nbytes
        self.live_bytes -= block.nbytes
        block.memory = memoryview(b"")
        if block.on_device:
            device_space().give_back(block.address, block.nbytes)
        elif not keep:
            host_space().give_back(block.address, block.nbytes)

    def find(self, address: int) -> Allocation | None:
        """Return the block that an address lies in."""
        index = bisect_right(self._starts, address)
        if index == 0:
            return None
        block = self._live[self._starts[index - 1]]
        return block if address < block.address + block.nbytes else None

    def nearest(self, address: int) -> Allocation | None:
        """Return the last block that starts at or before an address."""
        index = bisect_right(self._starts, address)
        return self._live[self._starts[index - 1]] if index else None

    def find_freed(self, address: int) -> Allocation | None:
        """Return the block that an address lay in, unless it is another's by now."""
        for block in reversed(self._freed):
            if block.address <= address < block.address + block.nbytes:
                space = device_space() if block.on_device else host_space()
                return block if space.holds(address) else None
        return None

    def live(self) -> list[Allocation]:
        """Return the blocks not freed, by address."""
        return [self._live[start] for start in self._starts]
