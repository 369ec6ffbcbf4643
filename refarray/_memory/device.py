"""Memory of CUDA devices as arrays have it: by the name of a device, and allocated.

This file is imported by the first thing that has to do with CUDA.

Next: `device_copies.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from refarray._base import devices, dtypes, profile
from refarray._base.devices import Device, DeviceType
from refarray._base.layout import shown
from refarray._cuda_driver import ffi
from refarray._memory import cuda_memory
from refarray._memory.cuda_driver import CudaError, Driver, driver, driver_in_use
from refarray._memory.cuda_memory import Block
from refarray._memory.cuda_pool import Pool
from refarray._memory.cuda_streams import current_stream
from refarray._memory.device_release import drain, empty_cache, take_cached
from refarray._memory.device_use import Memory, memories, memory_of, ordinal_of_place
from refarray._memory.host import NUMPY_DTYPES, byte_count
from refarray._memory.native import ArrayBase
from refarray._memory.native import allocate as allocate_array

# Names of devices, their DLPack type, and whose memory it is: see Device.memory.
_KINDS = {
    "cuda": (DeviceType.kDLCUDA, "device"),
    "cuda_managed": (DeviceType.kDLCUDAManaged, "device"),
    "cuda_host": (DeviceType.kDLCUDAHost, "pinned"),
}


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
    ordinal = int(number)
    if number != str(ordinal) or ordinal >= (1 if kind == "cuda_host" else count):
        raise ValueError(
            f"no device is named {name!r}: there are {count} CUDA devices, "
            f"{', '.join(f'cuda:{n}' for n in range(count))}, with managed memory as "
            "cuda_managed:N, and pinned memory as cuda_host:0"
        )
    device_type, memory = _KINDS[kind]
    return devices.register(name, (device_type, ordinal), memory)


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
                find_device(f"{kind}:{shown(announced[1])}")
            except ValueError as error:
                raise BufferError(
                    f"the producer announces DLPack device {shown(announced)}: {error}"
                ) from error


# ---- Allocation ----------------------------------------------------------------------


def allocate(device: Device, nbytes: int, zeroed: int, number: int) -> int:
    """Return the address of new memory, for C; 0 for no bytes.

    `number` is the one that its buffer will have. MemoryError.
    """
    drain()
    if nbytes == 0:
        return 0
    # Known under its number before there is any: if an exception ends this, C lets go
    # of the number, and `drain` gives back what has been allocated so far.
    memory = memories[number] = Memory(device.dlpack, nbytes)
    block = memory.block = take_cached(memory) or _from_driver(memory)
    if device.memory == "device":
        memory.use(block.address, nbytes, writes=True)
    if zeroed:
        _clear(memory, block.address)
    return block.address


def _from_driver(memory: Memory) -> Block:
    if memory.driver.pools is not None and memory.place[0] == DeviceType.kDLCUDA:
        memory.pool = _pool(memory.driver, memory.ordinal)
        return memory.pool.allocate(memory.nbytes, memory.home)
    take = {
        DeviceType.kDLCUDA: cuda_memory.allocate,
        DeviceType.kDLCUDAManaged: cuda_memory.allocate_managed,
        DeviceType.kDLCUDAHost: cuda_memory.allocate_pinned,
    }[DeviceType(memory.place[0])]
    try:
        return take(memory.ordinal, memory.nbytes)
    except MemoryError:
        empty_cache()
    return take(memory.ordinal, memory.nbytes)


def use_pools(keep: int | None) -> None:
    """Take memory of CUDA devices from now on from pools, in the order of streams.

    A pool is one of ours for each device, and keeps up to `keep` freed bytes. The
    driver then gives and takes memory as work on the current stream, and nobody waits;
    but what was exported is given back after all work of the device, as ever. None ends
    it. CudaError for a device without such pools, at its next allocation; ValueError if
    negative.
    """
    kept = None if keep is None else byte_count("what a pool keeps", keep)
    using = driver()
    using.pools = None if kept is None else {}
    using.pool_keeps = kept or 0


def _pool(using: Driver, ordinal: int) -> Pool:
    assert using.pools is not None
    pool: Pool | None = using.pools.get(ordinal)
    if pool is None:
        # Two threads may make one each, of which the second goes unused.
        made = Pool(ordinal, using.pool_keeps)
        kept: Pool = using.pools.setdefault(ordinal, made)
        return kept
    return pool


def _clear(memory: Memory, address: int) -> None:
    nbytes = memory.nbytes
    if memory.place[0] == DeviceType.kDLCUDAHost:
        host_bytes = ffi.buffer(ffi.cast("char *", address), nbytes)
        np.frombuffer(host_bytes, np.uint8).fill(0)
    else:
        cuda_memory.fill(memory.ordinal, address, 0, nbytes, memory.home)


def raw_memory(ordinal: int, nbytes: int) -> Any:
    """Return new memory of a device as a Buffer, which keeps it."""
    place = Device(f"cuda:{ordinal}")
    array: ArrayBase = allocate_array((nbytes,), dtypes.uint8, place, False)
    return array._buffer


def array_interface(x: ArrayBase) -> dict[str, Any]:
    """Return what `__cuda_array_interface__` of an array in CUDA memory says."""
    drain()
    read_only = x._read_only
    if profile.guarded:
        profile.check_values("the exchange of memory")
        read_only = read_only or not profile.active().mutable
    size = x.dtype.bits // 8
    stream = current_stream(ordinal_of_place(x.device.dlpack))
    if x._size:
        memory = memory_of(x)
        memory.order_before(stream)
        memory.lent = True
    return {
        "shape": x._shape,
        "typestr": NUMPY_DTYPES[x.dtype].str,
        "data": (x._buffer.address + x._byte_offset if x._size else 0, read_only),
        "strides": tuple(stride * size for stride in x._strides),
        "version": 3,
        "stream": stream,
    }


devices.others_in_use = devices_in_use
