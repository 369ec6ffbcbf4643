"""Every wait that refarray asks for is needed: without it there is a race."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from missing_waits import check_every_wait
from targets import Target, fake, simulation
from through_binding import allocate

from refarray import cuda
from refarray._memory import cuda_memory as memory
from refarray._memory import cuda_streams as streams


@pytest.fixture(params=["simulation", "fake"])
def new(
    request: pytest.FixtureRequest,
) -> Callable[[], AbstractContextManager[Target]]:
    if request.param == "simulation":
        return simulation
    library = request.getfixturevalue("fake_library")
    return lambda: fake(library)


def test_waits_for_a_stream_an_event_and_in_an_exchange(
    new: Callable[[], AbstractContextManager[Target]],
) -> None:
    def work() -> None:
        first, second, third = cuda.Stream(), cuda.Stream(), cuda.Stream()
        pointer, copy = allocate(0, 64), allocate(0, 64)
        memory.fill(0, pointer, 1, 64, first.handle)
        second.wait(first)
        memory.copy_on_device(0, copy, pointer, 64, second.handle)
        third.wait(second.record())
        memory.fill(0, copy, 2, 64, third.handle)
        streams.order(0, third.handle, first.handle)
        memory.copy_on_device(0, pointer, copy, 64, first.handle)
        streams.order(0, first.handle, streams.LEGACY)
        memory.fill(0, pointer, 3, 64, streams.LEGACY)

    assert check_every_wait(work, new) == 4


def test_waits_between_devices(
    new: Callable[[], AbstractContextManager[Target]],
) -> None:
    def work() -> None:
        here, there = allocate(0, 64), allocate(1, 64)
        giving = streams.Stream._known(streams.LEGACY, 1)
        taking = cuda.Stream()
        memory.fill(1, there, 1, 64, giving.handle)
        memory.copy_between_devices(0, here, 1, there, 64, giving.handle)
        taking.wait(giving)
        memory.fill(0, here, 2, 64, taking.handle)

    assert check_every_wait(work, new) == 1


def test_a_wait_that_is_not_needed_is_found(
    new: Callable[[], AbstractContextManager[Target]],
) -> None:
    def work() -> None:
        first, second = cuda.Stream(), cuda.Stream()
        memory.fill(0, allocate(0, 64), 1, 64, first.handle)
        second.wait(first)

    with pytest.raises(AssertionError, match="nobody missed wait number 0"):
        check_every_wait(work, new)
