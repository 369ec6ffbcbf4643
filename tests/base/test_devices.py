"""Devices: one object per name, the DLPack pair, and the registry."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest

from refarray import profiles
from refarray._base import devices as module
from refarray._base.devices import (
    CPU,
    Device,
    DeviceType,
    as_device,
    devices,
    register,
)

# DLPack 1.3, DLDeviceType.
DLPACK_DEVICE_TYPES = {
    "kDLCPU": 1,
    "kDLCUDA": 2,
    "kDLCUDAHost": 3,
    "kDLOpenCL": 4,
    "kDLVulkan": 7,
    "kDLMetal": 8,
    "kDLVPI": 9,
    "kDLROCM": 10,
    "kDLROCMHost": 11,
    "kDLExtDev": 12,
    "kDLCUDAManaged": 13,
    "kDLOneAPI": 14,
    "kDLWebGPU": 15,
    "kDLHexagon": 16,
    "kDLMAIA": 17,
    "kDLTrn": 18,
}


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> dict[str, Device]:
    """A registry of this test's own."""
    mine = dict(module._registry)
    monkeypatch.setattr(module, "_registry", mine)
    return mine


def test_device_types() -> None:
    assert {t.name: t.value for t in DeviceType} == DLPACK_DEVICE_TYPES


def test_cpu() -> None:
    assert Device("cpu") is CPU
    assert CPU.name == "cpu"
    assert CPU.dlpack == (1, 0)
    assert CPU.dlpack == np.empty(0).__dlpack_device__()
    assert CPU in devices()


def test_repr_and_str() -> None:
    assert repr(CPU) == "Device('cpu')"
    assert str(CPU) == "cpu"
    assert eval(repr(CPU)) is CPU


def test_unknown_name_lists_the_known() -> None:
    with pytest.raises(ValueError, match=r"'tpu'; known devices: 'cpu'"):
        Device("tpu")


@pytest.mark.parametrize("name", [None, 0, b"cpu", CPU, ["cpu"]])
def test_a_name_is_a_string(name: object) -> None:
    with pytest.raises(TypeError, match="a device name is a string"):
        Device(name)  # type: ignore[arg-type]


def test_equality_and_hash(registry: dict[str, Device]) -> None:
    other = register("other", (DeviceType.kDLExtDev, 0))
    assert CPU == Device("cpu")
    assert CPU != other
    for foreign in (None, "cpu", 1, (1, 0), np.dtype("int8")):
        assert (foreign == CPU) is False
        assert (foreign != CPU) is True
    # An array of NumPy on the right would answer with an array.
    assert (CPU == np.zeros(2)) is False
    assert (CPU != np.zeros(2)) is True
    assert len({CPU, Device("cpu"), other}) == 2


def test_copies_are_the_same_object() -> None:
    assert copy.copy(CPU) is CPU
    assert copy.deepcopy([CPU])[0] is CPU
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(CPU, protocol)) is CPU


def test_loading_a_device_that_is_not_here(registry: dict[str, Device]) -> None:
    data = pickle.dumps(register("a missing device", (DeviceType.kDLExtDev, 7)))
    del registry["a missing device"]
    with pytest.raises(ValueError, match=r"'a missing device'; known devices: 'cpu'"):
        pickle.loads(data)


def test_a_device_cannot_be_changed() -> None:
    with pytest.raises(AttributeError, match=r"Device\('cpu'\).*'dlpack'"):
        CPU.dlpack = (DeviceType.kDLCUDA, 0)
    assert CPU.dlpack == (1, 0)


def test_register(registry: dict[str, Device]) -> None:
    before = devices()
    device = register("a device of a test", (12, 1), "pretend")
    with profiles.use(devices=["cpu", "a device of a test"]):
        assert device is Device("a device of a test")
        assert devices() == (CPU, device)
    assert device.dlpack == (DeviceType.kDLExtDev, 1)
    assert devices() == before


def test_register_twice(registry: dict[str, Device]) -> None:
    device = register("a device of a test", (12, 31), "pretend")
    assert register("a device of a test", (12, 31), "pretend") is device
    for pair, memory in (((12, 32), "pretend"), ((12, 31), "device")):
        with pytest.raises(ValueError, match="'a device of a test' is registered as"):
            register("a device of a test", pair, memory)
    assert device.dlpack == (12, 31)


def test_register_refuses_what_dlpack_does_not_know(
    registry: dict[str, Device],
) -> None:
    for number in (0, 5, 6, 19):
        with pytest.raises(ValueError, match=str(number)):
            register("strange", (number, 0))
    assert "strange" not in registry


def test_register_from_many_threads(registry: dict[str, Device]) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: register("ext", (12, 0)), range(200)))
    assert all(device is found[0] for device in found)


def test_a_device_that_is_found_is_known_to_all(
    registry: dict[str, Device], monkeypatch: pytest.MonkeyPatch
) -> None:
    telling, go_on = Event(), Event()

    def slow(device: Device) -> None:
        telling.set()
        assert go_on.wait(60)
        told.append(device)

    told: list[Device] = []
    monkeypatch.setattr(module, "on_register", [slow])
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(register, "ext", (12, 0))
        assert telling.wait(60)
        second = pool.submit(register, "ext", (12, 0))
        with pytest.raises(TimeoutError):
            second.result(0.1)
        go_on.set()
        assert first.result(60) is second.result(60)
    assert told == [first.result()]


def test_as_device() -> None:
    assert as_device(None) is CPU
    assert as_device(CPU) is CPU
    with pytest.raises(TypeError, match=r"not a string: write Device\('cpu'\)"):
        as_device("cpu")
    with pytest.raises(TypeError, match=r"Device\('cpu'\).*, not 'no such device'"):
        as_device("no such device")
    for foreign in (0, (1, 0), DeviceType.kDLCPU, Device):
        with pytest.raises(TypeError, match=r"expected a device such as Device\('cpu'"):
            as_device(foreign)
