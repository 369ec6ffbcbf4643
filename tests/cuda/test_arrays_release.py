"""CUDA memory given back: later, from the right thread, once the work on it is done."""

from __future__ import annotations

import ctypes
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from peer import Consumer, Peer

import refarray as xp
from refarray import cuda
from refarray._memory import device_release
from refarray._memory.native import ffi, inspect_capsule
from refarray.dlpack import Tensor
from refarray.testing.simulated_driver import SimulatedDriver

CPU = xp.Device("cpu")


@pytest.fixture
def device(simulated: SimulatedDriver) -> xp.Device:
    return xp.Device("cuda:0")


@pytest.fixture(autouse=True)
def limit() -> Iterator[None]:
    """The limit of the cache is what it was."""
    before = device_release._limit
    yield
    device_release._limit = before


def drain(device: xp.Device) -> None:
    """Allocate, which takes the list from C."""
    xp.empty(1, dtype=xp.int8, device=device)


# ---- Where and when ------------------------------------------------------------------


def test_letting_go_calls_no_driver(
    device: xp.Device, simulated: SimulatedDriver
) -> None:
    arrays = [xp.ones(n, device=device) for n in range(1, 9)]
    capsules = [x.__dlpack__() for x in arrays]
    imports = [xp.from_dlpack(Peer()) for _ in range(4)]
    before = simulated.calls.copy()
    for things in (arrays, capsules, imports):
        with ThreadPoolExecutor(1) as pool:
            pool.submit(things.clear).result()
    assert simulated.calls == before


def test_a_deleter_that_runs_without_the_gil(
    device: xp.Device, simulated: SimulatedDriver
) -> None:
    """As a thread of a C library calls it."""
    x = xp.ones(8, device=device)
    capsule = x.__dlpack__(max_version=(1, 0))
    set_name = ctypes.pythonapi.PyCapsule_SetName
    set_name.argtypes = [ctypes.py_object, ctypes.c_char_p]
    address = inspect_capsule(capsule)[1]
    assert set_name(capsule, USED) == 0
    managed = ffi.cast("DLManagedTensorVersioned *", address)
    del x
    before = simulated.calls.copy()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(managed.deleter, managed).result()
    assert simulated.calls == before
    drain(device)
    assert simulated.calls["cuMemFree_v2"] == 1


USED = b"used_dltensor_versioned"


def test_eight_threads_let_go_at_once(
    device: xp.Device, simulated: SimulatedDriver
) -> None:
    """All of it comes back, through calls of the main thread alone."""
    peers = [Peer() for _ in range(8)]
    start = threading.Barrier(8)
    callers: Counter[int] = Counter()
    real = simulated._call

    def spy(*arguments: Any) -> int:
        callers[threading.get_ident()] += 1
        return real(*arguments)

    simulated._call = spy  # type: ignore[method-assign]
    held: list[list[Any]] = [[] for _ in range(8)]
    for things, peer in zip(held, peers, strict=True):
        for n in range(100):
            things.append(xp.empty(n + 1, device=device))
            things.append(xp.empty(n + 1, device=device).__dlpack__())
            things.append(xp.from_dlpack(peer))

    def let_go(things: list[Any]) -> None:
        start.wait()
        while things:
            things.pop()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(let_go, held))
    assert list(callers) == [threading.get_ident()]
    simulated.cuCtxSynchronize()
    drain(device)
    cuda.current_stream().synchronize()
    drain(device)
    cuda.empty_cache()
    assert [peer.deleted for peer in peers] == [100] * 8
    assert simulated.live_bytes == sum(8 * peer.n for peer in peers)


def test_threads_that_allocate_and_let_go(
    device: xp.Device, simulated: SimulatedDriver
) -> None:
    def work(seed: int) -> float:
        with cuda.Stream():
            x = xp.asarray([float(seed)] * 8, device=device)
            for n in range(30):
                x = x + 1
                if n % 5 == 0:
                    x = xp.from_dlpack(x, copy=n % 2 == 0)
            return float(x[3])

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(16))) == [seed + 30.0 for seed in range(16)]
    drain(device)
    cuda.empty_cache()
    assert simulated.live_bytes == 0
    assert cuda.cached_bytes() == 0


