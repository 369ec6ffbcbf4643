"""CUDA memory: given and taken back by the driver, copied, and told apart.

Addresses are integers, lengths count bytes, and `ordinal` is the number of the device.
Three kinds: memory of a device; pinned memory, which is the host's but reached by
devices without a detour; managed memory, which moves to whoever touches it.

Source: NVIDIA, "CUDA Driver API", memory management and unified addressing.

Next: `cuda_pool.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from refarray._base.devices import CUDA_TYPES, DeviceType
from refarray._cuda_driver import ffi
from refarray._memory.cuda_context import call, primary_context
from refarray._memory.cuda_driver import OUT_OF_MEMORY, CudaError, Driver, check, driver
from refarray._memory.cuda_handles import Handle
from refarray._memory.cuda_streams import cast

_MEMORY_TYPE: int = ffi.integer_const("CU_POINTER_ATTRIBUTE_MEMORY_TYPE")
_IS_MANAGED: int = ffi.integer_const("CU_POINTER_ATTRIBUTE_IS_MANAGED")
_ORDINAL: int = ffi.integer_const("CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL")
_ON_DEVICE: int = ffi.integer_const("CU_MEMORYTYPE_DEVICE")
_ATTACH_GLOBAL: int = ffi.integer_const("CU_MEM_ATTACH_GLOBAL")


# ---- Giving and taking back ----------------------------------------------------------


class Block:
    """Memory that the driver gave; it gets the memory back after the last reference.

    `address` is where it lies. `kind` is the C type of the address, and the other
    parameters are those of `Handle`.
    """

    __slots__ = ("handle", "__weakref__")

    def __init__(
        self,
        kind: str,
        destroy: str,
        ordinal: int,
        using: Driver,
        prepare: Callable[[Handle], None] | None = None,
    ) -> None:
        self.handle = Handle(self, kind, destroy, ordinal, using, prepare)

    @property
    def address(self) -> int:
        """The address of its first byte."""
        return self.handle.number

    def make(self, function: str, nbytes: int, *arguments: Any) -> None:
        """Let the driver give the memory; MemoryError if there is no room."""
        handle = self.handle
        error = handle.try_make(function, nbytes, *arguments)
        name = function.removesuffix("_v2")
        if error == OUT_OF_MEMORY:
            free, total = free_and_total(handle.ordinal)
            raise MemoryError(
                f"{name} has no {nbytes:,} bytes: {free:,} of the {total:,} bytes of "
                f"cuda:{handle.ordinal} are free"
            )
        check(error, name, handle.driver.lib)


def allocate(ordinal: int, nbytes: int) -> Block:
    """Return new memory of a device.

    MemoryError, with what is free, if there is no room. The driver refuses 0 bytes.
    """
    block = Block("CUdeviceptr", "cuMemFree_v2", ordinal, driver())
    block.make("cuMemAlloc_v2", nbytes)
    return block


def allocate_managed(ordinal: int, nbytes: int) -> Block:
    """Return new managed memory; otherwise as `allocate`."""
    block = Block("CUdeviceptr", "cuMemFree_v2", ordinal, driver())
    block.make("cuMemAllocManaged", nbytes, _ATTACH_GLOBAL)
    return block


def allocate_pinned(ordinal: int, nbytes: int) -> Block:
    """Return new pinned memory; otherwise as `allocate`."""
    block = Block("void *", "cuMemFreeHost", ordinal, driver())
    block.make("cuMemHostAlloc", nbytes, 0)
    return block


def synchronize(ordinal: int, owner: Driver | None = None) -> None:
    """Wait for all work of a device."""
    call(ordinal, "cuCtxSynchronize", owner=owner)


def free_and_total(ordinal: int) -> tuple[int, int]:
    """Return how many bytes of a device are free, and how many it has."""
    free, total = ffi.new("size_t *"), ffi.new("size_t *")
    call(ordinal, "cuMemGetInfo_v2", free, total)
    return free[0], total[0]


# ---- Copies --------------------------------------------------------------------------
# Each is a piece of work on `stream`, a handle. Pageable memory of the host has been
# read, or written, when the call returns; pinned memory when the stream gets there.


@contextmanager
def over_on_error(ordinal: int, stream: int) -> Iterator[None]:
    """Wait for a stream if an exception ends the `with` block.

    Between a copy and the wait for it, or the order after it, comes an exception of a
    signal handler, say. The memory would then be free for other use during the copy.
    """
    try:
        yield
    except BaseException:
        with suppress(CudaError):  # what does not run any more is over
            call(ordinal, "cuStreamSynchronize", cast(stream))
        raise


def copy_to_device(
    ordinal: int, to: int, from_host: int, nbytes: int, stream: int
) -> None:
    """Copy bytes of the host into memory of a device."""
    if nbytes:
        source = ffi.cast("void *", from_host)
        call(ordinal, "cuMemcpyHtoDAsync_v2", to, source, nbytes, cast(stream))


def copy_to_host(
    ordinal: int, to_host: int, from_device: int, nbytes: int, stream: int
) -> None:
    """Copy bytes of a device into the host's memory, where they are on return."""
    if nbytes:
        target = ffi.cast("void *", to_host)
        ends = (target, from_device)
        with over_on_error(ordinal, stream):
            call(ordinal, "cuMemcpyDtoHAsync_v2", *ends, nbytes, cast(stream))
            call(ordinal, "cuStreamSynchronize", cast(stream))


def copy_on_device(
    ordinal: int, to: int, from_device: int, nbytes: int, stream: int
) -> None:
    """Copy bytes within a device."""
    if nbytes:
        call(ordinal, "cuMemcpyDtoDAsync_v2", to, from_device, nbytes, cast(stream))


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
        call(
            from_ordinal,
            "cuMemcpyPeerAsync",
            *(to, ends[0], from_device, ends[1], nbytes, cast(stream)),
            owner=using,
        )


def fill(ordinal: int, address: int, value: int, nbytes: int, stream: int) -> None:
    """Set each byte to `value`, 0 to 255."""
    if nbytes:
        call(ordinal, "cuMemsetD8Async", address, value, nbytes, cast(stream))


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
