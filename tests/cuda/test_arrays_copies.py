"""to_device in all directions, on streams; memory that runs out.

On simulated devices, and where nothing is computed on the C fake as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import targets
from through_binding import allocate_pinned, free

import refarray as xp
from refarray import cuda
from refarray._memory import cuda_memory
from refarray.testing.simulated_driver import SimulatedDriver, simulated_cuda

PLACES = ["cpu", "cuda:0", "cuda:1", "cuda_managed:0", "cuda_managed:1", "cuda_host:0"]
CPU = xp.Device("cpu")
HOST = np.arange(24.0).reshape(2, 3, 4)
HOST.flags.writeable = False


@pytest.fixture(params=["simulation", "fake"])
def lazy(request: pytest.FixtureRequest) -> Iterator[targets.Target]:
    """A lazy driver, and no race on it."""
    if request.param == "simulation":
        opened = targets.simulation()
    else:
        opened = targets.fake(request.getfixturevalue("fake_library"))
    with opened as target, cuda.use_driver(target.lib):
        yield target
        assert target.races() == []


def values(x: Any) -> Any:
    return np.asarray(x.to_device(CPU))


@pytest.mark.parametrize("target", PLACES)
@pytest.mark.parametrize("source", PLACES)
def test_every_way(lazy: targets.Target, source: str, target: str) -> None:
    x = xp.asarray(HOST, device=xp.Device(source))
    y = x.to_device(xp.Device(target))
    assert y.device is xp.Device(target)
    assert (y is x) == (source == target)
    np.testing.assert_array_equal(values(y), HOST)


VIEWS = {
    "transposed": lambda x: x.mT,
    "reversed": lambda x: x[..., ::-1],
    "strided": lambda x: x[:, 1:, ::2],
    "offset": lambda x: x[1, ...],
    "element": lambda x: x[1, 2, 3],
    "empty": lambda x: x[:, 3:, :],
    "row": lambda x: x[1, 1, :],
}


@pytest.mark.usefixtures("simulated")
@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("target", PLACES)
@pytest.mark.parametrize("source", PLACES)
def test_views(source: str, target: str, name: str) -> None:
    view = VIEWS[name](xp.asarray(HOST, device=xp.Device(source)))
    moved = view.to_device(xp.Device(target))
    np.testing.assert_array_equal(values(moved), VIEWS[name](HOST))


@pytest.mark.parametrize("name", VIEWS)
def test_views_reach_the_host_without_a_kernel(fake_library: Any, name: str) -> None:
    with targets.fake(fake_library) as target, cuda.use_driver(target.lib):
        x = VIEWS[name](xp.asarray(HOST, device=xp.Device("cuda:0")))
        np.testing.assert_array_equal(values(x), VIEWS[name](HOST))


def test_strided_arrays_between_devices_need_no_cupy(fake_library: Any) -> None:
    with targets.fake(fake_library) as target, cuda.use_driver(target.lib):
        x = xp.asarray(HOST, device=xp.Device("cuda:0")).mT
        for place in ("cuda:1", "cuda_managed:0"):
            moved = x.to_device(xp.Device(place))
            np.testing.assert_array_equal(values(moved), HOST.mT)
        np.testing.assert_array_equal(values(xp.asarray(x, copy=True)), HOST.mT)


def test_a_small_view_of_much_memory_is_a_small_copy(
    simulated: SimulatedDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = xp.zeros((1000, 1000), device=xp.Device("cuda:0"))
    moved = []
    real = cuda_memory.copy_to_host

    def spy(ordinal: int, to: int, source: int, nbytes: int, stream: int) -> None:
        moved.append(nbytes)
        real(ordinal, to, source, nbytes, stream)

    monkeypatch.setattr(cuda_memory, "copy_to_host", spy)
    x[3:5, 2].to_device(CPU)
    assert moved == [8 * 1001]


def test_the_lender_may_go_on(lazy: targets.Target) -> None:
    for place in ("cpu", "cuda_host:0"):
        x = xp.asarray(HOST, device=xp.Device(place), copy=True)
        y = x.to_device(xp.Device("cuda:0"))
        np.asarray(x)[...] = -1
        np.testing.assert_array_equal(values(y), HOST)


def test_pinned_memory_that_does_not_say_so(lazy: targets.Target) -> None:
    address = allocate_pinned(0, 32)
    lent = np.frombuffer(cuda.ffi.buffer(cuda.ffi.cast("char *", address), 32))
    lent[:] = 1
    x = xp.asarray(lent, device=xp.Device("cuda:0"))
    lent[:] = 2
    np.testing.assert_array_equal(values(x), [1.0] * 4)
    free(address)


# ---- Streams -------------------------------------------------------------------------


def test_a_copy_on_a_stream(lazy: targets.Target) -> None:
    stream = cuda.Stream()
    for given in (stream, stream.handle, 2, 1, 0):
        x = xp.asarray(HOST).to_device(xp.Device("cuda:0"), stream=given)
        y = x.to_device(xp.Device("cuda_managed:0"), stream=given)
        np.testing.assert_array_equal(np.asarray(y.to_device(CPU, stream=given)), HOST)
        np.testing.assert_array_equal(values(x), HOST)


def test_a_stream_of_the_source_for_another_device(lazy: targets.Target) -> None:
    x = xp.asarray(HOST, device=xp.Device("cuda:0"))
    y = x.to_device(xp.Device("cuda:1"), stream=cuda.Stream())
    np.testing.assert_array_equal(values(y), HOST)
    np.testing.assert_array_equal(values(x), HOST)


def test_a_stream_may_go_after_the_copy(lazy: targets.Target) -> None:
    x = xp.asarray(HOST, device=xp.Device("cuda:0"))
    stream = cuda.Stream()
    y = x.to_device(xp.Device("cuda_managed:0"), stream=stream.handle)
    z = xp.from_dlpack(x, copy=True)
    handle = stream.handle
    del stream  # its handle means nothing any more
    for array in (x, y, z):
        with cuda.Stream():
            np.testing.assert_array_equal(values(array), HOST)
        xp.from_dlpack(array)
    del x, y, z, array
    xp.zeros(1, device=xp.Device("cuda:0"))
    assert handle


def test_a_stream_that_arrays_used_lives_as_long(simulated: SimulatedDriver) -> None:
    with cuda.Stream() as stream:
        x = xp.asarray(HOST, device=xp.Device("cuda:0"))
    del stream
    np.testing.assert_array_equal(values(x + 1), HOST + 1)
    assert simulated.calls["cuStreamDestroy_v2"] == 0
    del x
    xp.zeros(0, device=xp.Device("cuda:0"))
    assert simulated.calls["cuStreamDestroy_v2"] == 1


@pytest.mark.usefixtures("simulated")
def test_streams_that_are_refused() -> None:
    x = xp.ones(3)
    with pytest.raises(ValueError, match="between host devices"):
        x.to_device(xp.Device("cuda_host:0"), stream=1)
    with pytest.raises(ValueError, match="between host devices"):
        x.to_device(CPU, stream=1)
    device = xp.Device("cuda:0")
    with pytest.raises(TypeError, match="a stream is an object with __cuda_stream__"):
        x.to_device(device, stream="1")
    with pytest.raises(ValueError, match="no stream"):
        x.to_device(device, stream=-1)
    with pytest.raises(TypeError, match="not None"):
        x.to_device(None)  # type: ignore[arg-type]


def test_a_failed_copy_leaves_the_streams_in_order(
    simulated: SimulatedDriver,
) -> None:
    x = xp.asarray(HOST, device=xp.Device("cuda:0"))
    simulated.fail_next("cuMemcpyDtoHAsync_v2", 700)
    stream = cuda.Stream()
    with pytest.raises(cuda.CudaError):
        x.to_device(CPU, stream=stream)
    assert cuda.current_stream() != stream
    del stream
    x += 1
    np.testing.assert_array_equal(values(x), HOST + 1)


# ---- Room ----------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["cuda:0", "cuda_managed:1"])
def test_memory_runs_out(place: str) -> None:
    with simulated_cuda(force=True, memory=1 << 20):
        device = xp.Device(place)
        x = xp.zeros(1 << 16, dtype=xp.float64, device=device)
        ordinal = place[-1]
        said = (
            rf"has no 1,048,576 bytes: 524,288 of the 1,048,576 bytes of cuda:{ordinal}"
            " are free"
        )
        with pytest.raises(MemoryError, match=said):
            xp.zeros(1 << 17, dtype=xp.float64, device=device)
        del x
        # What is kept for reuse goes before an allocation fails.
        x = xp.zeros(1 << 17, dtype=xp.float64, device=device)
        assert x.shape == (1 << 17,)


def test_an_allocation_that_fails_half_way_loses_nothing(
    simulated: SimulatedDriver,
) -> None:
    device = xp.Device("cuda:0")
    before = simulated.live_bytes
    simulated.fail_next("cuMemsetD8Async", 700)
    with pytest.raises(cuda.CudaError):
        xp.zeros(100, device=device)
    cuda.empty_cache()
    assert simulated.live_bytes == before