# ---- Deleters of producers -----------------------------------------------------------


def test_a_deleter_waits_for_our_work(
    device: xp.Device, simulated: SimulatedDriver
) -> None:
    """dmlc/dlpack#176: the producer may use the memory again in its deleter."""
    peer = Peer()
    stream = cuda.Stream()
    y = xp.empty(8, device=device)
    with stream:
        x = xp.from_dlpack(peer)
        x.to_device(xp.Device("cuda_managed:0"))  # work on it that is not done
    del x
    drain(device)
    drain(device)
    assert peer.deleted == 0
    stream.synchronize()
    drain(device)
    assert peer.deleted == 1
    del y


def test_a_deleter_waits_for_each_stream(
    device: xp.Device, simulated: SimulatedDriver
) -> None:
    peer = Peer()
    streams = [cuda.Stream() for _ in range(3)]
    x = xp.from_dlpack(peer)
    for stream in streams:
        with stream:
            x.to_device(xp.Device("cuda_managed:0"))
    del x
    for stream in streams:
        drain(device)
        assert peer.deleted == 0
        stream.synchronize()
    cuda.current_stream().synchronize()
    drain(device)
    assert peer.deleted == 1


def test_a_deleter_may_use_refarray(device: xp.Device) -> None:
    class Busy(Peer):
        def __setattr__(self, name: str, value: Any) -> None:
            super().__setattr__(name, value)
            if name == "deleted" and value:
                made.append(xp.ones(3, device=device))
                cuda.empty_cache()

    made: list[Any] = []
    x = xp.from_dlpack(Busy())
    del x
    cuda.current_stream().synchronize()
    drain(device)
    cuda.current_stream().synchronize()
    drain(device)
    assert len(made) == 1


# ---- Blocks of ours ------------------------------------------------------------------


def test_a_private_block_is_used_again(
    device: xp.Device, simulated: SimulatedDriver
) -> None:
    x = xp.ones(8, device=device)
    address = x._buffer.address
    del x
    x = xp.zeros(8, device=device)
    assert x._buffer.address == address
    assert simulated.calls["cuMemAlloc_v2"] == 1
    assert float(xp.sum(x)) == 0


@pytest.mark.parametrize(
    "take",
    [
        lambda x: x.__dlpack__(),
        Consumer,
        xp.from_dlpack,
        Tensor.from_array,
        lambda x: x.__cuda_array_interface__,
    ],
)
def test_an_exported_block_goes_back_to_the_driver(
    device: xp.Device, simulated: SimulatedDriver, take: Callable[[Any], Any]
) -> None:
    x = xp.ones(8, device=device)
    taken = take(x)
    del x, taken
    drain(device)
    drain(device)
    assert simulated.calls["cuMemFree_v2"] == 1
    assert cuda.cached_bytes() == 0


def test_a_block_stays_with_its_stream(
    device: xp.Device, simulated: SimulatedDriver
) -> None:
    first, second = cuda.Stream(), cuda.Stream()
    with first:
        x = xp.ones(8, device=device)
    address = x._buffer.address
    del x
    with second:
        assert xp.empty(8, device=device)._buffer.address != address
    with first:
        assert xp.empty(8, device=device)._buffer.address == address


