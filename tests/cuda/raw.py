"""Names and small helpers for tests that call the driver's functions directly."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from refarray._cuda_driver import ffi

SUCCESS = ffi.integer_const("CUDA_SUCCESS")
INVALID_VALUE = ffi.integer_const("CUDA_ERROR_INVALID_VALUE")
OUT_OF_MEMORY = ffi.integer_const("CUDA_ERROR_OUT_OF_MEMORY")
NOT_INITIALIZED = ffi.integer_const("CUDA_ERROR_NOT_INITIALIZED")
INVALID_DEVICE = ffi.integer_const("CUDA_ERROR_INVALID_DEVICE")
INVALID_CONTEXT = ffi.integer_const("CUDA_ERROR_INVALID_CONTEXT")
INVALID_HANDLE = ffi.integer_const("CUDA_ERROR_INVALID_HANDLE")
NOT_READY = ffi.integer_const("CUDA_ERROR_NOT_READY")

NULL_STREAM = ffi.NULL
LEGACY = ffi.cast("CUstream", 1)
PER_THREAD = ffi.cast("CUstream", 2)
DEFAULT, NON_BLOCKING = 0, 1
TIMING, NO_TIMING = 0, 2


def get(type_name: str, function: Callable[..., int], *arguments: Any) -> Any:
    """The value that `function` writes through its first parameter."""
    result = ffi.new(type_name + " *")
    assert function(result, *arguments) == SUCCESS
    return result[0]


def in_thread(function: Callable[[], Any]) -> Any:
    """Run `function` in a new thread; its result."""
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    (result,) = results
    return result


def alloc(lib: Any, nbytes: int) -> int:
    pointer: int = get("CUdeviceptr", lib.cuMemAlloc_v2, nbytes)
    return pointer


def pinned(lib: Any, nbytes: int) -> tuple[Any, Any]:
    """Page-locked host memory, which copies reach without a detour; its bytes."""
    pointer = get("void *", lib.cuMemHostAlloc, nbytes, 0)
    return pointer, ffi.buffer(pointer, nbytes)


def read(lib: Any, pointer: int, nbytes: int) -> bytes:
    to = ffi.new("char[]", nbytes)
    assert lib.cuMemcpyDtoH_v2(to, pointer, nbytes) == SUCCESS
    return bytes(ffi.buffer(to))
