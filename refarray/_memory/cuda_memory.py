"""CUDA memory: given and taken back by the driver, copied, and told apart.

Addresses are integers, lengths count bytes, and `ordinal` is the number of the device.
Three kinds: memory of a device; pinned memory, which is the host's but reached by
devices without a detour; managed memory, which moves to whoever touches it.

Source: NVIDIA, "CUDA Driver API", memory management and unified addressing.

Next: `cuda_pool.py`.
"""

from __future__ import annotations

from typing import Any

from refarray._base.devices import CUDA_TYPES, DeviceType
from refarray._cuda_driver import ffi
from refarray._memory.cuda_context import on_device, primary_context
from refarray._memory.cuda_driver import OUT_OF_MEMORY, Driver, check, driver
from refarray._memory.cuda_streams import cast

_MEMORY_TYPE: int = ffi.integer_const("CU_POINTER_ATTRIBUTE_MEMORY_TYPE")
_IS_MANAGED: int = ffi.integer_const("CU_POINTER_ATTRIBUTE_IS_MANAGED")
_ORDINAL: int = ffi.integer_const("CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL")
_ON_DEVICE: int = ffi.integer_const("CU_MEMORYTYPE_DEVICE")
_ATTACH_GLOBAL: int = ffi.integer_const("CU_MEM_ATTACH_GLOBAL")


# ---- Giving and taking back ----------------------------------------------------------


def allocate(ordinal: int, nbytes: int) -> int:
    """Return the address of new memory of a device; 0 for no bytes.

    MemoryError, with what is free, if there is no room.
    """
    if nbytes == 0:  # an error for the driver
        return 0
    result = ffi.new("CUdeviceptr *")
    with on_device(ordinal) as lib:
        error = lib.cuMemAlloc_v2(result, nbytes)
        check_room(error, "cuMemAlloc", lib, ordinal, nbytes)
    return int(result[0])


def allocate_managed(ordinal: int, nbytes: int) -> int:
    """Return the address of new managed memory; otherwise as `allocate`."""
    if nbytes == 0:
        return 0
    result = ffi.new("CUdeviceptr *")
    with on_device(ordinal) as lib:
        error = lib.cuMemAllocManaged(result, nbytes, _ATTACH_GLOBAL)
        check_room(error, "cuMemAllocManaged", lib, ordinal, nbytes)
    return int(result[0])


def allocate_pinned(ordinal: int, nbytes: int) -> int:
    """Return the address of new pinned memory; otherwise as `allocate`."""
    if nbytes == 0:
        return 0
    result = ffi.new("void **")
    with on_device(ordinal) as lib:
        error = lib.cuMemHostAlloc(result, nbytes, 0)
        check_room(error, "cuMemHostAlloc", lib, ordinal, nbytes)
    return int(ffi.cast("uintptr_t", result[0]))


def check_room(error: int, function: str, lib: Any, ordinal: int, nbytes: int) -> None:
    """Raise MemoryError, with what is free, if there is no room; or as `check`."""
    if error != OUT_OF_MEMORY:
        check(error, function, lib)
        return
    free, total = ffi.new("size_t *"), ffi.new("size_t *")
    check(lib.cuMemGetInfo_v2(free, total), "cuMemGetInfo", lib)
    raise MemoryError(
        f"{function} has no {nbytes:,} bytes: {free[0]:,} of the {total[0]:,} bytes of "
        f"cuda:{ordinal} are free"
    )


def free(ordinal: int, address: int, owner: Driver | None = None) -> None:
    """Give back memory of `allocate` or `allocate_managed`; waits for the device."""
    if address:
        with on_device(ordinal, owner) as lib:
            check(lib.cuMemFree_v2(address), "cuMemFree", lib)


def synchronize(ordinal: int, owner: Driver | None = None) -> None:
    """Wait for all work of a device."""
    with on_device(ordinal, owner) as lib:
        check(lib.cuCtxSynchronize(), "cuCtxSynchronize", lib)


def free_pinned(ordinal: int, address: int, owner: Driver | None = None) -> None:
    """Give back memory of `allocate_pinned`."""
    if address:
        with on_device(ordinal, owner) as lib:
            error = lib.cuMemFreeHost(ffi.cast("void *", address))
            check(error, "cuMemFreeHost", lib)


def free_and_total(ordinal: int) -> tuple[int, int]:
    """Return how many bytes of a device are free, and how many it has."""
    free, total = ffi.new("size_t *"), ffi.new("size_t *")
    with on_device(ordinal) as lib:
        check(lib.cuMemGetInfo_v2(free, total), "cuMemGetInfo", lib)
    return free[0], total[0]


