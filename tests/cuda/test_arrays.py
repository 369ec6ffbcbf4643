"""Arrays on CUDA devices: made, computed with, shown, kept. On simulated devices.

The values are NumPy's or those of mathematics.
"""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import refarray as xp
from refarray import cuda
from refarray.testing.simulated_driver import SimulatedDriver

pytestmark = pytest.mark.usefixtures("simulated")

PLACES = ["cuda:0", "cuda:1", "cuda_managed:0", "cuda_managed:1", "cuda_host:0"]
CPU = xp.Device("cpu")


@pytest.fixture(params=PLACES)
def device(request: pytest.FixtureRequest, simulated: SimulatedDriver) -> xp.Device:
    return xp.Device(request.param)


def values(x: Any) -> Any:
    """The elements on the host."""
    return np.asarray(x.to_device(CPU))


# ---- Devices -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "pair"),
    [
        ("cuda:0", (2, 0)),
        ("cuda:1", (2, 1)),
        ("cuda_host:0", (3, 0)),
        ("cuda_managed:1", (13, 1)),
    ],
)
def test_a_device_has_its_true_dlpack_type(name: str, pair: tuple[int, int]) -> None:
    device = xp.Device(name)
    assert device is xp.Device(name)
    assert device.dlpack == pair
    x = xp.zeros(3, device=device)
    assert x.device is device
    assert x.__dlpack_device__() == pair
    assert pickle.loads(pickle.dumps(device)) is device


@pytest.mark.parametrize(
    "name",
    [
        "cuda:2",
        "cuda:01",
        "cuda:-1",
        "cuda",
        "cuda:",
        "cuda:x",
        "cuda_host:1",
        "cudax:0",
    ],
)
def test_names_that_are_no_device(name: str) -> None:
    with pytest.raises(ValueError, match="no device is named"):
        xp.Device(name)


def test_the_devices_of_the_namespace() -> None:
    found = xp.__array_namespace_info__().devices()
    assert list(map(str, found)) == ["cpu", "cuda:0", "cuda:1"]


# ---- Creation ------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "complex128"])
def test_creation(device: xp.Device, dtype: str) -> None:
    kind = getattr(xp, dtype)
    for made, expected in (
        (xp.zeros((2, 3), dtype=kind, device=device), np.zeros((2, 3), dtype)),
        (xp.ones((2, 3), dtype=kind, device=device), np.ones((2, 3), dtype)),
        (xp.full((4,), 1, dtype=kind, device=device), np.ones(4, dtype)),
        (xp.eye(3, dtype=kind, device=device), np.eye(3, dtype=dtype)),
        (xp.asarray([0, 1], dtype=kind, device=device), np.asarray([0, 1], dtype)),
    ):
        assert made.device is device
        assert made.dtype is kind
        np.testing.assert_array_equal(values(made), expected)


def test_more_creation(device: xp.Device) -> None:
    np.testing.assert_array_equal(values(xp.arange(5, device=device)), np.arange(5))
    np.testing.assert_array_equal(
        values(xp.linspace(0, 1, 5, device=device)), [0, 0.25, 0.5, 0.75, 1]
    )
    whole = xp.linspace(0, 2**64 - 1, 3, dtype=xp.uint64, device=device)
    assert values(whole).tolist() == [0, 2**63 - 1, 2**64 - 1]
    x = xp.asarray([[1.0, 2.0], [3.0, 4.0]], device=device)
    for made in (xp.zeros_like(x), xp.empty_like(x), xp.ones_like(x)):
        assert (made.device, made.shape) == (device, (2, 2))
    np.testing.assert_array_equal(values(xp.tril(x)), [[1, 0], [3, 4]])
    for grid in xp.meshgrid(xp.arange(2, device=device), xp.arange(3, device=device)):
        assert grid.device is device


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)])
def test_empty_arrays_have_no_memory(device: xp.Device, shape: tuple[int, ...]) -> None:
    x = xp.zeros(shape, device=device)
    assert x._buffer.address == 0
    assert (x + 1).shape == shape
    assert xp.sum(x) == 0
    assert x.to_device(CPU).shape == shape
    assert x.to_device(xp.Device("cuda:1")).shape == shape
    assert xp.from_dlpack(x).shape == shape
    assert xp.from_dlpack(x, copy=True).shape == shape
    assert pickle.loads(pickle.dumps(x)).shape == shape
    del x
    xp.zeros(1, device=device)  # drains


