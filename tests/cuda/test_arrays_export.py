"""Arrays in CUDA memory as producers: DLPack rules 10 to 20.

On simulated devices; what is said of streams holds for the C fake as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from peer import Consumer

import refarray as xp
from refarray import cuda
from refarray.dlpack import Tensor, from_capsule, inspect
from refarray.testing.simulated_driver import SimulatedDriver

CPU = xp.Device("cpu")


@pytest.fixture
def device(simulated: SimulatedDriver) -> xp.Device:
    return xp.Device("cuda:0")


def field(capsule: Any, name: str) -> str:
    [found] = [f.value for f in inspect(capsule).fields if f.name.endswith(name)]
    return found


# ---- Streams: rules 16 to 20 ---------------------------------------------------------


def waits(driver: SimulatedDriver) -> int:
    return driver.calls["cuStreamWaitEvent"]


def test_the_consumers_stream_waits_for_ours(
    device: xp.Device, simulated: SimulatedDriver
) -> None:
    with cuda.Stream():
        x = xp.zeros(8, device=device)
        before = waits(simulated)
        consumer = Consumer(x)
    assert waits(simulated) == before + 1
    assert list(consumer.read()) == [0.0] * 8


@pytest.mark.parametrize("stream", [None, 1])
def test_none_and_1_are_the_legacy_stream(
    device: xp.Device, simulated: SimulatedDriver, stream: int | None
) -> None:
    with cuda.Stream():
        x = xp.zeros(8, device=device)
    before = waits(simulated)
    x.__dlpack__(stream=stream)
    assert waits(simulated) == before + 1
    Consumer(Told(x), cuda.Stream.legacy()).write()


class Told:
    """A producer that has been told a stream before, and orders nothing now."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __dlpack_device__(self) -> tuple[int, int]:
        found: tuple[int, int] = self.x.__dlpack_device__()
        return found

    def __dlpack__(self, **asked: Any) -> Any:
        return self.x.__dlpack__(**asked | {"stream": -1})


def test_2_is_the_threads_own_stream(
    device: xp.Device, simulated: SimulatedDriver
) -> None:
    with cuda.Stream():
        x = xp.zeros(8, device=device)
    x.__dlpack__(stream=2)
    Consumer(Told(x), cuda.Stream.per_thread()).write()


def test_the_same_stream_does_not_wait_for_itself(
    device: xp.Device, simulated: SimulatedDriver
) -> None:
    with cuda.Stream() as stream:
        x = xp.zeros(8, device=device)
        before = waits(simulated)
        x.__dlpack__(stream=stream.handle)
    assert waits(simulated) == before


def test_minus_1_asks_for_no_order(
    device: xp.Device, simulated: SimulatedDriver
) -> None:
    x = xp.zeros(8, device=device)
    before = waits(simulated)
    x.__dlpack__(stream=-1)
    x.__dlpack__(stream=-1, copy=True)
    assert waits(simulated) == before


@pytest.mark.parametrize("stream", [0, -2, -(2**70), 2**64])
def test_numbers_that_are_no_stream(device: xp.Device, stream: int) -> None:
    x = xp.ones(2, device=device)
    with pytest.raises(ValueError, match=f"stream {stream} is no CUDA stream"):
        x.__dlpack__(stream=stream)


@pytest.mark.parametrize("stream", ["1", 1.0, True, object(), (1,)])
def test_what_is_no_number(device: xp.Device, stream: object) -> None:
    x = xp.ones(2, device=device)
    with pytest.raises(TypeError, match="stream must be an integer or None"):
        x.__dlpack__(stream=stream)


def test_a_handle_that_means_nothing(device: xp.Device) -> None:
    x = xp.ones(2, device=device)
    with pytest.raises(cuda.CudaError, match="INVALID_HANDLE"):
        x.__dlpack__(stream=0xDEAD0)
    assert float(xp.sum(x)) == 2


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("stream", [1, -1, 0])
def test_pinned_memory_has_no_streams(stream: int) -> None:
    x = xp.ones(2, device=xp.Device("cuda_host:0"))
    with pytest.raises(ValueError, match="stream must be None for an array on"):
        x.__dlpack__(stream=stream)


def test_managed_memory_is_ready_for_a_host_that_knows_no_streams(
    device: xp.Device,
) -> None:
    # NumPy takes managed memory for the host's, and names no stream.
    with cuda.Stream():
        x = xp.zeros(8, device=xp.Device("cuda_managed:0"))
        np.testing.assert_array_equal(np.from_dlpack(x), [0.0] * 8)