# ---- Copies --------------------------------------------------------------------------
# Each is a piece of work on `stream`, a handle. Pageable memory of the host has been
# read, or written, when the call returns; pinned memory when the stream gets there.


def copy_to_device(
    ordinal: int, to: int, from_host: int, nbytes: int, stream: int
) -> None:
    """Copy bytes of the host into memory of a device."""
    if nbytes:
        source = ffi.cast("void *", from_host)
        with on_device(ordinal) as lib:
            error = lib.cuMemcpyHtoDAsync_v2(to, source, nbytes, cast(stream))
            check(error, "cuMemcpyHtoDAsync", lib)


def copy_to_host(
    ordinal: int, to_host: int, from_device: int, nbytes: int, stream: int
) -> None:
    """Copy bytes of a device into the host's memory, where they are on return."""
    if nbytes:
        target = ffi.cast("void *", to_host)
        with on_device(ordinal) as lib:
            error = lib.cuMemcpyDtoHAsync_v2(target, from_device, nbytes, cast(stream))
            check(error, "cuMemcpyDtoHAsync", lib)
            check(lib.cuStreamSynchronize(cast(stream)), "cuStreamSynchronize", lib)


def copy_on_device(
    ordinal: int, to: int, from_device: int, nbytes: int, stream: int
) -> None:
    """Copy bytes within a device."""
    if nbytes:
        with on_device(ordinal) as lib:
            error = lib.cuMemcpyDtoDAsync_v2(to, from_device, nbytes, cast(stream))
            check(error, "cuMemcpyDtoDAsync", lib)


def copy_between_devices(
    to_ordinal: int,
    to: int,
    from_ordinal: int,
    from_device: int,
    nbytes: int,
    stream: int,
) -> None:
    """Copy bytes of one device to another; `stream` is the giving device's."""
    if nbytes:
        using = driver()
        ends = [primary_context(using, n) for n in (to_ordinal, from_ordinal)]
        with on_device(from_ordinal, using) as lib:
            error = lib.cuMemcpyPeerAsync(
                to, ends[0], from_device, ends[1], nbytes, cast(stream)
            )
            check(error, "cuMemcpyPeerAsync", lib)


def fill(ordinal: int, address: int, value: int, nbytes: int, stream: int) -> None:
    """Set each byte to `value`, 0 to 255."""
    if nbytes:
        with on_device(ordinal) as lib:
            error = lib.cuMemsetD8Async(address, value, nbytes, cast(stream))
            check(error, "cuMemsetD8Async", lib)


# ---- What an address is --------------------------------------------------------------


def locate(address: int) -> tuple[DeviceType, int] | None:
    """Return where memory lies, as the pair (device_type, device_id) of DLPack.

    None for memory that the driver did not give.
    """
    lib = driver().lib
    kind = ffi.new("unsigned int *")
    if lib.cuPointerGetAttribute(kind, _MEMORY_TYPE, address) or not kind[0]:
        return None
    managed, ordinal = ffi.new("int *"), ffi.new("int *")
    error = lib.cuPointerGetAttribute(managed, _IS_MANAGED, address)
    error = error or lib.cuPointerGetAttribute(ordinal, _ORDINAL, address)
    check(error, "cuPointerGetAttribute", lib)
    if managed[0]:
        return DeviceType.kDLCUDAManaged, ordinal[0]
    if kind[0] == _ON_DEVICE:
        return DeviceType.kDLCUDA, ordinal[0]
    return DeviceType.kDLCUDAHost, 0


def check_location(address: int, dlpack: tuple[int, int]) -> None:
    """Refuse memory that the driver knows to be elsewhere than its producer says.

    `dlpack` is the announced pair (device_type, device_id). Managed memory may pass for
    that of a device, which can use it. BufferError with what was announced and what the
    driver knows; nothing is checked for devices that are not CUDA's.
    """
    kind, device_id = dlpack
    if kind not in CUDA_TYPES:
        return
    found = locate(address)
    announced = f"memory announced as {DeviceType(kind).name} {device_id}"
    if found is None:
        raise BufferError(
            f"{announced} is at {address:#x}, where the CUDA driver knows of none"
        )
    same_kind = kind == found[0] or (
        kind == DeviceType.kDLCUDA and found[0] is DeviceType.kDLCUDAManaged
    )
    same_device = device_id == found[1] or found[0] is not DeviceType.kDLCUDA
    if not (same_kind and same_device):
        raise BufferError(
            f"{announced} is {found[0].name} {found[1]} for the CUDA driver"
        )
