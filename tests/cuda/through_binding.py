"""Small helpers for tests that reach a driver through refarray's binding."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from refarray._cuda_driver import ffi
from refarray._memory import cuda_memory as memory
from refarray._memory import cuda_streams as streams
from refarray._memory.cuda_context import primary_context
from refarray._memory.cuda_driver import driver
from refarray._memory.cuda_handles import give_back_unowned


def address_of(host: Any) -> int:
    return int(ffi.cast("uintptr_t", ffi.from_buffer(host)))


def content(pointer: int, nbytes: int, stream: int = streams.LEGACY) -> bytes:
    host = bytearray(nbytes)
    memory.copy_to_host(0, address_of(host), pointer, nbytes, stream)
    return bytes(host)


_blocks: dict[int, memory.Block] = {}


def allocate(ordinal: int, nbytes: int) -> int:
    """Memory of a device, which stays until `free`; its address."""
    return keep(memory.allocate(ordinal, nbytes))


def allocate_managed(ordinal: int, nbytes: int) -> int:
    return keep(memory.allocate_managed(ordinal, nbytes))


def allocate_pinned(ordinal: int, nbytes: int) -> int:
    return keep(memory.allocate_pinned(ordinal, nbytes))


def keep(block: memory.Block) -> int:
    _blocks[block.address] = block
    return block.address


def free(address: int) -> None:
    del _blocks[address]
    give_back_unowned()


@contextmanager
def on_device(ordinal: int) -> Iterator[Any]:
    """The functions of the driver, with the context of a device current."""
    using = driver()
    lib = using.lib
    assert lib.cuCtxPushCurrent_v2(primary_context(using, ordinal)) == 0
    try:
        yield lib
    finally:
        lib.cuCtxPopCurrent_v2(ffi.new("CUcontext *"))
