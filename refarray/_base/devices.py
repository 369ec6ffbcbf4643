"""Devices: where memory can live, and the DLPack name of that place.

A device is a constant, like a dtype: one object per name, compared by identity. The CPU
is here from the start; CUDA, simulated and pretend devices register themselves later.

Next: `layout.py`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NoReturn, final


class DeviceType(IntEnum):
    """The device types of DLPack 1.3. Source: DLPack, DLDeviceType."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17
    kDLTrn = 18


@final
class Device:
    """A place for memory: `Device("cpu")` returns the one object of that name.

    `name` is the name; `dlpack` is the pair (device_type, device_id) that stands for
    this device in DLPack. ValueError for a name that is not registered.

    Source: array API 2025.12, device support; DLPack, DLDevice.
    """

    __slots__ = ("name", "dlpack")

    name: str
    dlpack: tuple[DeviceType, int]

    def __new__(cls, name: str, /) -> Device:
        if not isinstance(name, str):
            raise TypeError(
                f"a device name is a string such as 'cpu', not {type(name).__name__}"
            )
        device = _registry.get(name)
        if device is None:
            known = ", ".join(map(repr, _registry))
            raise ValueError(f"no device is named {name!r}; known devices: {known}")
        return device

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{self!r} is a constant: cannot set {name!r}")

    # As for a dtype: the other object's == might answer with an array.
    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"Device({self.name!r})"

    def __str__(self) -> str:
        return self.name

    # Loading a pickle looks the name up again, and fails where it is not registered.
    def __reduce__(self) -> tuple[type[Device], tuple[str]]:
        return Device, (self.name,)


_registry: dict[str, Device] = {}


def register(name: str, dlpack: tuple[int, int]) -> Device:
    """Add a device and return it; a repetition returns the device already there.

    `dlpack` is (device_type, device_id). ValueError if the name stands for another
    pair, or if DLPack has no such device type.
    """
    device_type, device_id = dlpack
    device: Device = object.__new__(Device)
    object.__setattr__(device, "name", name)
    object.__setattr__(device, "dlpack", (DeviceType(device_type), device_id))
    # One step, so that two threads registering the same name get the same object.
    registered = _registry.setdefault(name, device)
    if registered.dlpack != device.dlpack:
        raise ValueError(
            f"device {name!r} is registered as {registered.dlpack}, not {device.dlpack}"
        )
    return registered


CPU = register("cpu", (DeviceType.kDLCPU, 0))


def devices() -> tuple[Device, ...]:
    """Return every registered device, in the order of registration."""
    return tuple(_registry.values())


def as_device(obj: object) -> Device:
    """Return the device that a `device=` argument means; None means the CPU.

    TypeError for anything but None and a device, names included.
    """
    if obj is None:
        return CPU
    if isinstance(obj, Device):
        return obj
    if isinstance(obj, str):
        known = [_registry[obj]] if obj in _registry else devices()
        write = " or ".join(map(repr, known))
        raise TypeError(
            f"a device is an object, not a string: write {write}, not {obj!r}"
        )
    raise TypeError(
        f"expected a device such as {CPU!r}, or None, not {type(obj).__name__}"
    )
