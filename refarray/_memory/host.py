"""Host memory: the cache behind it, NumPy views of it, and copies within it.

Next: `cuda_driver.py`; without CUDA, the folder `dlpack/`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from operator import attrgetter, index
from typing import Any, TypeVar

import numpy as np

from refarray._base import dtypes
from refarray._base.devices import CPU, Device
from refarray._base.dtypes import DType
from refarray._base.layout import shown
from refarray._memory.native import (
    ArrayBase,
    allocate,
    empty_spares,
    ffi,
    lib,
    register_view,
)

_A = TypeVar("_A", bound=ArrayBase)

# How NumPy reads the bytes of a dtype. It has no bfloat16: those pass as plain 16 bits,
# enough to move them; refarray never computes with them.
NUMPY_DTYPES: dict[DType, np.dtype[Any]] = {
    dtype: np.dtype(str(dtype)) for dtype in (*dtypes.STANDARD, dtypes.float16)
}
NUMPY_DTYPES[dtypes.bfloat16] = np.dtype("uint16")
REFARRAY_DTYPES = {NUMPY_DTYPES[d]: d for d in (*dtypes.STANDARD, dtypes.float16)}


for _dtype, _numpy_dtype in NUMPY_DTYPES.items():
    register_view(np.ndarray, _dtype, _numpy_dtype)

# A NumPy array over the memory of an array, the same one each time. Made in C, and of
# the C type, so that a small addition need not wait for it.
numpy_view: Callable[[ArrayBase], np.ndarray[Any, Any]] = attrgetter("_view")


def copy(x: _A, device: Device | None = None) -> _A:
    """Return the elements of `x` in new row-major memory, of its device by default."""
    target = device or x.device
    if x.device.memory == "device" or target.memory == "device":
        from refarray._memory import device_copies  # with CUDA, and not without

        return device_copies.copy(x, target)
    out: _A = allocate(x._shape, x.dtype, target, False)
    np.copyto(numpy_view(out), numpy_view(x))
    return out


def host_array(values: np.ndarray[Any, Any], dtype: DType) -> Any:
    """Return an array of `dtype` with the elements of a NumPy array, in our memory."""
    out = allocate(values.shape, dtype, CPU, False)
    np.copyto(numpy_view(out), values)
    return out


def widen_bfloat16(view: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return float32 values of bfloat16 bits: these are the upper half of a float32."""
    return (view.astype(np.uint32) << 16).view(np.float32)


# The cache ---------------------------------------------------------------------------


def empty_cache() -> None:
    """Return all cached host memory to the system."""
    empty_spares()
    lib.ra_cache_empty()


def byte_count(what: str, nbytes: object) -> int:
    """Return a number of bytes that a cache or pool may keep.

    TypeError for what is no integer, ValueError for a negative one and from 2**63 on.
    """
    if isinstance(nbytes, bool) or not hasattr(type(nbytes), "__index__"):
        raise TypeError(
            f"{what} is an integer, a number of bytes, not {type(nbytes).__name__}"
        )
    number = index(nbytes)  # type: ignore[arg-type]
    if not 0 <= number < 2**63:
        raise ValueError(
            f"{what} is a number of bytes from 0 up, below 2**63, not {shown(number)}"
        )
    return number


def set_cache_limit(nbytes: int) -> None:
    """Keep at most `nbytes` bytes of freed host memory for reuse; 0 keeps none.

    ValueError if negative. The environment variable REFARRAY_CACHE sets the limit at
    import, 256 MiB otherwise.
    """
    lib.ra_cache_set_limit(byte_count("the cache limit", nbytes))
    empty_spares()


_limit = os.environ.get("REFARRAY_CACHE")
if _limit is not None:
    if not _limit.isascii() or not _limit.isdigit():
        raise ValueError(
            f"REFARRAY_CACHE is the cache limit in bytes (0: no cache), not {_limit!r}"
        )
    set_cache_limit(int(_limit))


def cache_limit() -> int:
    """Return how many bytes of freed host memory are kept for reuse at most."""
    counters = ffi.new("ra_statistics *")
    lib.ra_memory_statistics(counters)
    return int(counters.cache_limit)
