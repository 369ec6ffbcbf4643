"""Memory of devices given back, when it may be, and kept for reuse.

A deleter cannot call the driver, and must not wait. What is let go is noted on a list
in C (`_cffi_build/deferred.c`); `drain` takes it from there at the next allocation and
exchange, and at the end of the process. A block of ours then goes to the cache of the
stream that had it first, in order after the others that used it; or back to the driver,
which waits for all work first, if anyone else ever had its address. A producer's
deleter runs once our work on its memory is done (dmlc/dlpack#176: a deleter is told no
stream).

Next: `device.py`.
"""

from __future__ import annotations

import atexit
import os
from _thread import RLock
from collections import deque

from refarray._base.devices import DeviceType
from refarray._memory import cuda_memory
from refarray._memory.cuda_driver import CudaError, Driver, driver_in_use
from refarray._memory.cuda_streams import LEGACY, Event, Stream
from refarray._memory.device_use import Memory, for_all_threads, memories
from refarray._memory.host import CACHE_LIMIT
from refarray._memory.native import finish_deferred, take_deferred

# Producers' memory whose deleter waits for events. Here and in the caches, one step of
# the interpreter takes or adds a thing: a finalizer may run between any two.
_pending: deque[tuple[object, Driver | None, list[Event]]] = deque()


def drain() -> None:
    """Give back what was let go, as far as the work on it is done.

    CudaError, once all has been seen to, if the driver refused some of it.
    """
    refused: CudaError | None = None
    for number, note, foreign, exported in take_deferred():
        memory = memories.pop(number, None)
        if foreign:
            using = None if memory is None else memory.driver
            events: list[Event] = []
            try:
                events = [] if memory is None else _events(memory)
            except CudaError as error:
                refused = error
            _pending.append((note, using, events))
            continue
        finish_deferred(note)
        try:
            if memory is not None and (exported or not _keep(memory)):
                to_driver(memory)
        except CudaError as error:
            refused = error
    for _ in range(len(_pending)):
        try:
            note, using, events = _pending.popleft()
        except IndexError:
            break  # another thread has them
        if using is not None and using.forked:
            continue  # the parent's memory, and for the parent to give back
        if all(event._driver.unusable or event.query() for event in events):
            finish_deferred(note)
        else:
            _pending.append((note, using, events))
    if refused is not None:
        raise refused


def _events(memory: Memory) -> list[Event]:
    if memory.driver.unusable is not None:
        return []
    return [
        Stream._known(
            for_all_threads(handle), memory.ordinal, using=memory.driver
        ).record()
        for handle in memory.streams
    ]


def to_driver(memory: Memory) -> None:
    """Give a block of ours back; its driver waits for the work on it."""
    if memory.driver.unusable is None:
        if memory.place[0] == DeviceType.kDLCUDAHost:
            cuda_memory.free_pinned(0, memory.address, memory.driver)
        else:
            cuda_memory.free(memory.ordinal, memory.address, memory.driver)


# ---- The cache: blocks by what can use them again without waiting --------------------

_limit = CACHE_LIMIT
_counting = RLock()


def take_cached(memory: Memory) -> int | None:
    """Return the address of a kept block for new memory, None without one."""
    blocks = memory.driver.cache.get((memory.place, memory.home, memory.nbytes))
    try:
        address, _ = blocks.pop() if blocks else (None, None)
    except IndexError:
        return None  # another thread had the last one
    if address is not None:
        _count(memory.driver, -memory.nbytes)
    return address


def _keep(memory: Memory) -> bool:
    using, home = memory.driver, memory.home
    if using.unusable is not None or using.cached_bytes + memory.nbytes > _limit:
        return False
    # The driver may give the number of a stream that is gone to another one.
    if home != LEGACY and memory.keeper is None:
        return False
    memory.order_before(home)
    blocks = using.cache.setdefault((memory.place, home, memory.nbytes), [])
    _count(using, memory.nbytes)
    blocks.append((memory.address, memory.keeper))
    return True


def _count(using: Driver, nbytes: int) -> None:
    with _counting:
        using.cached_bytes += nbytes


def empty_cache() -> None:
    """Give everything back to the driver that nobody uses; waits for the devices."""
    drain()
    using = driver_in_use()
    while using is not None and using.cache:
        try:
            (place, _, nbytes), blocks = using.cache.popitem()
        except KeyError:
            break
        while blocks:
            try:
                address, _ = blocks.pop()
            except IndexError:
                break
            _count(using, -nbytes)
            if place[0] == DeviceType.kDLCUDAHost:
                cuda_memory.free_pinned(0, address, using)
            else:
                cuda_memory.free(place[1], address, using)


def cached_bytes() -> int:
    """Return how many bytes of CUDA memory are kept for reuse."""
    using = driver_in_use()
    return 0 if using is None else using.cached_bytes


def set_cache_limit(nbytes: int) -> None:
    """Keep at most `nbytes` bytes of freed CUDA memory for reuse; 0 keeps none.

    ValueError if negative. As on the host, the environment variable REFARRAY_CACHE sets
    the limit at import, 256 MiB otherwise.
    """
    global _limit
    if nbytes < 0:
        raise ValueError(f"the limit is a number of bytes from 0 up, not {nbytes}")
    _limit = nbytes
    if cached_bytes() > nbytes:
        empty_cache()


def _at_exit() -> None:
    # What is let go after this stays noted, and dies with the process.
    drain()
    while _pending:
        note, using, events = _pending.popleft()
        if using is not None and using.forked:
            continue
        for event in events:
            if event._driver.unusable is None:
                event.synchronize()
        finish_deferred(note)


def _after_fork_in_child() -> None:
    # A thread that does not exist here may hold the lock.
    global _counting
    _counting = RLock()


atexit.register(_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
