"""Memory of CUDA devices as arrays have it: allocated, and given back when it may be.

A deleter cannot call the driver, and must not wait. What is let go is noted on a list
in C (`_cffi_build/deferred.c`); `drain` takes it from there at the next allocation and
exchange, and at the end of the process. A block of ours then goes to the cache of the
stream that had it, or back to the driver if anyone else ever had its address: the
driver waits for all work first. A producer's deleter runs once our work on its memory
is done (dmlc/dlpack#176: a deleter is told no stream).

This file is imported by the first thing that has to do with CUDA.

Next: `device_copies.py`.
"""

from __future__ import annotations

import atexit
from _thread import allocate_lock
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from refarray._base import devices, dtypes
from refarray._base.devices import Device, DeviceType
from refarray._cuda_driver import ffi
from refarray._memory import cuda_memory
from refarray._memory.cuda_context import on_device
from refarray._memory.cuda_driver import CudaError, Driver, driver, driver_in_use
from refarray._memory.cuda_streams import (
    LEGACY,
    PER_THREAD,
    Event,
    Stream,
    cast,
    current_stream,
    order,
)
from refarray._memory.host import NUMPY_DTYPES
from refarray._memory.native import ArrayBase, finish_deferred, take_deferred
from refarray._memory.native import allocate as allocate_array

# Names of devices, their DLPack type, and whose memory it is: see Device.memory.
_KINDS = {
    "cuda": (DeviceType.kDLCUDA, "device"),
    "cuda_managed": (DeviceType.kDLCUDAManaged, "device"),
    "cuda_host": (DeviceType.kDLCUDAHost, "pinned"),
}


class Block:
    """Memory that the driver gave us."""

    __slots__ = ("driver", "place", "nbytes", "stream")

    def __init__(
        self, using: Driver, place: tuple[int, int], nbytes: int, stream: int
    ) -> None:
        self.driver = using
        self.place = place  # DLPack's device type and id
        self.nbytes = nbytes
        self.stream = stream


class Use:
    """Which streams may have work on memory, ours or a producer's."""

    __slots__ = ("driver", "ordinal", "streams")

    def __init__(self, using: Driver, ordinal: int) -> None:
        self.driver = using
        self.ordinal = ordinal
        self.streams: set[int] = set()


_lock = allocate_lock()
_blocks: dict[int, Block] = {}
_uses: dict[int, Use] = {}
# Producers' memory whose deleter waits for events.
_pending: list[tuple[object, list[Event]]] = []


# ---- Devices -------------------------------------------------------------------------


def find_device(name: str) -> Device | None:
    """Return the CUDA device of a name such as "cuda:0"; None if it is no such name.

    ValueError, saying why, where there is no such device.
    """
    kind, colon, number = name.partition(":")
    if kind not in _KINDS or not colon or not number.isascii() or not number.isdigit():
        return None
    try:
        count = driver().device_count
    except CudaError as error:
        raise ValueError(f"no device is named {name!r}: {error}") from error
    if int(number) >= (1 if kind == "cuda_host" else count):
        raise ValueError(
            f"no device is named {name!r}: there are {count} CUDA devices, "
            f"{', '.join(f'cuda:{n}' for n in range(count))}, with managed memory as "
            "cuda_managed:N, and pinned memory as cuda_host:0"
        )
    device_type, memory = _KINDS[kind]
    return devices.register(name, (device_type, int(number)), memory)


def devices_in_use() -> tuple[Device, ...]:
    """Return the CUDA devices of the driver in use; none before its first use."""
    using = driver_in_use()
    count = 0 if using is None else using.device_count
    found = (find_device(f"cuda:{number}") for number in range(count))
    return tuple(device for device in found if device is not None)


def open_for(announced: tuple[int, int]) -> None:
    """Make known the device that a producer announces; BufferError if there is none."""
    for kind, (device_type, _) in _KINDS.items():
        if announced[0] == device_type:
            try:
                find_device(f"{kind}:{announced[1]}")
            except ValueError as error:
                raise BufferError(
                    f"the producer announces DLPack device {announced}: {error}"
                ) from error


# ---- Allocation ----------------------------------------------------------------------


