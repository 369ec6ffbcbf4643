"""Which streams may have work on memory of a device, and the order that follows.

Work that refarray gives to a stream comes after earlier work of its own that it must
not overtake, on whatever stream that was: a read after the last write, a write after
everything. Programs need not say so, and streams that only read wait for nobody.

What is known of a piece of memory stands under the number that its buffer has in C
(`Buffer.memory`): all arrays over it share that, also those that were exported and came
back.

Next: `device_release.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from refarray._base.devices import DeviceType
from refarray._memory.cuda_context import run
from refarray._memory.cuda_driver import CudaError, Driver, driver, driver_in_use
from refarray._memory.cuda_memory import Block
from refarray._memory.cuda_pool import Pool
from refarray._memory.cuda_streams import (
    LEGACY,
    PER_THREAD,
    cast,
    current_stream,
    keeper_of_current_stream,
    order,
)
from refarray._memory.native import ArrayBase


def ordinal_of_place(place: tuple[int, int]) -> int:
    """Return the number of the CUDA device that DLPack's pair has to do with."""
    return 0 if place[0] == DeviceType.kDLCUDAHost else place[1]


# Called with (first, then) when stream `then` was put after `first`, maybe the same.
on_order: list[Callable[[int, int], None]] = []


class Memory:
    """Memory that a driver knows, ours or a producer's, and the streams that use it.

    `block` is the memory itself, if it is ours, and `pool` the pool that it came from,
    if any. `place` is DLPack's device type and id. `writer` is the stream of the last
    write. What comes after all `streams` comes after all work on the memory: `writer`,
    or those that have read since. Each handle goes with what keeps it valid, None if
    that is up to the program. `lent`: others were told the address.

    An exception at any bytecode leaves a Memory that is in order with too many streams,
    never with too few: each change adds a stream before it takes another one away.
    """

    __slots__ = (
        "driver",
        "place",
        "block",
        "nbytes",
        "home",
        "keeper",
        "writer",
        "streams",
        "lent",
        "pool",
    )

    def __init__(self, place: tuple[int, int], nbytes: int = 0) -> None:
        self.driver: Driver = driver()
        self.place = place
        self.block: Block | None = None
        self.nbytes = nbytes
        # The stream that is current now is the one that may use the memory at once.
        self.home = current_stream(self.ordinal)
        self.keeper = keeper_of_current_stream(self.ordinal)
        self.writer = (self.home, self.keeper)
        self.streams: dict[int, object] = {self.home: self.keeper}
        self.lent = False
        self.pool: Pool | None = None

    @property
    def ordinal(self) -> int:
        """The number of its device."""
        return ordinal_of_place(self.place)

    def use(self, address: int, nbytes: int, *, writes: bool) -> None:
        """Let the current stream wait for what it must not overtake on these bytes."""
        using, ordinal = self.driver, self.ordinal
        stream = current_stream(ordinal)
        # Each thread has another stream of that number.
        known = stream in self.streams and stream != PER_THREAD
        if writes:
            keeper = keeper_of_current_stream(ordinal)
            self.order_before(stream)
            self.writer = (stream, keeper)
            self.streams = {stream: keeper}
        elif not known:
            writer = self.writer[0]
            self._order(writer, stream)
            self.streams[stream] = keeper_of_current_stream(ordinal)
            if stream != writer:
                self.streams.pop(writer, None)
        # Simulated kernels run on the host: their driver is told what they use.
        if using.compute is not None and nbytes:
            span = [(address, nbytes)]
            reads_and_writes = ([], span) if writes else (span, [])
            run(ordinal, partial(using.compute, cast(stream), *reads_and_writes), using)

    def order_before(self, stream: int) -> None:
        """Let `stream` wait for all work of ours on this memory."""
        for earlier in list(self.streams):
            self._order(earlier, stream)

    def _order(self, first: int, then: int) -> None:
        first = for_all_threads(first)
        order(self.ordinal, first, then, self.driver)
        for tell in on_order:
            tell(first, then)

    def forget(self, stream: int) -> None:
        """Let the legacy stream, in order after `stream`, stand for it."""
        if stream == LEGACY:
            return
        if stream in self.streams:
            self.streams[LEGACY] = None
            self.streams.pop(stream, None)
        if self.writer[0] == stream:
            self.writer = (LEGACY, None)


def for_all_threads(stream: int) -> int:
    """Return the stream that follows `stream`, whichever thread's it may be."""
    return LEGACY if stream == PER_THREAD else stream


# By the number that the buffer has in C.
memories: dict[int, Memory] = {}


def memory_of(x: ArrayBase) -> Memory:
    """Return what is known of the memory of an array with elements on a device.

    CudaError if it belongs to a driver that is not the one in use.
    """
    number = x._buffer.memory
    found = memories.get(number)
    if found is None:
        # Imported: in order with the current stream, which its producer was told.
        return memories.setdefault(number, Memory(x.device.dlpack))
    if found.driver is not driver_in_use():
        raise CudaError(
            found.driver.unusable
            or "this array lies in memory of a CUDA driver that is not in use here"
        )
    return found


def note_use(x: ArrayBase, *, writes: bool = False) -> None:
    """Let the current stream, which is about to work on an array, do so in order.

    An array is one stretch of bytes here, with its gaps. CudaError as from `memory_of`.
    """
    if x._size:
        memory_of(x).use(*extent(x), writes=writes)


def extent(x: ArrayBase) -> tuple[int, int]:
    """Return the lowest address that an array with elements reaches, and how far."""
    itemsize = x.dtype.bits // 8
    low = high = 0
    for size, stride in zip(x._shape, x._strides, strict=True):
        if stride < 0:
            low += (size - 1) * stride
        else:
            high += (size - 1) * stride
    first = x._buffer.address + x._byte_offset
    return first + low * itemsize, (high - low + 1) * itemsize
