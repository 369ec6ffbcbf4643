"""The trace of an exchange in CUDA memory: which stream waits for which."""

from __future__ import annotations

from typing import Any

import pytest
from peer import Consumer, Peer

import refarray as xp
from refarray import cuda
from refarray.dlpack import Trace, trace
from refarray.testing.simulated_driver import SimulatedDriver


@pytest.fixture
def device(simulated: SimulatedDriver) -> xp.Device:
    return xp.Device("cuda:0")


def waits(t: Trace) -> list[tuple[Any, Any]]:
    """Return (stream, the one that it waits for) of each wait."""
    found = [step for step in t.steps if step.kind == "stream waited"]
    assert all(step.who == "producer" for step in found)
    return [(step.details["stream"], step.details["waits for"]) for step in found]


def asked(t: Trace) -> Any:
    [step] = [step for step in t.steps if step.kind == "capsule asked"]
    return step.details["keywords"].get("stream")


def test_the_consumers_stream_waits_for_the_producers(device: xp.Device) -> None:
    with cuda.Stream() as ours:
        x = xp.zeros(8, device=device)
    with trace(consumer="peer") as t:
        consumer = Consumer(t.watch(x))
    theirs = consumer.stream
    assert asked(t) == theirs.handle
    assert waits(t) == [(theirs.handle, ours.handle)]
    kinds = [step.kind for step in t.steps]
    first = kinds.index("capsule asked")
    assert kinds[first : first + 3] == [
        "capsule asked",
        "stream waited",
        "capsule made",
    ]
    assert f"lets stream {theirs.handle} wait for {ours.handle}" in str(t)
    assert list(consumer.read()) == [0.0] * 8


def test_refarray_to_refarray(device: xp.Device) -> None:
    with cuda.Stream() as first:
        x = xp.ones(8, device=device)
    with trace() as t, cuda.Stream() as second:
        y = xp.from_dlpack(t.watch(x))
    assert asked(t) == second.handle
    assert waits(t) == [(second.handle, first.handle)]
    assert list(map(float, y)) == [1.0] * 8


def test_one_stream_needs_no_wait(device: xp.Device) -> None:
    x = xp.zeros(8, device=device)
    with trace() as t:
        xp.from_dlpack(t.watch(x))
    assert asked(t) == 1
    assert waits(t) == [(1, 1)]
    assert "needs no wait: its work is on stream 1 (legacy) too" in str(t)


def test_minus_one_asks_for_no_wait(device: xp.Device) -> None:
    with cuda.Stream():
        x = xp.zeros(8, device=device)
    with trace() as t:
        t.watch(x).__dlpack__(stream=-1)
    assert asked(t) == -1 and waits(t) == [] and t.unseen == ()


def test_waits_of_other_producers_are_not_seen(device: xp.Device) -> None:
    peer = Peer()
    with trace() as t:
        y = xp.from_dlpack(t.watch(peer))
    assert waits(t) == []
    assert any("waits for the stream" in text for text in t.unseen)
    assert y.shape == (8,)


def test_a_deleter_comes_when_the_work_is_done(device: xp.Device) -> None:
    x = xp.ones(8, device=device)
    with trace() as t:
        y = xp.from_dlpack(t.watch(x))
    del y
    cuda.empty_cache()  # sees what was let go, and asks the stream
    cuda.Stream.legacy().synchronize()
    cuda.empty_cache()
    assert t.steps[-1].kind == "deleter called"


def test_nobody_is_told_after_the_exchange(device: xp.Device) -> None:
    with cuda.Stream():
        x = xp.zeros(8, device=device)
    with trace() as t:
        y = xp.from_dlpack(t.watch(x))
        before = waits(t)
        with cuda.Stream():
            y += 1.0
    assert waits(t) == before
