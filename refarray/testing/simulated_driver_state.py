"""What a simulated CUDA driver remembers: contexts, streams, events, pools, mistakes.

`State` turns the handles and pointers that the functions of the driver are given into
objects, or into the error that a real driver would answer with. Two mistakes are kept
apart: races, which a real driver never notices, and faults, such as the use of freed
memory, which it answers with an error that does not say why.

Next: simulated_driver_functions.py.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from collections.abc import Iterable
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from refarray.testing.simulated_driver_memory import (
    Allocation,
    Heap,
    address_of,
    device_space,
    ffi,
    memory_at,
)
from refarray.testing.simulated_driver_order import (
    Context,
    RaceError,
    Report,
    Schedule,
    Stream,
    Work,
)

PACKAGE = f"{Path(__file__).parents[1]}{os.sep}"


class Result(IntEnum):
    """The answers of the driver. Source: cuda.h, CUresult."""

    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_NOT_INITIALIZED = 3
    CUDA_ERROR_DEINITIALIZED = 4
    CUDA_ERROR_STUB_LIBRARY = 34
    CUDA_ERROR_NO_DEVICE = 100
    CUDA_ERROR_INVALID_DEVICE = 101
    CUDA_ERROR_INVALID_CONTEXT = 201
    CUDA_ERROR_INVALID_HANDLE = 400
    CUDA_ERROR_NOT_READY = 600
    CUDA_ERROR_CONTEXT_IS_DESTROYED = 709
    CUDA_ERROR_NOT_PERMITTED = 800
    CUDA_ERROR_NOT_SUPPORTED = 801


class Failure(Exception):
    """Ends a function of the driver; the program gets the code."""

    def __init__(self, code: Result, text: str = "") -> None:
        super().__init__(text or code.name)
        self.code = code


class Event:
    """An event, and the work that it was recorded after last."""

    __slots__ = ("handle", "context", "timing", "record")

    def __init__(self, handle: int, context: Context, timing: bool) -> None:
        self.handle = handle
        self.context = context
        self.timing = timing
        self.record: Work | None = None


class Pool:
    """A memory pool of one device."""

    __slots__ = ("handle", "device", "threshold")

    def __init__(self, handle: int, device: int) -> None:
        self.handle = handle
        self.device = device
        self.threshold = 0


class Place(NamedTuple):
    """Bytes that a pointer leads to; `block` is None for memory the driver ignores."""

    memory: memoryview
    block: Allocation | None
    start: int
    stop: int


class PerThread(threading.local):
    """What each thread has of its own: a stack of contexts, a stream in each."""

    def __init__(self) -> None:
        self.contexts: list[Context] = []
        self.streams: dict[Context, Stream] = {}


def number(value: Any) -> int:
    """Return the number in a handle, a pointer or an integer."""
    if isinstance(value, bytes):
        return address_of(value)
    return int(ffi.cast("uintptr_t", value))


def where() -> str:
    """Return the line of the program, not of refarray, that is running."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith(PACKAGE) and frame.f_back:
        frame = frame.f_back
    return f"{_shortened(frame.f_code.co_filename)}:{frame.f_lineno}"


@cache
def _shortened(name: str) -> str:
    file, here = Path(name), Path.cwd()
    return str(file.relative_to(here)) if file.is_relative_to(here) else name


