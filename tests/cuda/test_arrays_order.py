"""The order of work on arrays, on any streams: no race, and no wait to spare.

Each wait that refarray asks for is left out in turn, and every time somebody races.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pytest
from missing_waits import check_every_wait
from peer import ONES, TWOS, Consumer, Peer
from targets import Target, fake, simulation

import refarray as xp
from refarray import cuda
from refarray._memory import cuda_memory
from refarray._memory.device_use import note_use
from refarray.testing.simulated_driver import SimulatedDriver

CPU = xp.Device("cpu")


@pytest.fixture(params=["simulation", "fake"])
def new(
    request: pytest.FixtureRequest,
) -> Callable[[], AbstractContextManager[Target]]:
    if request.param == "simulation":
        return simulation
    library = request.getfixturevalue("fake_library")
    return lambda: fake(library)


def values(x: Any) -> list[float]:
    return list(np.asarray(x.to_device(CPU)))


# ---- Each wait -----------------------------------------------------------------------


def test_kernels_on_several_streams() -> None:
    def work() -> None:
        device = xp.Device("cuda:0")
        streams = [cuda.Stream() for _ in range(3)]
        x = xp.asarray([1.0, 2.0], device=device)
        with streams[0]:
            y = x + 1  # after x was made
        with streams[1]:
            x *= 2  # after that was read
        with streams[2]:
            y += x  # after both

    assert check_every_wait(work, simulation) == 4


def test_copies_on_several_streams(
    new: Callable[[], AbstractContextManager[Target]],
) -> None:
    def work() -> None:
        here, there = xp.Device("cuda:0"), xp.Device("cuda:1")
        with cuda.Stream():
            x = xp.asarray([1.0, 2.0], device=here)
        with cuda.Stream():
            y = xp.asarray(x, copy=True)
        with cuda.Stream(there):
            xp.zeros(2, device=there)  # memory that comes back, with work pending
            z = y.to_device(there)
        with cuda.Stream():
            xp.zeros(2, device=here)
            z.to_device(here).to_device(CPU)

    assert check_every_wait(work, new) == 7


def test_exchange_both_ways(
    new: Callable[[], AbstractContextManager[Target]],
) -> None:
    def work() -> None:
        peer = Peer()
        with cuda.Stream():
            x = xp.from_dlpack(peer)  # after the peer wrote
            y = xp.asarray(x, copy=True)
        consumer = Consumer(y)  # after the copy
        consumer.write()
        with cuda.Stream():
            z = xp.from_dlpack(Back(consumer))  # after the consumer
            xp.asarray(z, copy=True)

    assert check_every_wait(work, new) == 3


class Back:
    """A consumer that gives its memory back through DLPack."""

    def __init__(self, consumer: Consumer) -> None:
        self.consumer = consumer

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.consumer.tensor.device

    def __dlpack__(self, *, stream: int, max_version: tuple[int, int]) -> Any:
        cuda.Stream.external(stream).wait(self.consumer.stream)
        return self.consumer.tensor.__dlpack__(stream=-1, max_version=max_version)


def test_an_export_with_pending_readers_and_a_writer(
    new: Callable[[], AbstractContextManager[Target]],
) -> None:
    def work() -> None:
        device = xp.Device("cuda:0")
        with cuda.Stream():
            x = xp.asarray([1.0] * 8, device=device)
        with cuda.Stream():
            xp.asarray(x, copy=True)
        Consumer(x).write()

    # The reader waits for the writer, and the consumer for the reader.
    assert check_every_wait(work, new) == 2


@pytest.mark.parametrize("which", ["source", "copy"])
@pytest.mark.parametrize("bare", [False, True])
def test_a_copy_on_a_stream_given(
    new: Callable[[], AbstractContextManager[Target]], bare: bool, which: str
) -> None:
    def work() -> None:
        device = xp.Device("cuda:0")
        with cuda.Stream():
            x = xp.asarray([1.0] * 8, device=device)
            given = cuda.Stream()
            y = x.to_device(
                xp.Device("cuda_managed:0"), stream=given.handle if bare else given
            )
            overwrite(x if which == "source" else y)

    # A bare handle may be nothing afterwards: the legacy stream comes between.
    assert check_every_wait(work, new) == (3 if bare else 2)


def overwrite(x: Any) -> None:
    """Write over an array on the current stream, as a kernel would."""
    note_use(x, writes=True)
    address, nbytes = x._buffer.address, x._buffer.nbytes
    cuda_memory.fill(0, address, 0, nbytes, cuda.current_stream().handle)


def test_a_recycled_block_waits_for_those_who_used_it(
    new: Callable[[], AbstractContextManager[Target]],
) -> None:
    def work() -> None:
        device = xp.Device("cuda:0")
        x = xp.asarray([1.0] * 8, device=device)
        with cuda.Stream() as other:
            xp.asarray(x, copy=True)  # a second stream reads it
        kept.append(
            other
        )  # it keeps the copy; as it goes, the legacy stream would wait
        address = x._buffer.address
        del x
        y = xp.zeros(8, device=device)  # the first gets it again
        assert y._buffer.address == address

    kept: list[cuda.Stream] = []
    assert check_every_wait(work, new) == 2


# ---- No wait to spare ----------------------------------------------------------------


def test_one_stream_waits_for_nobody(simulated: SimulatedDriver) -> None:
    with cuda.Stream():
        x = xp.asarray(np.arange(8.0), device=xp.Device("cuda:0"))
        y = xp.sum(x * 2 + x[::-1])
        x += y
        xp.from_dlpack(x)
        values(x)
    assert simulated.calls["cuStreamWaitEvent"] == 0


def test_readers_do_not_wait_for_each_other(simulated: SimulatedDriver) -> None:
    x = xp.asarray(np.arange(8.0), device=xp.Device("cuda:0"))
    streams = [cuda.Stream() for _ in range(4)]
    for stream in streams * 3:
        with stream:
            x + 1
    assert simulated.calls["cuStreamWaitEvent"] == len(streams)


def test_parts_of_one_array_on_two_streams(simulated: SimulatedDriver) -> None:
    x = xp.zeros((2, 8), device=xp.Device("cuda:0"))
    for row in (0, 1):
        with cuda.Stream():
            x[row, :] = row + 1
    assert values(x[:, 3]) == [1, 2]


# ---- Arrays over the same memory -----------------------------------------------------


@pytest.mark.parametrize("way", ["whole", "view", "twice"])
def test_what_was_exported_and_came_back_is_the_same_memory(
    simulated: SimulatedDriver, way: str
) -> None:
    x = xp.asarray(np.arange(8.0), device=xp.Device("cuda:0"))
    y = xp.from_dlpack(x[2:] if way == "view" else x)
    if way == "twice":
        y = xp.from_dlpack(y)
    with cuda.Stream():
        y *= 2
    x += 1  # another stream, and another array over that memory
    with cuda.Stream():
        z = y + 0
    del y
    xp.zeros(1, device=x.device)  # drains
    with cuda.Stream():
        x += 1
    first = [0.0, 1.0] if way == "view" else [0.0, 2.0]
    assert values(x)[:2] == [value + 2 for value in first]
    assert values(z)[-1] == 15.0


def test_two_imports_of_one_memory_have_deleters_of_their_own(
    simulated: SimulatedDriver,
) -> None:
    peer = Peer()
    x, y = xp.from_dlpack(peer), xp.from_dlpack(peer)
    del x
    cuda.empty_cache()
    simulated.cuCtxSynchronize()
    assert values(y) == [ONES] * 8
    del y
    cuda.empty_cache()
    cuda.empty_cache()
    assert peer.deleted == 2


def test_a_consumer_writes_while_we_read_later(simulated: SimulatedDriver) -> None:
    x = xp.asarray([0.0] * 8, device=xp.Device("cuda:0"))
    consumer = Consumer(x)
    consumer.write()
    cuda.current_stream().wait(consumer.stream)  # for the program to say
    assert values(x) == [TWOS] * 8


@pytest.mark.usefixtures("simulated")
def test_a_stream_of_each_thread_is_in_order() -> None:
    from concurrent.futures import ThreadPoolExecutor

    x = xp.zeros(8, device=xp.Device("cuda:0"))

    def add_one(_: int) -> None:
        nonlocal x
        with cuda.Stream.per_thread():
            x += 1

    for _ in range(3):
        with ThreadPoolExecutor(1) as pool:
            list(pool.map(add_one, range(2)))
    add_one(0)
    assert values(x) == [7.0] * 8
