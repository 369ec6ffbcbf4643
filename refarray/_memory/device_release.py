"""Memory of devices given back, when it may be, and kept for reuse.

A deleter cannot call the driver, and must not wait. What is let go is noted on a list
in C (`_cffi_build/deferred.c`); `drain` takes it from there at the next allocation and
exchange, and at the end of the process. A block of ours then goes to the cache of the
stream that had it first, in order after the others that used it; or back to the driver,
which waits for all work first, if anyone else ever had its address. A producer's
deleter runs once our work on its memory is done (dmlc/dlpack#176: a deleter is told no
stream).

An exception may come at any bytecode here, that of a signal handler (Ctrl-C) for one.
It loses nothing, because whatever is in hand has an owner that puts it back when it is
dropped: a note returns to the list in C, and a block, a stream or an event to the list
in `cuda_handles.py`. Each step can therefore be done again by the next `drain`.

Next: `device.py`.
"""

from __future__ import annotations

import atexit
import os
from _thread import RLock
from collections import deque
from contextlib import suppress

from refarray._memory.cuda_driver import CudaError, Driver, driver_in_use
from refarray._memory.cuda_handles import give_back_unowned
from refarray._memory.cuda_memory import Block
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
# waits for events. One step of the interpreter takes or adds a thing, because another
# thread or a finalizer may run between any two.
_taken: deque[tuple[int, object, bool, bool]] = deque()
_pending: deque[tuple[int, object, Driver | None, list[Event]]] = deque()

# Notes of memory that the parent of a forked process has to give back.
_of_parent: list[object] = []


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
                taken = _taken.popleft()
            except IndexError:
                break  # another thread had the last one
            try:
                _see_to(*taken)
            except CudaError as error:
                refused = error
        # A deleter may let go of more: of what we exported and imported again.
        more = _finish_pending()
    give_back_unowned()
    if refused is not None:
        raise refused


def _see_to(number: int, note: object, foreign: bool, exported: bool) -> None:
    memory = memories.get(number)
    if foreign:
        using = None if memory is None else memory.driver
        _pending.append((number, note, using, _events(memory)))
        return
    try:
        if memory is not None:
            _give_back(memory, exported)
    except CudaError:
        _finish(number, note)
        raise
    _finish(number, note)


def _finish(number: int, note: object) -> None:
    # In this order: once the note is finished, new memory may have its number.
    memories.pop(number, None)
    finish_deferred(note)


def _finish_pending() -> bool:
    """Call the deleters that need not wait any more; return whether any did not."""
    finished = False
    for _ in range(len(_pending)):
        try:
            number, note, using, events = _pending.popleft()
        except IndexError:
            break
        if using is not None and using.forked:
            _of_parent.append(note)
        elif all(map(_is_reached, events)):
            _finish(number, note)
            finished = True
        else:
            _pending.append((number, note, using, events))
    return finished


def _events(memory: Memory | None) -> list[Event]:
    if memory is None or memory.driver.unusable is not None:
        return []
    events = []
    for handle in memory.streams:
        stream = for_all_threads(handle)
        known = Stream._known(stream, memory.ordinal, using=memory.driver)
        with suppress(CudaError):  # what does not run any more is done
            events.append(known.record(Event._new(memory.ordinal, memory.driver)))
    return events


def _is_reached(event: Event) -> bool:
    try:
        return event._driver.unusable is not None or event.query()
    except CudaError:
        return True


def _give_back(memory: Memory, exported: bool) -> None:
    block = memory.block
    if block is None or memory.driver.unusable is not None:
        return
    if exported or memory.lent:
        memory.block = None  # without an owner, it goes to the driver
    elif memory.pool is not None:
        memory.order_before(memory.home)
        memory.pool.free(block, memory.home)
    else:
        _keep(memory)


# ---- The cache: blocks by what can use them again without waiting --------------------

_limit = cache_limit()  # REFARRAY_CACHE is for both
_lock = RLock()  # a finalizer may come here in the middle of it


def take_cached(memory: Memory) -> Block | None:
    """Return a kept block for new memory, None without one."""
    using = memory.driver
    with _lock:
        blocks = using.cache.get(memory.home, {}).get((memory.place, memory.nbytes))
        try:
            block: Block | None = blocks.pop() if blocks else None
        except IndexError:  # a finalizer came in between
            block = None
        if block is not None:
            using.cached_at_most -= memory.nbytes
    return block


def _keep(memory: Memory) -> None:
    """Move the block of a memory to the cache, or let the driver have it."""
    using, home = memory.driver, memory.home
    # Of a stream of ours it is known when it goes; its number may be another's later.
    stays = home == LEGACY or isinstance(memory.keeper, Stream)
    if stays and _has_room(using, memory.nbytes):
        memory.order_before(home)
        blocks = using.cache.setdefault(home, {}).setdefault(
            (memory.place, memory.nbytes), []
        )
        # Never in both places: a block in the cache may be another memory's at once.
        block, memory.block = memory.block, None
        blocks.append(block)
    else:
        memory.block = None


def _has_room(using: Driver, nbytes: int) -> bool:
    """Whether so many bytes more may be cached, which are counted if they may."""
    with _lock:
        if using.cached_at_most + nbytes > _limit:
            using.cached_at_most = _count(using)
        if using.cached_at_most + nbytes > _limit:
            return False
        using.cached_at_most += nbytes
    return True


def _count(using: Driver) -> int:
    return sum(
        nbytes * len(blocks)
        for kept in list(using.cache.values())
        for (_, nbytes), blocks in list(kept.items())
    )


def _leave_to_legacy(using: Driver, ordinal: int, home: int) -> None:
    """Let the legacy stream have the blocks of one that is about to go."""
    if home not in using.cache:
        return
    with suppress(CudaError):  # work that cannot run any more is done
        order(ordinal, home, LEGACY, using)
    left = using.cache.get(home, {})
    kept = using.cache.setdefault(LEGACY, {})
    for key, blocks in list(left.items()):
        for _ in range(len(blocks)):
            with suppress(IndexError):  # another thread emptied the cache
                kept.setdefault(key, []).append(blocks.pop())
    using.cache.pop(home, None)


before_destruction.append(_leave_to_legacy)


def empty_cache() -> None:
    """Give everything back to the driver that nobody uses; waits for the devices."""
    drain()
    using = driver_in_use()
    if using is None:
        return
    # Blocks and events without an owner go to the driver.
    using.cache.clear()
    using.events.clear()
    with _lock:
        using.cached_at_most = _count(using)
    give_back_unowned()


def cached_bytes() -> int:
    """Return how many bytes of CUDA memory are kept for reuse."""
    using = driver_in_use()
    return 0 if using is None else _count(using)


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
        number, note, using, events = _pending.popleft()
        if using is not None and using.forked:
            _of_parent.append(note)
            continue
        for event in events:
            with suppress(CudaError):  # what does not run any more is done
                event.synchronize()
        _finish(number, note)


def _after_fork_in_child() -> None:
    # A thread that does not exist here may hold the lock.
    global _lock
    _lock = RLock()


atexit.register(_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
