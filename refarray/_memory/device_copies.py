"""Copies between the host and CUDA devices, and among them.

Each is work on the current stream of the device. The host may go on at once where only
devices take part; what it reads is there when the copy returns, and what it lent may be
changed.

Next: `cupy_kernels.py`.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from refarray._base import dtypes
from refarray._base.devices import CPU, Device
from refarray._base.layout import row_major_strides
from refarray._memory import cuda_memory, host
from refarray._memory.cuda_streams import (
    LEGACY,
    Stream,
    current_stream,
    keeper_of_current_stream,
    order,
)
from refarray._memory.device import find_device
from refarray._memory.device_use import extent, memory_of, ordinal_of_place
from refarray._memory.native import ArrayBase, allocate

_A = TypeVar("_A", bound=ArrayBase)


def copy(x: _A, target: Device) -> _A:
    """Return the elements of `x` in new row-major memory of `target`."""
    if x.device.memory != "device":
        return _to_device(x, target)
    if x._size:
        memory_of(x)  # or its driver is gone
    if target.memory != "device":
        return _to_host(x, target)
    if not _is_compact(x):
        return _of_strided(x, target)
    if target.dlpack[1] != x.device.dlpack[1]:
        return _between(x, target)
    out: _A = allocate(x._shape, x.dtype, target, False)
    if x._size:
        _will_read(x)
        ordinal, stream = _ordinal(x), _stream(x)
        cuda_memory.copy_on_device(
            ordinal, _address(out), _address(x), _nbytes(x), stream
        )
    return out


def copy_on_stream(x: _A, target: Device, stream: object) -> _A:
    """Do as `copy`, on a stream of any library."""
    device = x.device if x.device.memory == "device" else target
    ordinal = ordinal_of_place(device.dlpack)
    chosen = Stream.external(stream, find_device(f"cuda:{ordinal}"))
    used: list[ArrayBase] = [x]
    with chosen:
        is_kept = keeper_of_current_stream(ordinal) is not None
        try:
            out = copy(x, target)
            used.append(out)
        finally:
            if not is_kept:
                _forget(chosen, used)
    return out


def _forget(stream: Stream, used: list[ArrayBase]) -> None:
    """Let the legacy stream stand for one whose handle may mean nothing afterwards."""
    order(stream.ordinal, stream.handle, LEGACY)
    for x in used:
        if x.device.memory == "device" and x._size and _ordinal(x) == stream.ordinal:
            memory_of(x).forget(stream.handle)


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


def _will_read(x: ArrayBase) -> None:
    """Note that the current stream is about to read; the copy says which bytes."""
    memory_of(x).use(0, 0, writes=False)


def _to_device(x: _A, target: Device) -> _A:
    if not _is_compact(x):
        x = host.copy(x, CPU)
    out: _A = allocate(x._shape, x.dtype, target, False)
    ordinal, stream = _ordinal(out), _stream(out)
    ends = (_address(out), _address(x))
    with cuda_memory.over_on_error(ordinal, stream):
        cuda_memory.copy_to_device(ordinal, *ends, _nbytes(x), stream)
        if x._size and cuda_memory.locate(_address(x)) is not None:
            # The driver reads pinned memory later, when its owner may have changed it,
            # and not all that is pinned says so.
            Stream._known(stream, ordinal).synchronize()
    return out


def _to_host(x: _A, target: Device) -> _A:
    out: _A = allocate(x._shape, x.dtype, target, False)
    if not x._size:
        return out
    _will_read(x)
    ordinal, stream = _ordinal(x), _stream(x)
    if _is_compact(x):
        cuda_memory.copy_to_host(
            ordinal, _address(out), _address(x), _nbytes(x), stream
        )
        return out
    # All that the strides reach, with the gaps: they are followed on the host.
    lowest, nbytes = extent(x)
    whole: Any = allocate((nbytes,), dtypes.uint8, CPU, False)
    cuda_memory.copy_to_host(ordinal, _address(whole), lowest, nbytes, stream)
    byte_strides = tuple(stride * x.dtype.bits // 8 for stride in x._strides)
    elements: np.ndarray[Any, Any] = np.ndarray(
        x._shape,
        host.NUMPY_DTYPES[x.dtype],
        whole._buffer,
        _address(x) - lowest,
        byte_strides,
    )
    np.copyto(host.numpy_view(out), elements)
    return out


def _of_strided(x: _A, target: Device) -> _A:
    # The library that computes there follows strides; the driver does not.
    from refarray._memory.device_views import kernels, view

    try:
        library = kernels(x.device)
    except ImportError:
        return _to_device(_to_host(x, CPU), target)
    out: _A = allocate(x._shape, x.dtype, x.device, False)
    library.copyto(view(out), view(x))
    return out if target is x.device else copy(out, target)


def _between(x: _A, target: Device) -> _A:
    out: _A = allocate(x._shape, x.dtype, target, False)
    if not x._size:
        return out
    _will_read(x)
    here = Stream._known(_stream(x), _ordinal(x))
    there = Stream._known(_stream(out), _ordinal(out))
    here.wait(there)
    ends = (there.ordinal, _address(out), here.ordinal, _address(x))
    with cuda_memory.over_on_error(here.ordinal, here.handle):
        cuda_memory.copy_between_devices(*ends, _nbytes(x), here.handle)
        there.wait(here)
    return out
