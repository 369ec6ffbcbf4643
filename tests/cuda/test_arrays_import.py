"""CUDA memory of others as arrays: DLPack rules 37 to 60, as far as devices matter."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from peer import ONES, Loan, Peer

import refarray as xp
from refarray import cuda
from refarray.dlpack import Tensor, from_capsule
from refarray.testing.simulated_driver import SimulatedDriver

CPU = xp.Device("cpu")


@pytest.fixture
def device(simulated: SimulatedDriver) -> xp.Device:
    return xp.Device("cuda:0")


def values(x: Any) -> list[float]:
    return list(np.asarray(x.to_device(CPU)))


# ---- Streams: rule 58 ----------------------------------------------------------------


def test_the_producer_is_told_the_current_stream(device: xp.Device) -> None:
    peer = Peer()
    xp.from_dlpack(peer)
    with cuda.Stream() as stream:
        xp.from_dlpack(peer)
        with cuda.Stream.per_thread():
            xp.from_dlpack(peer)
    assert [asked["stream"] for asked in peer.asked] == [1, stream.handle, 2]
    assert all(asked["max_version"] == (1, 3) for asked in peer.asked)


def test_the_current_stream_is_that_of_the_array_s_device(
    simulated: SimulatedDriver,
) -> None:
    with cuda.Stream(xp.Device("cuda:1")):
        peer = Peer()
        xp.from_dlpack(peer)
    assert peer.asked[0]["stream"] == 1


def test_work_comes_after_the_producers(device: xp.Device) -> None:
    with cuda.Stream():
        x = xp.from_dlpack(Peer())
        y = x + 0
    assert values(y) == [ONES] * 8
    with cuda.Stream():  # not the one that the producer was told
        x += 1
    assert values(x) == [ONES + 1] * 8


def test_memory_is_shared(device: xp.Device) -> None:
    peer = Peer()
    x = xp.from_dlpack(peer)
    assert x._buffer.address == peer.pointer
    assert x.device is device
    x[0] = 3.0
    assert values(xp.from_dlpack(peer)) == [3.0] + [ONES] * 7


# ---- Producers of all ages: rules 41 to 43 -------------------------------------------


class Older(Peer):
    """Knows only the keyword of the first versions of the standard."""

    def __dlpack__(self, *, stream: int | None = None) -> Any:  # type: ignore[override]
        return super().__dlpack__(stream=stream)


class WithoutKeywords(Peer):
    """Knows none."""

    def __dlpack__(self) -> Any:  # type: ignore[override]
        return super().__dlpack__()


def test_an_older_producer_is_still_told_the_stream(device: xp.Device) -> None:
    with cuda.Stream() as stream:
        peer = Older()
        assert values(xp.from_dlpack(peer) + 0) == [ONES] * 8
    assert [asked["stream"] for asked in peer.asked] == [stream.handle]


def test_a_producer_that_cannot_be_told_a_stream_is_refused(device: xp.Device) -> None:
    with pytest.raises(TypeError, match="keyword"):
        xp.from_dlpack(WithoutKeywords())


# ---- Devices and copies: rules 54 to 57 ----------------------------------------------


def test_to_the_host(device: xp.Device) -> None:
    class Generous(Peer):
        def __dlpack__(self, **asked: Any) -> Any:
            self.asked.append(asked)
            assert asked["dl_device"] == (1, 0)
            assert "stream" not in asked
            return Tensor.from_buffer(np.arange(2.0)).__dlpack__(
                max_version=asked["max_version"]
            )

    x = xp.from_dlpack(Generous(), device=CPU)
    assert x.device is CPU
    assert values(x) == [0.0, 1.0]


def test_our_own_arrays(device: xp.Device, simulated: SimulatedDriver) -> None:
    with cuda.Stream():
        x = xp.asarray([1.0, 2.0], device=device)
    shared = xp.from_dlpack(x)
    x += 1
    assert values(shared) == [2.0, 3.0]
    copied = xp.from_dlpack(x, copy=True)
    hosted = xp.from_dlpack(x, device=CPU)
    moved = xp.from_dlpack(x, device=xp.Device("cuda:1"))
    x += 1
    for y, place in ((copied, "cuda:0"), (hosted, "cpu"), (moved, "cuda:1")):
        assert y.device is xp.Device(place)
        assert values(y) == [2.0, 3.0]
    for target in (CPU, xp.Device("cuda:1")):
        with pytest.raises(BufferError, match="copy=False"):
            xp.from_dlpack(x, device=target, copy=False)
    assert values(xp.from_dlpack(x, device=device, copy=False)) == [3.0, 4.0]


def test_a_copy_that_the_producer_does_not_make(device: xp.Device) -> None:
    peer = Peer()
    x = xp.from_dlpack(peer, copy=True)
    assert peer.asked[0]["copy"] is True
    assert x._buffer.address != peer.pointer
    assert values(x) == [ONES] * 8


def test_host_arrays_move_to_a_device(device: xp.Device) -> None:
    x = xp.from_dlpack(np.arange(3.0), device=device)
    assert x.device is device
    assert values(x) == [0.0, 1.0, 2.0]


@pytest.mark.parametrize(
    ("announced", "found"),
    [
        ((2, 1), "kDLCUDA 0"),
        ((3, 0), "kDLCUDA 0"),
        ((13, 0), "kDLCUDA 0"),
    ],
)
def test_a_pointer_that_contradicts_its_device_is_refused(
    device: xp.Device, announced: tuple[int, int], found: str
) -> None:
    peer = Peer(device=announced)
    with pytest.raises(BufferError, match=f"{found} for the CUDA driver"):
        xp.from_dlpack(peer)
    gc.collect()
    assert peer.deleted == 1


def test_a_pointer_of_the_host_is_refused(device: xp.Device) -> None:
    host = np.zeros(4)
    peer = Peer()
    peer.pointer, peer.n = host.ctypes.data, 4
    with pytest.raises(BufferError, match="where the CUDA driver knows of none"):
        xp.from_dlpack(peer)
    gc.collect()
    assert peer.deleted == 1


def test_a_device_that_is_not_there(device: xp.Device) -> None:
    peer = Peer(device=(2, 7))
    with pytest.raises(BufferError, match="no device is named 'cuda:7'"):
        xp.from_dlpack(peer)
    assert not peer.asked  # nothing to delete


def test_a_capsule_of_another_device(device: xp.Device) -> None:
    class Liar(Peer):
        def __dlpack_device__(self) -> tuple[int, int]:
            return (2, 1)

    peer = Liar()
    with pytest.raises(BufferError, match="does not guess"):
        xp.from_dlpack(peer)
    gc.collect()
    assert peer.deleted == 1


def test_managed_memory_may_pass_for_a_device_s(device: xp.Device) -> None:
    managed = xp.ones(8, device=xp.Device("cuda_managed:0"))
    peer = Peer()
    peer.pointer = managed._buffer.address
    assert values(xp.from_dlpack(peer)) == [1.0] * 8


def test_pinned_and_managed_memory_keep_their_type(device: xp.Device) -> None:
    for place in ("cuda_host:0", "cuda_managed:1"):
        x = xp.ones(2, device=xp.Device(place))
        y = xp.from_dlpack(x)
        assert y.device is x.device
        assert y._buffer.address == x._buffer.address


def test_pinned_memory_takes_no_stream(device: xp.Device) -> None:
    pinned = xp.ones(8, device=xp.Device("cuda_host:0"))

    class Pinned(Peer):
        def __dlpack__(self, **asked: Any) -> Any:
            assert "stream" not in asked
            return pinned.__dlpack__(max_version=asked["max_version"])

    assert values(xp.from_dlpack(Pinned(device=(3, 0)))) == [1.0] * 8


def test_pinned_memory_may_come_as_the_hosts(device: xp.Device) -> None:
    """As torch exports it."""
    host = np.arange(3.0)

    class Pinned(Peer):
        def __dlpack__(self, **asked: Any) -> Any:
            return Tensor.from_buffer(host).__dlpack__(max_version=asked["max_version"])

    x = xp.from_dlpack(Pinned(device=(3, 0)))
    assert x.device is CPU
    assert values(x) == [0.0, 1.0, 2.0]
    assert x._buffer.address == host.ctypes.data


def test_other_memory_announced_as_pinned_is_refused(device: xp.Device) -> None:
    class Liar(Peer):
        def __dlpack_device__(self) -> tuple[int, int]:
            return (3, 0)

    peer = Liar()
    with pytest.raises(BufferError, match="does not guess"):
        xp.from_dlpack(peer)
    gc.collect()
    cuda.current_stream().synchronize()
    cuda.empty_cache()
    assert peer.deleted == 1


def test_to_another_device_without_the_host(
    device: xp.Device, simulated: SimulatedDriver
) -> None:
    peer = Peer()
    for place in ("cuda:1", "cuda_managed:0"):
        x = xp.from_dlpack(peer, device=xp.Device(place))
        assert x.device is xp.Device(place)
        assert simulated.calls["cuMemcpyDtoHAsync_v2"] == 0
    assert all("dl_device" not in asked for asked in peer.asked)
    assert values(x) == [ONES] * 8


def test_a_bare_capsule(device: xp.Device) -> None:
    peer = Peer()
    x = from_capsule(peer.__dlpack__(stream=1, max_version=(1, 0)))
    assert values(x) == [ONES] * 8
    wrong = Peer(device=(2, 1))
    with pytest.raises(BufferError, match="kDLCUDA 0 for the CUDA driver"):
        from_capsule(wrong.__dlpack__(stream=1))
    gc.collect()
    cuda.empty_cache()
    assert wrong.deleted == 1


def test_an_empty_import(device: xp.Device) -> None:
    peer = Peer()
    peer.pointer = peer.n = 0
    x = xp.from_dlpack(peer)
    assert (x.shape, x.device) == ((0,), device)
    assert (x + 1).shape == (0,)


# ---- Deleters: rule 45 ---------------------------------------------------------------


def test_the_deleter_runs_once_and_later(
    device: xp.Device, simulated: SimulatedDriver
) -> None:
    peer = Peer()
    x = xp.from_dlpack(peer)
    view = x[2:]
    del x
    cuda.empty_cache()
    assert peer.deleted == 0
    del view
    assert peer.deleted == 0  # nothing happens where it is let go
    cuda.empty_cache()
    simulated.cuCtxSynchronize()
    xp.ones(1, device=device)[0] == 1  # noqa: B015
    cuda.empty_cache()
    assert peer.deleted == 1


def test_a_loan_ends_with_its_owner() -> None:
    peer = type("Counter", (), {"deleted": 0})()
    Loan(peer)
    assert peer.deleted == 1
