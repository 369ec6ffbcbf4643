"""Copies between the host and CUDA devices, and among them.

Each is work on the current stream of the device, after all work of ours on the memory.
The host may go on at once where only devices take part; what it reads is there when the
copy returns, and what it lent may be changed.

Next: `device_views.py`.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from refarray._base import dtypes
from refarray._base.devices import CPU, Device
from refarray._base.layout import row_major_strides
from refarray._memory import cuda_memory, host
from refarray._memory.cuda_streams import Stream, current_stream
from refarray._memory.device import note_use, order_after_uses, ordinal_of_place
from refarray._memory.native import ArrayBase, allocate

_A = TypeVar("_A", bound=ArrayBase)


def copy(x: _A, target: Device) -> _A:
    """Return the elements of `x` in new row-major memory of `target`."""
    if x.device.memory != "device":
        return _to_device(x, target)
    if target.memory != "device":
        return _to_host(x, target)
    if target.dlpack[1] != x.device.dlpack[1]:
        return _between(x, target)
    out: _A = allocate(x._shape, x.dtype, target, False)
    if _is_compact(x):
        _begin(x)
        cuda_memory.copy_on_device(*_ends(out, x), _stream(x))
    else:
        # The library that computes there reads strides; the driver does not.
        from refarray._memory.device_views import view

        np.copyto(view(out), view(x))
    return out


def _is_compact(x: ArrayBase) -> bool:
    return x._strides == row_major_strides(x._shape)


def _address(x: ArrayBase) -> int:
    return x._buffer.address + x._byte_offset


def _nbytes(x: ArrayBase) -> int:
    nbytes: int = x._size * x.dtype.bits // 8
    return nbytes


def _ordinal(x: ArrayBase) -> int:
    return ordinal_of_place(x.device.dlpack)


def _stream(x: ArrayBase) -> int:
    return current_stream(_ordinal(x))


def _ends(out: ArrayBase, x: ArrayBase) -> tuple[int, int, int, int]:
    return _ordinal(x), _address(out), _address(x), _nbytes(x)


def _begin(x: ArrayBase) -> None:
    """Let the current stream wait for work on `x`, and note that it uses it."""
    address, place = x._buffer.address, x.device.dlpack
    order_after_uses(address, place, _stream(x))
    note_use(address, 0, place)


def _to_device(x: _A, target: Device) -> _A:
    if not _is_compact(x):
        x = host.copy(x, CPU)
    out: _A = allocate(x._shape, x.dtype, target, False)
    ordinal, stream = _ordinal(out), _stream(out)
    cuda_memory.copy_to_device(ordinal, _address(out), _address(x), _nbytes(x), stream)
    if x.device.memory == "pinned":
        # The driver reads pinned memory later, when its owner may have changed it.
        Stream._known(stream, ordinal).synchronize()
    return out


def _to_host(x: _A, target: Device) -> _A:
    _begin(x)
    out: _A = allocate(x._shape, x.dtype, target, False)
    if _is_compact(x):
        ordinal, to, source, nbytes = _ends(out, x)
        cuda_memory.copy_to_host(ordinal, to, source, nbytes, _stream(x))
    elif x._size:
        # All of the memory, with the gaps: strides are read on the host.
        source, nbytes = x._buffer.address, x._buffer.nbytes
        whole: Any = allocate((nbytes,), dtypes.uint8, CPU, False)
        cuda_memory.copy_to_host(
            _ordinal(x), _address(whole), source, nbytes, _stream(x)
        )
        byte_strides = tuple(stride * x.dtype.bits // 8 for stride in x._strides)
        elements: np.ndarray[Any, Any] = np.ndarray(
            x._shape, host.NUMPY_DTYPES[x.dtype], whole._buffer, x._byte_offset,
            byte_strides,
        )  # fmt: skip
        np.copyto(host.numpy_view(out), elements)
    return out


def _between(x: _A, target: Device) -> _A:
    if not _is_compact(x):
        x = copy(x, x.device)
    out: _A = allocate(x._shape, x.dtype, target, False)
    _begin(x)
    here = Stream._known(_stream(x), _ordinal(x))
    there = Stream._known(_stream(out), _ordinal(out))
    here.wait(there)
    cuda_memory.copy_between_devices(
        there.ordinal, _address(out), here.ordinal, _address(x), _nbytes(x), here.handle
    )
    there.wait(here)
    return out
