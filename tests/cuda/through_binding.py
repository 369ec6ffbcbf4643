"""Small helpers for tests that reach a driver through refarray's binding."""

from __future__ import annotations

from typing import Any

from refarray._cuda_driver import ffi
from refarray._memory import cuda_memory as memory
from refarray._memory import cuda_streams as streams


def address_of(host: Any) -> int:
    return int(ffi.cast("uintptr_t", ffi.from_buffer(host)))


def content(pointer: int, nbytes: int, stream: int = streams.LEGACY) -> bytes:
    host = bytearray(nbytes)
    memory.copy_to_host(0, address_of(host), pointer, nbytes, stream)
    return bytes(host)