def allocate(device: Device, nbytes: int, zeroed: int) -> int:
    """Return the address of new memory, for C; 0 for no bytes. MemoryError."""
    drain()
    if nbytes == 0:
        return 0
    using, place = driver(), device.dlpack
    _forget_cache_of_others(using)
    stream = current_stream(ordinal_of_place(place))
    address = _cached(using, place, nbytes, stream)
    if address is None:
        try:
            address = _from_driver(place, nbytes)
        except MemoryError:
            empty_cache()
            address = _from_driver(place, nbytes)
    _blocks[address] = Block(using, place, nbytes, stream)
    if device.memory == "device":
        note_use(address, nbytes, place, writes=True)
        if zeroed:
            cuda_memory.fill(ordinal_of_place(place), address, 0, nbytes, stream)
    elif zeroed:
        ffi.memmove(ffi.cast("char *", address), bytes(nbytes), nbytes)
    return address


def raw_memory(ordinal: int, nbytes: int) -> Any:
    """Return new memory of a device as a Buffer, which keeps it."""
    place = Device(f"cuda:{ordinal}")
    array: ArrayBase = allocate_array((nbytes,), dtypes.uint8, place, False)
    return array._buffer


def ordinal_of_place(place: tuple[int, int]) -> int:
    """Return the number of the CUDA device that DLPack's pair has to do with."""
    return 0 if place[0] == DeviceType.kDLCUDAHost else place[1]


def _from_driver(place: tuple[int, int], nbytes: int) -> int:
    take = {
        DeviceType.kDLCUDA: cuda_memory.allocate,
        DeviceType.kDLCUDAManaged: cuda_memory.allocate_managed,
        DeviceType.kDLCUDAHost: cuda_memory.allocate_pinned,
    }[DeviceType(place[0])]
    return take(ordinal_of_place(place), nbytes)


def _to_driver(block: Block, address: int) -> None:
    if block.driver.unusable is None:
        if block.place[0] == DeviceType.kDLCUDAHost:
            cuda_memory.free_pinned(0, address, block.driver)
        else:
            cuda_memory.free(block.place[1], address, block.driver)


# ---- Use -----------------------------------------------------------------------------


def note_use(
    address: int, nbytes: int, place: tuple[int, int], *, writes: bool = False
) -> None:
    """Note that the current stream is about to work on memory.

    CudaError if the memory belongs to a driver that is gone.
    """
    ordinal = ordinal_of_place(place)
    use = _uses.get(address)
    if use is None:
        use = _uses[address] = Use(driver(), ordinal)
    using = use.driver
    if using is not driver_in_use():
        raise CudaError(
            "this array lies in memory of a CUDA driver that is no longer in use"
        )
    stream = current_stream(ordinal)
    use.streams.add(stream)
    # A simulated driver computes on the host, and is told what a real one would see.
    compute = getattr(using.lib, "compute", None)
    if compute is not None and nbytes:
        span = [(address, nbytes)]
        with on_device(ordinal, using):
            compute(cast(stream), [] if writes else span, span if writes else [])


def order_after_uses(address: int, place: tuple[int, int], stream: int) -> None:
    """Let `stream` wait for all work of ours on memory."""
    use = _uses.get(address)
    for earlier in use.streams if use is not None else ():
        # Each thread has another stream of that number; the legacy one follows all.
        order(
            ordinal_of_place(place),
            LEGACY if earlier == PER_THREAD else earlier,
            stream,
        )


@contextmanager
def on_stream(stream: object, device: Device) -> Iterator[None]:
    """Make a stream of any library the current one, in order with the one before."""
    ordinal = ordinal_of_place(device.dlpack)
    chosen = Stream.external(stream, find_device(f"cuda:{ordinal}"))
    before = current_stream(ordinal)
    order(ordinal, before, chosen.handle)
    with chosen:
        yield
    order(ordinal, chosen.handle, before)


