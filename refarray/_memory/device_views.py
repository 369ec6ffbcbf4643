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
    try:
        import cupy  # type: ignore[import-not-found,unused-ignore]
    except ImportError as error:
        raise ImportError(
            f"refarray computes on CUDA devices with CuPy: pip install "
            f"'refarray[cuda{version[0]}]' (the driver runs CUDA {version[0]}."
            f"{version[1]}). Memory, copies and exchange work without: {error}"
        ) from error
    # One current stream for both, so that their work is in order.
    follow(cupy.cuda)
    return cupy  # type: ignore[no-any-return]


register_memory(allocate, view)
