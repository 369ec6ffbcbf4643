"""The exchange of CUDA memory: streams, both ways.

The consumer names the stream on which it will use the memory, and the producer lets
that stream wait for its own work, by an event: no host waits. Source: array API
2025.12, array.__dlpack__, `stream`; DLPack, rules 16 to 20 and 54 to 58.

Next: `capsules.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from refarray._base.devices import CPU, DeviceType
from refarray._base.layout import shown
from refarray._memory import device_copies
from refarray._memory.cuda_memory import check_location
from refarray._memory.cuda_streams import LEGACY, PER_THREAD, Stream, current_stream
from refarray._memory.device import open_for
from refarray._memory.device_release import drain as give_back
from refarray._memory.device_use import memory_of
from refarray._memory.native import ArrayBase
from refarray.dlpack.producer import export_to_host

__all__ = [
    "give_back",
    "lend",
    "prepare_export",
    "stream_to_name",
    "take_over",
    "wrong_place",
]

_A = TypeVar("_A", bound=ArrayBase)

_STREAMED = (DeviceType.kDLCUDA, DeviceType.kDLCUDAManaged)


def prepare_export(
    x: _A, stream: object, place: tuple[int, int] | None, copy: bool | None
) -> tuple[_A, bool]:
    """Return the array to export in place of `x`, in CUDA memory, and whether a copy.

    `place` is the device asked for, None for that of `x`.
    """
    give_back()
    if place is not None and place == CPU.dlpack and place != x.device.dlpack:
        if stream is not None:
            raise ValueError(
                f"stream must be None for an export to the host, got {stream!r} "
                "(array API, array.__dlpack__)"
            )
        return export_to_host(x, copy)
    handle = _handle(stream)
    if place is not None and place != x.device.dlpack:
        raise BufferError(
            f"this array lies on {x.device!r}, and cannot be exported to DLPack device "
            f"{shown(place)}; allowed here: {tuple(map(int, x.device.dlpack))}, and "
            f"{tuple(map(int, CPU.dlpack))} by a copy (array API, array.__dlpack__)"
        )
    if x._size:
        memory_of(x)  # or its driver is gone
    if copy:
        if handle is None:
            return device_copies.copy(x, x.device), True
        return device_copies.copy_on_stream(x, x.device, handle), True
    if handle is not None and x._size:
        memory_of(x).order_before(handle)
        if stream is None and x.device.dlpack[0] == DeviceType.kDLCUDAManaged:
            # A consumer on the host has no stream, and can read this memory.
            Stream._known(handle, x.device.dlpack[1]).synchronize()
    return x, False


def _handle(stream: object) -> int | None:
    """Return the consumer's stream as the driver knows it; None to order nothing."""
    if stream is None:
        return LEGACY
    if isinstance(stream, bool) or not isinstance(stream, int):
        raise TypeError(
            "stream must be an integer or None for an array in CUDA memory, not "
            f"{type(stream).__name__} (array API, array.__dlpack__)"
        )
    if stream == -1:
        return None
    if not 0 < stream < 2**64:
        raise ValueError(
            f"stream {stream} is no CUDA stream: {LEGACY} is the legacy default one, "
            f"{PER_THREAD} the thread's own, larger numbers are handles, and -1 asks "
            "for no order; 0 might mean two of these (array API, array.__dlpack__)"
        )
    return stream


def stream_to_name(announced: tuple[int, int]) -> dict[str, object]:
    """Return what to tell a producer whose memory is elsewhere than on the host.

    BufferError where that device cannot be used.
    """
    give_back()
    open_for(announced)
    if announced[0] in _STREAMED:
        return {"stream": current_stream(announced[1])}
    return {}


def wrong_place(x: ArrayBase, *places: tuple[int, int]) -> str | None:
    """Return what is wrong with imported memory that should be in one of `places`."""
    if x.device.dlpack in places:
        return None
    return (
        f"the capsule lies on DLPack device {tuple(map(int, x.device.dlpack))}, but "
        f"{tuple(map(int, places[0]))} was announced by __dlpack_device__; refarray "
        "does not guess which is true (array API, array.__dlpack_device__)"
    )


def take_over(x: ArrayBase) -> str | None:
    """Note on which stream imported memory may be used; return what is wrong with it.

    That is what the driver knows of its address, where the producer says otherwise.
    """
    if x._size and x.device.memory in ("device", "pinned"):
        try:
            check_location(x._buffer.address, x.device.dlpack)
        except BufferError as error:
            return str(error)
        memory = memory_of(x)
        if x.device.memory == "pinned":
            memory.streams = {}  # the host waits for what it does there
    return None


def lend(x: ArrayBase) -> Callable[[int | None], None]:
    """Note that others may come to know the address of `x`; return how to order them.

    The function is called with the stream of a consumer, as `__dlpack__` is.
    """

    def synchronize(stream: int | None) -> None:
        handle = _handle(stream)
        if x._size and handle is not None:
            memory_of(x).order_before(handle)

    if x._size:
        memory_of(x).lent = True
    return synchronize