def test_fresh_memory_holds_anything(simulated: SimulatedDriver) -> None:
    x = xp.empty(4, dtype=xp.uint8, device=xp.Device("cuda:0"))
    assert list(values(x)) == [0xCB] * 4
    del x, simulated


def test_asarray_copies_from_anywhere(device: xp.Device) -> None:
    host = np.arange(6.0).reshape(2, 3)
    for given in (host, host.T, host[:, ::-1], xp.asarray(host), memoryview(host)):
        x = xp.asarray(given, device=device)
        assert x.device is device
        np.testing.assert_array_equal(values(x), np.asarray(given))
    host[0, 0] = 7.0
    assert float(x[0, 0]) == 0.0


def test_asarray_of_a_device_array(device: xp.Device) -> None:
    x = xp.asarray([1.0, 2.0], device=device)
    assert xp.asarray(x).device is device
    shared, copied = xp.asarray(x), xp.asarray(x, copy=True)
    x[0] = 5.0
    assert [float(shared[0]), float(copied[0])] == [5.0, 1.0]
    assert xp.asarray(x, dtype=xp.float32).device is device
    assert xp.asarray(x, device=CPU).device is CPU


# ---- Computing -----------------------------------------------------------------------


def test_arithmetic(device: xp.Device) -> None:
    host = np.arange(12.0).reshape(3, 4)
    x = xp.asarray(host, device=device)
    for made, expected in (
        (x + x, host + host),
        (2 * x - 1, 2 * host - 1),
        (x.mT @ x, host.T @ host),
        (x[::2, ::-1] * x[1, :], host[::2, ::-1] * host[1]),
        (xp.sum(x, axis=0), host.sum(0)),
        (xp.cumulative_sum(x, axis=1), host.cumsum(1)),
        (xp.sort(x, descending=True), np.sort(host)[:, ::-1]),
        (xp.where(x > 3, x, 0), np.where(host > 3, host, 0)),
        (xp.astype(x, xp.int8), host.astype("int8")),
        (xp.concat([x, x]), np.concatenate([host, host])),
        (xp.roll(x, 1), np.roll(host, 1)),
        (xp.reshape(x.mT, (12,)), host.T.reshape(12)),
        (xp.unique_values(x > 3), [False, True]),
        (xp.nonzero(x)[1], host.nonzero()[1]),
        (xp.take(x, xp.asarray([2, 0], device=device), axis=0), host[[2, 0]]),
        (xp.linalg.solve(xp.eye(3, device=device), x), host),
        (xp.fft.irfft(xp.fft.rfft(x)), host),
        (xp.clip(x, 2, 5), host.clip(2, 5)),
    ):
        assert made.device is device
        np.testing.assert_allclose(values(made), expected, atol=1e-12)


def test_one_device_at_a_time() -> None:
    x, y = (xp.ones(2, device=xp.Device(f"cuda:{n}")) for n in (0, 1))
    with pytest.raises(ValueError, match="no implicit transfer"):
        x + y
    with pytest.raises(ValueError, match="no implicit transfer"):
        x + xp.ones(2)


def test_no_warning_leaves_a_kernel(
    device: xp.Device, recwarn: pytest.WarningsRecorder
) -> None:
    assert float(xp.ones(1, device=device)[0] / 0) == float("inf")
    assert not recwarn.list


# ---- Indexing and in-place work ------------------------------------------------------


