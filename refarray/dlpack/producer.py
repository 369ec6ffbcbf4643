"""The producer: which memory `x.__dlpack__()` exports.

The C method `Array.__dlpack__` (`_cffi_build/export.c`) makes the capsule. Asked for a
plain export of host memory it needs no more; asked for a device, a stream or a copy, it
calls `prepare_export` here and exports what that returns.

Next: `shortcuts.py`.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, TypeVar

from refarray._base import profile
from refarray._base.devices import CPU
from refarray._base.layout import shown
from refarray._memory import host
from refarray._memory.native import ArrayBase

_A = TypeVar("_A", bound=ArrayBase)


def prepare_export(
    x: _A, stream: object, dl_device: object, copy: object
) -> tuple[_A, bool]:
    """Return the array to export in place of `x`, and whether it is a copy.

    The three arguments are those of `__dlpack__`. BufferError for what cannot be had,
    TypeError and ValueError for what makes no sense.

    Source: array API 2025.12, array.__dlpack__.
    """
    if copy is not None and not isinstance(copy, bool):
        raise TypeError(
            f"copy must be True, False or None, not {shown(copy)} "
            "(array API, array.__dlpack__)"
        )
    if x.device.memory == "device":
        from refarray.dlpack import cuda  # with CUDA, and not without

        place = None if dl_device is None else device_pair(dl_device)
        return cuda.prepare_export(x, stream, place, copy)
    if stream is not None:
        # A host has no streams, so there is nothing that a number could name.
        raise ValueError(
            f"stream must be None for an array on {x.device!r}, got {stream!r} "
            "(array API, array.__dlpack__)"
        )
    device = x.device.dlpack if dl_device is None else device_pair(dl_device)
    if device == CPU.dlpack and x.device is not CPU:
        return export_to_host(x, copy)
    if x.device.pretend and dl_device is None:
        # A consumer would take the address for one of the host, or of an accelerator.
        raise BufferError(
            f"this array lies on {x.device!r}, a device of profile "
            f"{profile.active().name!r} that no other library can reach; ask for "
            f"dl_device={tuple(map(int, CPU.dlpack))}, or copy the array with "
            "to_device (array API, array.__dlpack__)"
        )
    if device != x.device.dlpack:
        raise BufferError(
            f"this array lies on {x.device!r}, and cannot be exported to DLPack device "
            f"{shown(device)}; allowed here: {tuple(map(int, x.device.dlpack))} "
            "(array API, array.__dlpack__)"
        )
    return (host.copy(x), True) if copy else (x, False)


def export_to_host(x: _A, copy: bool | None) -> tuple[_A, bool]:
    """Return a copy on the host of an array elsewhere; BufferError if none may be made.

    The second value says that it is a copy.
    """
    if copy is False:
        raise BufferError(
            f"copy=False, but this array lies on {x.device!r}, and its elements must "
            "be copied to be exported on the host (array API, array.__dlpack__)"
        )
    if profile.guarded:
        nbytes = x._size * x.dtype.bits // 8
        profile.check_transfer("__dlpack__", x.device, CPU, nbytes)
    return host.copy(x, CPU), True


def device_pair(dl_device: object) -> tuple[int, int]:
    """Return the argument `dl_device` as two integers, or raise TypeError."""
    pair = plain_pair(dl_device)
    if (
        isinstance(pair, tuple)
        and len(pair) == 2
        and all(isinstance(number, int) for number in pair)
    ):
        return pair
    raise TypeError(
        "dl_device must be None or a tuple (device_type, device_id) of two integers, "
        f"got {shown(dl_device)} (array API, array.__dlpack__)"
    )


def plain_pair(device: Any) -> Any:
    """Return a device pair with an integer for its type, if that is an Enum.

    The standard has an Enum there, and not every Enum equals its number.
    """
    if isinstance(device, tuple) and len(device) == 2:
        kind, number = device
        if isinstance(kind, Enum):
            return kind.value, number
    return device