class OfAnother:
    """A stream of another library."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (lambda ours: cuda.Stream.per_thread(), False),
        (lambda ours: cuda.Stream.external(OfAnother(2)), False),
        (lambda ours: cuda.Stream.external(ours.handle), False),
        (lambda ours: cuda.Stream.external(OfAnother(ours.handle)), False),
        (lambda ours: cuda.Stream.legacy(), True),
        (lambda ours: ours, True),
    ],
)
def test_only_a_stream_that_stays_keeps_blocks(
    device: xp.Device,
    simulated: SimulatedDriver,
    given: Callable[[cuda.Stream], cuda.Stream],
    kept: bool,
) -> None:
    ours = cuda.Stream()
    with given(ours):
        x = xp.ones(8, device=device)
        del x
        xp.empty(0, device=device)
    assert (simulated.calls["cuMemFree_v2"] == 0) == kept
    assert (cuda.cached_bytes() == 64) == kept


def test_a_stream_that_goes_leaves_its_blocks_to_the_legacy_one(
    device: xp.Device, simulated: SimulatedDriver
) -> None:
    addresses = set()
    for _ in range(20):
        with cuda.Stream():
            x = xp.ones(8, device=device)
            addresses.add(x._buffer.address)
            del x
        drain(device)
    assert simulated.calls["cuStreamDestroy_v2"] >= 19
    kept = [xp.zeros(8, device=device) for _ in addresses]
    assert {x._buffer.address for x in kept} == addresses
    assert all(float(xp.sum(x)) == 0 for x in kept)


def test_kinds_and_devices_have_blocks_of_their_own(simulated: SimulatedDriver) -> None:
    places = ["cuda:0", "cuda:1", "cuda_managed:0", "cuda_managed:1", "cuda_host:0"]
    addresses = {}
    for place in places:
        addresses[place] = xp.ones(8, device=xp.Device(place))._buffer.address
    for place in places:
        x = xp.ones(8, device=xp.Device(place))
        assert x._buffer.address == addresses[place]
    del x
    cuda.empty_cache()
    assert simulated.live_bytes == 0


def test_the_limit_of_the_cache(device: xp.Device, simulated: SimulatedDriver) -> None:
    cuda.set_cache_limit(1000)
    for nbytes in (600, 300, 200, 2000):
        x = xp.empty(nbytes, dtype=xp.uint8, device=device)
        del x
    xp.empty(0, device=device)
    assert cuda.cached_bytes() == 900
    cuda.set_cache_limit(899)
    assert cuda.cached_bytes() == 0
    assert simulated.live_bytes == 0
    cuda.set_cache_limit(0)
    x = xp.empty(8, device=device)
    del x
    xp.empty(0, device=device)
    assert simulated.live_bytes == 0
    with pytest.raises(ValueError, match="from 0 up"):
        cuda.set_cache_limit(-1)


def test_emptying_the_cache(device: xp.Device, simulated: SimulatedDriver) -> None:
    kept = xp.ones(4, device=device)
    x = xp.ones(8, device=device)
    del x
    assert cuda.cached_bytes() == 0  # noted, and no more
    cuda.empty_cache()
    assert simulated.live_bytes == 32
    assert float(xp.sum(kept)) == 4


def test_a_cache_that_is_emptied_while_a_stream_goes(
    device: xp.Device, simulated: SimulatedDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the order after the stream, another thread may empty the cache."""
    stream = cuda.Stream()
    with stream:
        x = xp.ones(8, device=device)
        del x
    cuda.set_cache_limit(64)  # nothing else is kept
    drain(device)
    assert cuda.cached_bytes() == 64
    truly, ordered = device_release.order, []

    def emptied_meanwhile(*arguments: Any) -> None:
        ordered.append(arguments)
        if len(ordered) == 1:
            cuda.empty_cache()
        truly(*arguments)

    monkeypatch.setattr(device_release, "order", emptied_meanwhile)
    del stream
    drain(device)
    assert ordered
    assert cuda.cached_bytes() == 0
    assert simulated.live_bytes == 1  # that of drain()


def test_a_driver_that_refuses_memory_back(
    device: xp.Device, simulated: SimulatedDriver
) -> None:
    """The error is told, and what else there is to give back is given back."""
    exported = [xp.ones(8, device=device) for _ in range(3)]
    for x in exported:
        x.__dlpack__()
    peer = Peer()
    imported = xp.from_dlpack(peer)
    cuda.current_stream().synchronize()
    simulated.fail_next("cuMemFree_v2", 700)
    del exported, x, imported
    with pytest.raises(cuda.CudaError, match="cuMemFree"):
        drain(device)
    cuda.current_stream().synchronize()
    drain(device)
    assert simulated.calls["cuMemFree_v2"] == 3
    assert peer.deleted == 1
