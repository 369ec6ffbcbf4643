"""Devices: where memory can live, and the DLPack name of that place.

A device is a constant, like a dtype: one object per name, compared by identity. The CPU
is here from the start; CUDA devices, real or simulated, and pretend ones come later.
A pretend device belongs to a profile, and is there only while that is in force. Its
memory is the host's, but nothing reaches it that could not reach a GPU's.

Next: `process_bound.py`.
"""

from __future__ import annotations

import os
from _thread import RLock
from collections.abc import Callable
from enum import IntEnum
from itertools import count
from typing import NoReturn, final

from refarray._base import profile


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


# Memory that the CUDA driver knows.
CUDA_TYPES = (DeviceType.kDLCUDA, DeviceType.kDLCUDAHost, DeviceType.kDLCUDAManaged)


@final
class Device:
    """A place for memory: `Device("cpu")` returns the one object of that name.

    `name` is the name; `dlpack` is the pair (device_type, device_id) that stands for
    this device in DLPack. ValueError for a name that is not registered, or that the
    profile in force does not have.

    Source: array API 2025.12, device support; DLPack, DLDevice.
    """

    __slots__ = ("name", "dlpack", "memory", "pretend")

    name: str
    dlpack: tuple[DeviceType, int]
    # Whose memory it is: "host", "pretend", "pinned" (of the host, from a driver) or
    # "device" (the host cannot read it).
    memory: str
    pretend: bool

    def __new__(cls, name: str, /) -> Device:
        if not isinstance(name, str):
            raise TypeError(
                f"a device name is a string such as 'cpu', not {type(name).__name__}"
            )
        device = _registry.get(name)
        if device is None or not (device is CPU or device.pretend):
            device = find_other(name)
        if device is None or (profile.guarded and not _in_force(device)):
            known = ", ".join(repr(known.name) for known in devices())
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
_lock = RLock()


def _nothing(name: str) -> Device | None:
    return None


# Devices of a driver are found when they are asked for by name, and may be gone later.
# Which of them are in use: none before the first was asked for.
find_other: Callable[[str], Device | None] = _nothing
others_in_use: Callable[[], tuple[Device, ...]] = tuple

# Told of each new device: the native module, so that it can find it by its DLPack pair.
on_register: list[Callable[[Device], None]] = []


def register(name: str, dlpack: tuple[int, int], memory: str = "host") -> Device:
    """Add a device and return it; a repetition returns the device already there.

    `dlpack` is (device_type, device_id), `memory` as in `Device`. ValueError if the
    name stands for another pair or memory, or if DLPack has no such device type.
    """
    device_type, device_id = dlpack
    device: Device = object.__new__(Device)
    object.__setattr__(device, "name", name)
    object.__setattr__(device, "dlpack", (DeviceType(device_type), device_id))
    object.__setattr__(device, "memory", memory)
    object.__setattr__(device, "pretend", memory == "pretend")
    with _lock:
        registered = _registry.get(name)
        if registered is None:
            # Before another thread can find it. ValueError where there is no room.
            for tell in on_register:
                tell(device)
            registered = _registry[name] = device
    if registered.dlpack != device.dlpack or registered.memory != memory:
        raise ValueError(
            f"device {name!r} is registered as {_described(registered)}, not "
            f"{_described(device)}"
        )
    return registered


def _described(device: Device) -> str:
    return f"{tuple(map(int, device.dlpack))} of {device.memory} memory"


def _after_fork_in_child() -> None:
    # A thread that does not exist here may hold the lock.
    global _lock
    _lock = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)

CPU = register("cpu", (DeviceType.kDLCPU, 0))


# The ids of pretend devices, by name; they begin where nobody has hardware.
_pretend_ids: dict[str, int] = {}
_free_ids = count(1000)


def register_pretend(name: str) -> Device:
    """Return the pretend device of that name, made when it is first asked for.

    In DLPack it is an extension device (kDLExtDev): the id of a real type would make a
    consumer believe in memory that is not there.
    """
    if name in _registry:
        return _registry[name]
    # One step, so that two threads at a time agree on a name and share no number.
    number = _pretend_ids.setdefault(name, next(_free_ids))
    return register(name, (DeviceType.kDLExtDev, number), "pretend")


def devices() -> tuple[Device, ...]:
    """Return the devices of the profile in force, the default one first.

    Under `strict` those are the real ones, CUDA's once the first of them is in use.
    """
    places = profile.active().devices
    if places is None:
        return CPU, *others_in_use()
    return tuple(_registry[place.name] for place in places)


def _in_force(device: Device) -> bool:
    """Return whether the profile in force has a device, listed or not."""
    if profile.active().devices is None:
        return not device.pretend
    return device in devices()


def default_device() -> Device:
    """Return the device of new arrays."""
    return devices()[0] if profile.guarded else CPU


def as_device(obj: object) -> Device:
    """Return the device that a `device=` argument means; None means the default one.

    TypeError for anything but None and a device, names included, unless profile
    numpy_interop takes those; ValueError for a device that the profile in force does
    not have.
    """
    if obj is None:
        return default_device()
    if isinstance(obj, Device):
        if profile.guarded and not _in_force(obj):
            known = ", ".join(map(repr, devices()))
            raise ValueError(
                f"profile {profile.active().name!r} has no {obj!r}; its devices: "
                f"{known}"
            )
        return obj
    if isinstance(obj, str):
        named = [device for device in devices() if device.name == obj]
        if named and profile.mixes_with_numpy():
            # NumPy's devices are their names.
            return named[0]
        write = " or ".join(map(repr, named or devices()))
        raise TypeError(
            f"a device is an object, not a string: write {write}, not {obj!r}"
        )
    raise TypeError(
        f"expected a device such as {default_device()!r}, or None, not "
        f"{type(obj).__name__}"
    )
