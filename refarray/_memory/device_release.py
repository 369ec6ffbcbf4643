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
from contextlib import suppress

from refarray._base.devices import DeviceType
from refarray._memory import cuda_memory
from refarray._memory.cuda_driver import CudaError, Driver, driver_in_use
from refarray._memory.cuda_streams import (
    LEGACY,
    Event,
    Stream,
    before_destruction,
    order,
)
from refarray._memory.device_use import Memory, for_all_threads, memories
from refarray._memory.host import byte_count, cache_limit
from refarray._memory.native import finish_deferred, take_deferred

# What was taken from the list and not yet seen to, and producers' memory whose deleter
# waits for events. One step of the interpreter takes or adds a thing: a finalizer may
# run between any two, and an interrupt lose none but the one in hand.
_taken: deque[tuple[int, object, bool, bool]] = deque()
_pending: deque[tuple[object, Driver | None, list[Event]]] = deque()


def drain() -> None:
    """Give back what was let go, as far as the work on it is done.

    CudaError, once all has been seen to, if the driver refused some of it.
    """
    refused: CudaError | None = None
    more = True
    while more:
        _taken.extend(take_deferred())
        while _taken:
            try:
                number, note, foreign, exported = _taken.popleft()
            except IndexError:
                break  # another thread had the last one
            memory = memories.pop(number, None)
            try:
                if foreign:
                    using = None if memory is None else memory.driver
                    _pending.append((note, using, _events(memory)))
                else:
                    finish_deferred(note)
                    if memory is not None:
                        _give_back(memory, exported)
            except CudaError as error:
                refused = error
        # A deleter may let go of more: of what we exported and imported again.
        more = _finish_pending()
    if refused is not None:
        raise refused


def _finish_pending() -> bool:
    """Call the deleters that need not wait any more; return whether any did not."""
    finished = False
    for _ in range(len(_pending)):
        try:
            note, using, events = _pending.popleft()
        except IndexError:
            break
        if using is not None and using.forked:
            continue  # the parent's memory, and for the parent to give back
        if all(map(_is_reached, events)):
            finish_deferred(note)
            finished = True
        else:
            _pending.append((note, using, events))
    return finished


def _events(memory: Memory | None) -> list[Event]:
    if memory is None or memory.driver.unusable is not None:
        return []
    events = []
    for handle in memory.streams:
        stream = for_all_threads(handle)
        known = Stream._known(stream, memory.ordinal, using=memory.driver)
        try:
            events.append(known.record())
        except CudaError:
            pass  # what does not run any more is done
    return events


def _is_reached(event: Event) -> bool:
    try:
        return event._driver.unusable is not None or event.query()
    except CudaError:
        return True


def _give_back(memory: Memory, exported: bool) -> None:
    if memory.pool is not None and not (exported or memory.lent):
        if memory.driver.unusable is None:
            memory.order_before(memory.home)
            memory.pool.free(memory.address, memory.home)
    elif exported or memory.lent or not _keep(memory):
        to_driver(memory)


def to_driver(memory: Memory) -> None:
    """Give a block of ours back; its driver waits for the work on it."""
    if memory.driver.unusable is None:
        if memory.pool is not None:
            # Of memory from a pool the driver thinks that it is no longer used.
            cuda_memory.synchronize(memory.ordinal, memory.driver)
        _free(memory.driver, memory.place, memory.address)


def _free(using: Driver, place: tuple[int, int], address: int) -> None:
    if place[0] == DeviceType.kDLCUDAHost:
        cuda_memory.free_pinned(0, address, using)
    else:
        cuda_memory.free(place[1], address, using)


# ---- The cache: blocks by what can use them again without waiting --------------------

_limit = cache_limit()  # REFARRAY_CACHE is for both
_lock = RLock()  # a finalizer may come here in the middle of it


def take_cached(memory: Memory) -> int | None:
    """Return the address of a kept block for new memory, None without one."""
    using = memory.driver
    with _lock:
        kept = using.cache.get(memory.home)
        blocks = kept.get((memory.place, memory.nbytes)) if kept else None
        if not blocks:
            return None
        address = blocks.pop()
        using.cached_bytes -= memory.nbytes
    return address


def _keep(memory: Memory) -> bool:
    using, home = memory.driver, memory.home
    if using.unusable is not None or using.cached_bytes + memory.nbytes > _limit:
        return False
    # Of a stream of ours it is known when it goes; its number may be another's later.
    if home != LEGACY and not isinstance(memory.keeper, Stream):
        return False
    memory.order_before(home)
    key, address = (memory.place, memory.nbytes), memory.address
    with _lock:
        using.cache.setdefault(home, {}).setdefault(key, []).append(address)
        using.cached_bytes += memory.nbytes
    return True


def _leave_to_legacy(using: Driver, ordinal: int, home: int) -> None:
    """Let the legacy stream have the blocks of one that is about to go."""
    with _lock:
        left = using.cache.pop(home, None)
    if left is None:
        return
    try:
        order(ordinal, home, LEGACY, using)
    finally:
        with _lock:
            kept = using.cache.setdefault(LEGACY, {})
            for key, addresses in left.items():
                kept.setdefault(key, []).extend(addresses)


before_destruction.append(_leave_to_legacy)


def empty_cache() -> None:
    """Give everything back to the driver that nobody uses; waits for the devices."""
    drain()
    using = driver_in_use()
    if using is None:
        return
    with _lock:
        cache, using.cache = using.cache, {}
        # Not to 0: blocks may be on their way from one stream to the legacy one.
        using.cached_bytes -= sum(
            nbytes * len(addresses)
            for kept in cache.values()
            for (_, nbytes), addresses in kept.items()
        )
    refused: CudaError | None = None
    for kept in cache.values():
        for (place, _), addresses in kept.items():
            for address in addresses:
                try:
                    _free(using, place, address)
                except CudaError as error:
                    refused = error
    if refused is not None:
        raise refused


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
    _limit = byte_count("the cache limit", nbytes)
    if cached_bytes() > _limit:
        empty_cache()


def _at_exit() -> None:
    # What is let go after this stays noted, and dies with the process.
    drain()
    while _pending:
        note, using, events = _pending.popleft()
        if using is not None and using.forked:
            continue
        for event in events:
            with suppress(CudaError):  # what does not run any more is done
                event.synchronize()
        finish_deferred(note)


def _after_fork_in_child() -> None:
    # A thread that does not exist here may hold the lock.
    global _lock
    _lock = RLock()


atexit.register(_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