def array_interface(x: ArrayBase) -> dict[str, Any]:
    """Return what `__cuda_array_interface__` of an array in CUDA memory says."""
    ordinal, size = ordinal_of_place(x.device.dlpack), x.dtype.bits // 8
    stream = current_stream(ordinal)
    buffer, strides = x._buffer, tuple(stride * size for stride in x._strides)
    order_after_uses(buffer.address, x.device.dlpack, stream)
    return {
        "shape": x._shape,
        "typestr": NUMPY_DTYPES[x.dtype].str,
        "data": (buffer.address + x._byte_offset if x._size else 0, x._read_only),
        "strides": strides,
        "version": 3,
        "stream": stream,
    }


# ---- Giving back ---------------------------------------------------------------------


def drain() -> None:
    """Give back what was let go, as far as the work on it is done."""
    for address, _, note, _, foreign, exported in take_deferred():
        use = _uses.pop(address, None)
        if foreign:
            with _lock:
                _pending.append((note, _events(use)))
            continue
        finish_deferred(note)
        block = _blocks.pop(address)
        used = {block.stream} if use is None else use.streams
        private = not exported and used == {block.stream} and PER_THREAD not in used
        if not (private and _keep(block, address)):
            _to_driver(block, address)
    with _lock:
        done = [entry for entry in _pending if _is_done(entry[1])]
        _pending[:] = [entry for entry in _pending if entry not in done]
    for note, _ in done:  # a deleter may do anything, so without the lock
        finish_deferred(note)


def _events(use: Use | None) -> list[Event]:
    if use is None or use.driver.unusable is not None:
        return []
    return [
        Stream._known(_for_all_threads(handle), use.ordinal).record()
        for handle in use.streams
    ]


def _for_all_threads(stream: int) -> int:
    # Each thread has another stream of that number; the legacy one follows them all.
    return LEGACY if stream == PER_THREAD else stream


def _is_done(events: list[Event]) -> bool:
    return all(event._driver.unusable or event.query() for event in events)


# The cache: blocks by what can use them again without waiting -------------------------

_Key = tuple[Driver, tuple[int, int], int, int]
_cache: dict[_Key, list[int]] = {}
_cached_bytes = 0
_cache_limit = 256 << 20


def _cached(
    using: Driver, place: tuple[int, int], nbytes: int, stream: int
) -> int | None:
    global _cached_bytes
    with _lock:
        blocks = _cache.get((using, place, stream, nbytes))
        if not blocks:
            return None
        _cached_bytes -= nbytes
        return blocks.pop()


def _keep(block: Block, address: int) -> bool:
    global _cached_bytes
    if block.driver.unusable is not None:
        return True  # the memory went with the driver
    if _cached_bytes + block.nbytes > _cache_limit:
        return False
    _cached_bytes += block.nbytes
    key = (block.driver, block.place, block.stream, block.nbytes)
    _cache.setdefault(key, []).append(address)
    return True


def _forget_cache_of_others(using: Driver) -> None:
    global _cached_bytes
    with _lock:
        for key in [key for key in _cache if key[0] is not using]:
            _cached_bytes -= key[3] * len(_cache.pop(key))


def empty_cache() -> None:
    """Give everything back to the driver that nobody uses; waits for the devices."""
    global _cached_bytes
    drain()
    with _lock:
        for (using, place, stream, nbytes), addresses in _cache.items():
            for address in addresses:
                _to_driver(Block(using, place, nbytes, stream), address)
        _cache.clear()
        _cached_bytes = 0


def cached_bytes() -> int:
    """Return how many bytes of CUDA memory are kept for reuse."""
    return _cached_bytes


def set_cache_limit(nbytes: int) -> None:
    """Keep at most `nbytes` bytes of freed CUDA memory for reuse; 0 keeps none.

    ValueError if negative. 256 MiB unless set.
    """
    global _cache_limit
    if nbytes < 0:
        raise ValueError(f"the limit is a number of bytes from 0 up, not {nbytes}")
    _cache_limit = nbytes
    if _cached_bytes > nbytes:
        empty_cache()


def _at_exit() -> None:
    # Nothing may be let go after this: what is, stays noted and dies with the process.
    drain()
    for note, events in _pending:
        for event in events:
            if event._driver.unusable is None:
                event.synchronize()
        finish_deferred(note)
    _pending.clear()


atexit.register(_at_exit)
devices.others_in_use = devices_in_use
