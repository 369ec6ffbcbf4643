"""The simulated CUDA driver: what waits by itself, and what does not; a model."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from raw import (
    DEFAULT,
    LEGACY,
    NON_BLOCKING,
    PER_THREAD,
    SUCCESS,
    alloc,
    get,
    in_thread,
    pinned,
)
from simulated import NBYTES, kinds, read, record, simulated, start, stream, wait, write

from refarray._cuda_driver import ffi
from refarray.testing.simulated_driver import SimulatedDriver


@pytest.fixture
def driver() -> Iterator[SimulatedDriver]:
    with simulated() as driver:
        yield driver


# ---- Streams that wait by themselves -------------------------------------------------


def test_the_legacy_stream_and_the_others(driver: SimulatedDriver) -> None:
    pointer = alloc(driver, NBYTES)
    blocking, passing = stream(driver, DEFAULT), stream(driver)
    for on in (blocking, LEGACY, PER_THREAD, ffi.NULL, blocking):
        write(driver, on, pointer)
    driver.assert_no_races()
    write(driver, passing, pointer)
    assert kinds(driver) == ["write after write"]


def test_blocking_streams_do_not_wait_for_each_other(driver: SimulatedDriver) -> None:
    a, b = stream(driver, DEFAULT), stream(driver, DEFAULT)
    pointer = alloc(driver, NBYTES)
    write(driver, a, pointer)
    read(driver, b, pointer)
    assert kinds(driver) == ["read after write"]


def test_each_thread_has_a_default_stream_of_its_own(driver: SimulatedDriver) -> None:
    context = get("CUcontext", driver.cuCtxGetCurrent)
    pointer = alloc(driver, NBYTES)
    write(driver, PER_THREAD, pointer)

    def other_thread() -> None:
        assert driver.cuCtxSetCurrent(context) == SUCCESS
        read(driver, PER_THREAD, pointer)

    in_thread(other_thread)
    assert kinds(driver) == ["read after write"]


def test_legacy_streams_of_two_devices_are_strangers(driver: SimulatedDriver) -> None:
    pointer = get("CUdeviceptr", driver.cuMemAllocManaged, NBYTES, 1)
    write(driver, LEGACY, pointer)
    start(driver, device=1)
    read(driver, LEGACY, pointer)
    assert kinds(driver) == ["read after write"]
    assert "of device 1" in str(driver.races[0])


# ---- What the driver promises to the host, and what not ------------------------------


def test_a_pinned_copy_without_a_stream_is_over(driver: SimulatedDriver) -> None:
    pointer, (host, _) = alloc(driver, NBYTES), pinned(driver, NBYTES)
    assert driver.cuMemcpyHtoD_v2(pointer, host, NBYTES) == SUCCESS
    read(driver, stream(driver), pointer)
    driver.assert_no_races()


def test_a_pageable_copy_without_a_stream_is_only_staged(
    driver: SimulatedDriver,
) -> None:
    pointer = alloc(driver, NBYTES)
    assert driver.cuMemcpyHtoD_v2(pointer, bytes(NBYTES), NBYTES) == SUCCESS
    read(driver, LEGACY, pointer)
    driver.assert_no_races()
    read(driver, stream(driver), pointer)
    assert kinds(driver) == ["read after write"]


def test_freeing_one_block_orders_no_others(driver: SimulatedDriver) -> None:
    a, b = stream(driver), stream(driver)
    pointer, other = alloc(driver, NBYTES), alloc(driver, NBYTES)
    write(driver, a, pointer)
    write(driver, a, other)
    assert driver.cuMemFree_v2(other) == SUCCESS
    driver.assert_no_races()
    read(driver, b, pointer)
    assert kinds(driver) == ["read after write"]


def test_host_functions_may_not_call_the_driver(driver: SimulatedDriver) -> None:
    answers: list[int] = []
    ask = ffi.callback("CUhostFn", lambda _: answers.append(driver.cuCtxSynchronize()))
    assert driver.cuLaunchHostFunc(LEGACY, ask, ffi.NULL) == SUCCESS
    assert driver.cuCtxSynchronize() == SUCCESS
    assert answers == [driver.CUDA_ERROR_NOT_PERMITTED]


# ---- Against a model -----------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_races_are_those_of_a_model(driver: SimulatedDriver, seed: int) -> None:
    """Random programs; the model knows, for all work, the set of work before it."""
    choose = random.Random(seed)
    streams = [stream(driver, choose.choice([DEFAULT, NON_BLOCKING])) for _ in range(3)]
    blocking = {
        s
        for s in streams
        if not get("unsigned int", lambda p, s=s: driver.cuStreamGetFlags(s, p))
    }
    streams.append(LEGACY)
    pointer = alloc(driver, NBYTES)
    before: dict[Any, set[int]] = {s: set() for s in streams}  # known to each stream
    host: set[int] = set()
    events: list[tuple[Any, set[int]]] = []
    done: list[tuple[int, int, bool]] = []  # work: first byte, after the last, writes

    def implied(on: Any) -> set[int]:
        others = blocking if on is LEGACY else {LEGACY} if on in blocking else set()
        return host.union(before[on], *(before[other] for other in others))

    for _ in range(60):
        on, action = choose.choice(streams), choose.random()
        if action < 0.55:
            first = choose.randrange(NBYTES - 1)
            stop = choose.randrange(first + 1, NBYTES)
            writes = choose.random() < 0.5
            ordered = implied(on)
            expected = any(
                number not in ordered
                and first < old_stop
                and old_first < stop
                and (writes or old_writes)
                for number, (old_first, old_stop, old_writes) in enumerate(done)
            )
            span = [(pointer + first, stop - first)]
            driver.launch(
                on, lambda: None, [] if writes else span, span if writes else []
            )
            assert bool(driver.races) == expected
            driver.races.clear()
            before[on] = ordered | {len(done)}
            done.append((first, stop, writes))
        elif action < 0.75:
            before[on] = implied(on)
            events.append((record(driver, on), before[on]))
        elif action < 0.95 and events:
            event, known = choose.choice(events)
            wait(driver, on, event)
            before[on] = implied(on) | known
        elif action >= 0.97:
            assert driver.cuStreamSynchronize(on) == SUCCESS
            host |= before[on]