class State:
    """One simulated driver from cuInit to its end."""

    def __init__(
        self,
        devices: int,
        memory: int,
        version: int,
        on_race: Literal["exit", "raise", "collect"],
    ) -> None:
        self.devices = devices
        self.version = version
        self.on_race = on_race
        self.lock = threading.RLock()
        self.initialized = False
        self.heap = Heap(devices, memory)
        self.schedule = Schedule(self.race)
        self.races: list[Report] = []
        self.faults: list[Report] = []
        self.calls: Counter[str] = Counter()
        self.thread = PerThread()
        self.host_function_in: int | None = None  # a thread's identifier
        self.primary: dict[int, Context] = {}
        self.retained: Counter[int] = Counter()
        self._contexts: dict[int, Context] = {}
        self._streams: dict[int, Stream] = {}
        self._events: dict[int, Event] = {}
        self._pools: dict[int, Pool] = {}
        self._handles = 0x1000

    # Mistakes --------------------------------------------------------------------

    def race(self, report: Report) -> None:
        """Note a race, and end the program if that is wanted."""
        self.races.append(report)
        if self.on_race == "raise":
            raise RaceError(str(report))

    def fault(self, kind: str, text: str, *places: str) -> Failure:
        """Note a fault; return the failure that the function shall end with."""
        report = Report(kind, text, places)
        self.faults.append(report)
        return Failure(Result.CUDA_ERROR_INVALID_VALUE, str(report))

    # Contexts --------------------------------------------------------------------

    def handle(self) -> int:
        """Return a number that no handle had before."""
        self._handles += 0x10
        return self._handles

    def device(self, ordinal: Any) -> int:
        """Return a device that exists."""
        if 0 <= int(ordinal) < self.devices:
            return int(ordinal)
        raise Failure(Result.CUDA_ERROR_INVALID_DEVICE)

    def context(self, handle: Any) -> Context:
        """Return the context with a handle."""
        found = self._contexts.get(number(handle))
        if found is None:
            raise Failure(Result.CUDA_ERROR_INVALID_CONTEXT)
        return self._alive(found)

    def current(self) -> Context:
        """Return the calling thread's current context."""
        if not self.thread.contexts:
            raise Failure(Result.CUDA_ERROR_INVALID_CONTEXT)
        return self._alive(self.thread.contexts[-1])

    def _alive(self, context: Context) -> Context:
        if not context.alive:
            raise Failure(Result.CUDA_ERROR_CONTEXT_IS_DESTROYED)
        return context

    def retain(self, device: int) -> Context:
        """Return the primary context of a device, a new one if it is not active."""
        if not self.retained[device]:
            context = Context(self.handle(), device)
            self.primary[device] = self._contexts[context.handle] = context
        self.retained[device] += 1
        return self.primary[device]

    def release(self, device: int) -> None:
        """Undo `retain`; the last time, the context ends with all that it has."""
        if not self.retained[device]:
            raise Failure(Result.CUDA_ERROR_INVALID_CONTEXT)
        self.retained[device] -= 1
        if not self.retained[device]:
            context = self.primary.pop(device)
            self.synchronize(context)
            context.alive = False
            self.end(block for block in self.heap.live() if block.context is context)

    def end(self, blocks: Iterable[Allocation]) -> None:
        """Free blocks that the program did not; the host may have pointers to them."""
        for block in blocks:
            self.heap.forget(block, where())
            self.heap.give_back(block, keep=True)

    def synchronize(self, context: Context) -> None:
        """Wait for all work in a context."""
        self.schedule.wait(*(stream.last for stream in context.streams))
        context.streams = [stream for stream in context.streams if stream.alive]

    # Streams, events and pools ---------------------------------------------------

    def new_stream(self, blocking: bool) -> Stream:
        """Return a new stream of the current context."""
        context = self.current()
        context.streams = [
            stream
            for stream in context.streams
            if stream.alive or (stream.last and not self.schedule.known(stream.last))
        ]
        stream = Stream(self.handle(), context, blocking)
        context.streams.append(stream)
        self._streams[stream.handle] = stream
        return stream

    def stream(self, handle: Any) -> Stream:
        """Return the stream with a handle: 0 and 1 are legacy, 2 is per-thread."""
        context = self.current()
        wanted = number(handle)
        if wanted < 2:
            return context.legacy
        if wanted == 2:
            if context not in self.thread.streams:
                stream = self.thread.streams[context] = Stream(2, context, True)
                context.streams.append(stream)
            return self.thread.streams[context]
        found = self._streams.get(wanted)
        if found is None or not found.context.alive:
            raise Failure(Result.CUDA_ERROR_INVALID_HANDLE)
        return found

    def destroy_stream(self, handle: Any) -> None:
        """Forget a stream; its work stays to be done."""
        stream = self.stream(handle)
        if number(handle) <= 2:
            raise Failure(Result.CUDA_ERROR_INVALID_HANDLE)
        stream.alive = False
        del self._streams[stream.handle]

    def new_event(self, timing: bool) -> Event:
        """Return a new event of the current context."""
        event = Event(self.handle(), self.current(), timing)
        self._events[event.handle] = event
        return event

    def event(self, handle: Any) -> Event:
        """Return the event with a handle."""
        self.current()
        found = self._events.get(number(handle))
        if found is None or not found.context.alive:
            raise Failure(Result.CUDA_ERROR_INVALID_HANDLE)
        return found

    def destroy_event(self, handle: Any) -> None:
        """Forget an event."""
        del self._events[self.event(handle).handle]

    def new_pool(self, device: int) -> Pool:
        """Return a new pool for memory of a device."""
        pool = Pool(self.handle(), device)
        self._pools[pool.handle] = pool
        return pool

    def pool(self, handle: Any) -> Pool:
        """Return the pool with a handle."""
        found = self._pools.get(number(handle))
        if found is None:
            raise Failure(Result.CUDA_ERROR_INVALID_VALUE)
        return found

    def handles(self) -> dict[str, int]:
        """Return how many streams, events and pools exist."""
        return {
            "streams": len(self._streams),
            "events": len(self._events),
            "pools": len(self._pools),
        }

    def destroy_pool(self, handle: Any) -> None:
        """Forget a pool; the memory taken from it stays."""
        del self._pools[self.pool(handle).handle]

    # Pointers --------------------------------------------------------------------

    def known(self, pointer: Any, nbytes: int) -> Place:
        """Return bytes of memory that the driver gave out."""
        address = number(pointer)
        block = self.heap.find(address)
        if block is None:
            freed = self.heap.find_freed(address)
            if freed is not None:
                text = f"{where()} uses {address:#x}, which is in {freed}"
                raise self.fault("use after free", text, freed.freed, where())
            text = f"{where()} uses {address:#x}, where no device memory is"
            raise self.fault("not a device pointer", text, where())
        start = address - block.address
        if start + nbytes > block.nbytes:
            text = f"{where()} uses bytes {start} to {start + nbytes - 1} of {block}"
            raise self.fault("out of bounds", text, where())
        return Place(
            block.memory[start : start + nbytes], block, address, address + nbytes
        )

    def host(self, pointer: Any, nbytes: int) -> Place:
        """Return bytes of memory that the host can use."""
        address = number(pointer)
        if not address:
            raise Failure(Result.CUDA_ERROR_INVALID_VALUE)
        if (
            self.heap.find(address) is None
            and self.heap.find_freed(address) is None
            and not device_space().holds(address)
        ):
            return Place(memory_at(address, nbytes), None, address, address + nbytes)
        place = self.known(pointer, nbytes)
        if place.block is not None and place.block.on_device:
            text = f"{where()} uses {place.block} as host memory"
            raise self.fault("not a host pointer", text, where())
        return place