def test_indexing(device: xp.Device) -> None:
    host = np.arange(24).reshape(2, 3, 4)
    x = xp.asarray(host, device=device)
    for key in (1, (0, slice(None), -1), (..., slice(None, None, -2)), (None, 1, 2, 3)):
        np.testing.assert_array_equal(values(x[key]), host[key])
    np.testing.assert_array_equal(values(x[x > 5]), host[host > 5])
    rows = xp.asarray([1, 0, 1], device=device)
    np.testing.assert_array_equal(values(x[rows]), host[[1, 0, 1]])


def test_in_place(device: xp.Device) -> None:
    host = np.arange(12.0).reshape(3, 4)
    x = xp.asarray(host, device=device)
    first_row = x[0, :]
    x += 1
    x[1] = 0
    x[:, ::2] *= 2
    x[x > 20] = xp.asarray(-1.0, device=device)
    host += 1
    host[1] = 0
    host[:, ::2] *= 2
    host[host > 20] = -1
    np.testing.assert_array_equal(values(x), host)
    np.testing.assert_array_equal(values(first_row), host[0])


# ---- Values in Python ----------------------------------------------------------------


def test_scalars(device: xp.Device) -> None:
    x = xp.asarray(3, device=device)
    assert (int(x), float(x), complex(x), bool(x)) == (3, 3.0, 3 + 0j, True)
    assert [10, 20, 30, 40][x] == 40
    assert [float(e) for e in xp.asarray([1.0, 2.0], device=device)] == [1.0, 2.0]


def test_text(device: xp.Device) -> None:
    x = xp.asarray([1.0, 2.5], device=device)
    assert str(x) == "[1., 2.5]" or str(x) == "[1. , 2.5]"
    assert repr(x) == (
        f"Array({x!s}, dtype=refarray.float64, device=Device('{device}'))"
    )


def test_pickles_and_copies(device: xp.Device) -> None:
    x = xp.asarray([[1, 2], [3, 4]], device=device)
    for y in (pickle.loads(pickle.dumps(x.mT)), copy.copy(x.mT), copy.deepcopy(x.mT)):
        assert y.device is device
        np.testing.assert_array_equal(values(y), [[1, 3], [2, 4]])
    x[0, 0] = 9
    assert int(y[0, 0]) == 1


def test_host_memory_is_asked_for_in_vain() -> None:
    x = xp.ones(3, device=xp.Device("cuda:0"))
    with pytest.raises(BufferError, match="copy it with to_device"):
        memoryview(x)
    with pytest.raises(TypeError, match="no NumPy array can share"):
        np.asarray(x)
    managed = xp.ones(3, device=xp.Device("cuda_managed:0"))
    with pytest.raises(BufferError, match="copy it with to_device"):
        memoryview(managed)


def test_pinned_memory_is_the_hosts() -> None:
    x = xp.ones(3, device=xp.Device("cuda_host:0"))
    np.asarray(x)[0] = 4
    assert float(x[0]) == 4
    assert bytes(memoryview(x)) == np.asarray([4.0, 1, 1]).tobytes()


# ---- The array interface of CUDA -----------------------------------------------------


def test_cuda_array_interface() -> None:
    x = xp.asarray([[1, 2, 3], [4, 5, 6]], dtype=xp.int16, device=xp.Device("cuda:0"))
    view = x[:, ::-1]
    assert view.__cuda_array_interface__ == {
        "shape": (2, 3),
        "typestr": "<i2",
        "data": (x._buffer.address + 4, False),
        "strides": (6, -2),
        "version": 3,
        "stream": 1,
    }
    with cuda.Stream() as stream:
        assert x.__cuda_array_interface__["stream"] == stream.handle
    read_only = xp.broadcast_to(x, (2, 2, 3))
    assert read_only.__cuda_array_interface__["data"][1] is True
    empty = xp.zeros((0, 2), device=xp.Device("cuda:0"))
    assert empty.__cuda_array_interface__["data"] == (0, False)


@pytest.mark.parametrize("place", ["cpu", "cuda_host:0"])
def test_host_arrays_have_no_cuda_array_interface(place: str) -> None:
    assert not hasattr(xp.ones(2, device=xp.Device(place)), "__cuda_array_interface__")
