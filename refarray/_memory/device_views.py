"""What kernels compute with on CUDA devices: CuPy's view of our memory.

On simulated devices NumPy computes in CuPy's place, on the host memory behind them. The
views are made anew each time, which is how the use of the memory becomes known.

Next folder: `dlpack/`.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from refarray._base.devices import Device
from refarray._memory.cuda_driver import driver
from refarray._memory.cuda_streams import follow
from refarray._memory.cupy_kernels import Kernels
from refarray._memory.device import allocate
from refarray._memory.device_use import note_use
from refarray._memory.host import NUMPY_DTYPES
from refarray._memory.native import ArrayBase, register_memory


def view(x: ArrayBase) -> Any:
    """Return the memory of `x` as an array of the library that computes there."""
    note_use(x)
    library = kernels(x.device)
    dtype, buffer = NUMPY_DTYPES[x.dtype], x._buffer
    if not x._size:
        return library.empty(x._shape, dtype=dtype)
    address, nbytes = buffer.address, buffer.nbytes
    byte_strides = tuple(stride * x.dtype.bits // 8 for stride in x._strides)
    if library is np:
        memory = driver().lib.shadow(address, nbytes)
        out = np.ndarray(x._shape, dtype, memory, x._byte_offset, byte_strides)
        if x._read_only:
            out.flags.writeable = False
        return out
    memory = library.cuda.UnownedMemory(
        address, nbytes, buffer, device_id=x.device.dlpack[1]
    )
    start = library.cuda.MemoryPointer(memory, x._byte_offset)
    return library.ndarray(x._shape, dtype, start, byte_strides)


def kernels(device: Device) -> ModuleType:
    """Return the library that computes on a CUDA device; ImportError without one."""
    if hasattr(driver().lib, "shadow"):
        return np
    return _cupy()


@cache
def _cupy() -> ModuleType:
    version = driver().version
    # Drivers run programs for earlier CUDA too; there is no CuPy for a later one yet.
    extra = f"refarray[cuda{min(version[0], 13)}]"
    runs = "the driver runs CUDA {}.{}".format(*version)
    try:
        import cupy  # type: ignore[import-not-found,unused-ignore]
    except ImportError as error:
        raise ImportError(
            f"refarray computes on CUDA devices with CuPy: pip install '{extra}' "
            f"({runs}). Memory, copies and exchange work without: {error}"
        ) from error
    try:
        # For another CUDA, or without its compiler, it imports all the same.
        with cupy.cuda.Device(0):
            _ = cupy.arange(1) + 1
    except Exception as error:
        number = cupy.cuda.runtime.runtimeGetVersion()
        raise ImportError(
            f"CuPy {cupy.__version__} for CUDA {number // 1000}.{number % 1000 // 10} "
            f"does not compute here ({runs}; pip install '{extra}'). Memory, copies "
            f"and exchange work without: {type(error).__name__}: {error}"
        ) from error
    # One current stream for both, so that their work is in order.
    follow(cupy.cuda)
    return Kernels(cupy)


register_memory(allocate, view)