def test_pinned_memory_goes_to_numpy(device: xp.Device) -> None:
    x = xp.ones(8, device=device).to_device(xp.Device("cuda_host:0"))
    np.testing.assert_array_equal(np.from_dlpack(x), [1.0] * 8)


# ---- Devices and copies: rules 10 to 15 ----------------------------------------------


@pytest.mark.parametrize(
    ("place", "pair"),
    [("cuda:1", (2, 1)), ("cuda_host:0", (3, 0)), ("cuda_managed:1", (13, 1))],
)
def test_the_capsule_tells_the_true_device(
    simulated: SimulatedDriver, place: str, pair: tuple[int, int]
) -> None:
    x = xp.ones(2, device=xp.Device(place))
    for dl_device in (None, pair):
        capsule = x.__dlpack__(max_version=(1, 0), dl_device=dl_device)
        assert field(capsule, "device.device_type").startswith(str(pair[0]))
        assert field(capsule, "device.device_id") == str(pair[1])


def test_the_host_gets_a_copy(device: xp.Device) -> None:
    for place in ("cuda:0", "cuda_managed:0", "cuda_host:0"):
        with cuda.Stream():
            x = xp.asarray([1.0, 2.0], device=xp.Device(place))
            for copy in (None, True):
                capsule = x.__dlpack__(dl_device=(1, 0), copy=copy, max_version=(1, 0))
                assert "IS_COPIED" in field(capsule, "flags")
                y = from_capsule(capsule)
                assert y.device is CPU
                assert list(np.asarray(y)) == [1.0, 2.0]
            with pytest.raises(BufferError, match="copy=False"):
                x.__dlpack__(dl_device=(1, 0), copy=False)


def test_the_host_has_no_stream(device: xp.Device) -> None:
    x = xp.ones(2, device=device)
    for stream in (1, -1, 2):
        with pytest.raises(ValueError, match="stream must be None"):
            x.__dlpack__(dl_device=(1, 0), stream=stream)


@pytest.mark.parametrize("dl_device", [(2, 1), (13, 0), (3, 0), (10, 0), (99, 0)])
def test_other_devices_are_refused(
    device: xp.Device, dl_device: tuple[int, int]
) -> None:
    x = xp.ones(2, device=device)
    with pytest.raises(BufferError, match="cannot be exported to DLPack device"):
        x.__dlpack__(dl_device=dl_device)


def test_a_copy_on_the_consumers_stream(
    device: xp.Device, simulated: SimulatedDriver
) -> None:
    with cuda.Stream():
        x = xp.asarray([1.0, 2.0], device=device)
    stream = cuda.Stream()
    capsule = x.__dlpack__(copy=True, stream=stream.handle, max_version=(1, 0))
    assert "IS_COPIED" in field(capsule, "flags")
    assert int(field(capsule, "data"), 16) != x._buffer.address
    x += 1
    y = from_capsule(capsule)
    assert list(np.asarray(y.to_device(CPU))) == [1.0, 2.0]


def test_views_are_exported_as_they_are(device: xp.Device) -> None:
    x = xp.asarray(np.arange(6.0).reshape(2, 3), device=device)
    capsule = x[:, ::-2].__dlpack__(max_version=(1, 0))
    assert int(field(capsule, "data"), 16) == x._buffer.address + 16
    assert field(capsule, "strides").endswith("[3, -2]")


@pytest.mark.parametrize(
    ("max_version", "name"),
    [
        (None, "dltensor"),
        ((0, 8), "dltensor"),
        ((1, 0), "dltensor_versioned"),
        ((2, 0), "dltensor_versioned"),
    ],
)
def test_versions(
    device: xp.Device, max_version: tuple[int, int] | None, name: str
) -> None:
    capsule = xp.ones(2, device=device).__dlpack__(max_version=max_version)
    assert inspect(capsule).name == name


def test_read_only_memory_needs_a_versioned_capsule(device: xp.Device) -> None:
    x = xp.broadcast_to(xp.ones(1, device=device), (3,))
    assert "READ_ONLY" in field(x.__dlpack__(max_version=(1, 0)), "flags")
    with pytest.raises(BufferError, match="read-only"):
        x.__dlpack__()


def test_a_description_of_an_array_is_in_order(device: xp.Device) -> None:
    with cuda.Stream():
        x = xp.zeros(8, device=device)
        described = Tensor.from_array(x)
    assert list(Consumer(described).read()) == [0.0] * 8
    with pytest.raises(ValueError, match="no CUDA stream"):
        described.__dlpack__(stream=0)


def test_an_empty_array(device: xp.Device) -> None:
    capsule = xp.zeros((0, 2), device=device).__dlpack__(stream=2)
    assert field(capsule, "data") == "NULL"
