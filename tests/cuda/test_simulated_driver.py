"""The simulated CUDA driver: missing waits are found, correct programs pass.

Next: test_simulated_order.py, on the streams and functions that wait by themselves, and
test_simulated_memory.py. What all drivers have in common is in test_contract.py.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from raw import NO_TIMING, NOT_READY, SUCCESS, alloc, get
from simulated import NBYTES, array, kinds, read, record, simulated, stream, wait, write
from test_contract_order import new_pool

import refarray as xp
from refarray.testing.simulated_driver import SimulatedDriver
from refarray.testing.simulated_driver_state import where


@pytest.fixture
def driver() -> Iterator[SimulatedDriver]:
    with simulated() as driver:
        yield driver


# ---- A program on three streams ------------------------------------------------------

WAITS = 6


def three_streams(driver: SimulatedDriver, missing: int | None) -> float:
    """Compute w = (x + 1) + 2 x for x = 3.

    Two streams compute y and z, and may reuse them once the third has computed w. One
    of the six waits may be missing.
    """
    waits = 0

    def after(on: Any, event: Any) -> None:
        nonlocal waits
        if waits != missing:
            wait(driver, on, event)
        waits += 1

    pool = new_pool(driver)
    a, b, c = (stream(driver) for _ in range(3))
    x, y, w = (alloc(driver, NBYTES) for _ in range(3))
    z = get("CUdeviceptr", driver.cuMemAllocFromPoolAsync, NBYTES, pool, c)
    spans = {pointer: (pointer, NBYTES) for pointer in (x, y, z, w)}
    to_x, to_y, to_z, to_w = (array(driver, pointer) for pointer in (x, y, z, w))

    driver.launch(a, lambda: to_x.fill(3), writes=[spans[x]])
    x_written = record(driver, a)
    after(b, x_written)
    driver.launch(b, lambda: np.add(to_x, 1, to_y), [spans[x]], [spans[y]])
    y_written = record(driver, b)
    after(c, x_written)
    driver.launch(c, lambda: np.multiply(to_x, 2, to_z), [spans[x]], [spans[z]])
    z_written = record(driver, c)
    after(a, y_written)
    after(a, z_written)
    driver.launch(a, lambda: np.add(to_y, to_z, to_w), [spans[y], spans[z]], [spans[w]])
    w_written = record(driver, a)
    after(b, w_written)
    driver.launch(b, lambda: to_y.fill(0), writes=[spans[y]])
    after(c, w_written)
    assert driver.cuMemFreeAsync(z, c) == SUCCESS
    assert waits == WAITS

    assert driver.cuStreamSynchronize(a) == SUCCESS
    result = float(to_w[0])
    assert driver.cuCtxSynchronize() == SUCCESS
    for pointer in (x, y, w):
        assert driver.cuMemFree_v2(pointer) == SUCCESS
    assert driver.live_bytes == 0
    return result


def test_a_correct_program_on_three_streams(driver: SimulatedDriver) -> None:
    assert three_streams(driver, missing=None) == 10
    driver.assert_no_races()
    assert not driver.faults


@pytest.mark.parametrize(
    ("missing", "kind"),
    [
        (0, "read after write"),
        (1, "read after write"),
        (2, "read after write"),
        (3, "read after write"),
        (4, "write after read"),
        (5, "free after read"),
    ],
)
def test_each_missing_wait_is_found(
    driver: SimulatedDriver, missing: int, kind: str
) -> None:
    result = three_streams(driver, missing)
    assert kind in kinds(driver)
    if missing in (0, 2, 3):  # lazy streams make it visible in the values, too
        assert result != 10


def test_reports_name_both_lines(driver: SimulatedDriver) -> None:
    a, b, pointer = stream(driver), stream(driver), alloc(driver, NBYTES)
    assert driver.cuMemsetD8Async(pointer, 1, NBYTES, a) == SUCCESS
    driver.launch(b, lambda: None, [(pointer + 8, 8)], name="my kernel")
    (report,) = driver.races
    lines = []
    for place in report.places:
        file, _, line = place.rpartition(":")
        lines.append(linecache.getline(str(Path(file).resolve()), int(line)).strip())
    assert lines[0].startswith("assert driver.cuMemsetD8Async")
    assert lines[1].startswith("driver.launch")
    text = str(report)
    assert "my kernel" in text and "cuMemsetD8Async" in text
    assert "reads bytes 8 to 15 of 64 bytes of device memory" in text
    assert all(place in text for place in report.places)


def test_a_program_beside_refarray_is_no_part_of_it() -> None:
    file = f"{Path(xp.__file__).parent}_more.py"
    found: dict[str, Any] = {"where": where}
    exec(compile("place = where()", file, "exec"), found)
    assert Path(found["place"]).absolute() == Path(f"{file}:1")


# ---- The kinds of races, and what is none --------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        (write, read, "read after write"),
        (read, write, "write after read"),
        (write, write, "write after write"),
    ],
)
def test_two_streams_and_no_wait(
    driver: SimulatedDriver,
    first: Callable[..., None],
    second: Callable[..., None],
    kind: str,
) -> None:
    a, b, pointer = stream(driver), stream(driver), alloc(driver, NBYTES)
    first(driver, a, pointer)
    second(driver, b, pointer)
    assert kinds(driver) == [kind]


def test_streams_may_read_together(driver: SimulatedDriver) -> None:
    a, b, pointer = stream(driver), stream(driver), alloc(driver, NBYTES)
    read(driver, a, pointer)
    read(driver, b, pointer)
    wait(driver, b, record(driver, a))
    write(driver, b, pointer)
    driver.assert_no_races()


def test_streams_may_share_a_block_that_they_divide(driver: SimulatedDriver) -> None:
    a, b, pointer = stream(driver), stream(driver), alloc(driver, NBYTES)
    assert driver.cuMemsetD8Async(pointer, 1, 32, a) == SUCCESS
    assert driver.cuMemsetD8Async(pointer + 32, 2, 32, b) == SUCCESS
    driver.assert_no_races()
    assert driver.cuMemsetD8Async(pointer + 31, 2, 1, b) == SUCCESS
    assert kinds(driver) == ["write after write"]


def test_order_goes_through_a_third_stream(driver: SimulatedDriver) -> None:
    a, b, c, pointer = *(stream(driver) for _ in range(3)), alloc(driver, NBYTES)
    write(driver, a, pointer)
    wait(driver, b, record(driver, a))
    wait(driver, c, record(driver, b))
    read(driver, c, pointer)
    driver.assert_no_races()


def test_an_event_recorded_too_early_orders_nothing(driver: SimulatedDriver) -> None:
    a, b, pointer = stream(driver), stream(driver), alloc(driver, NBYTES)
    event = record(driver, a)
    write(driver, a, pointer)
    wait(driver, b, event)
    read(driver, b, pointer)
    assert kinds(driver) == ["read after write"]


def test_an_event_that_nobody_recorded_orders_nothing(driver: SimulatedDriver) -> None:
    a, b, pointer = stream(driver), stream(driver), alloc(driver, NBYTES)
    write(driver, a, pointer)
    wait(driver, b, get("CUevent", driver.cuEventCreate, NO_TIMING))
    read(driver, b, pointer)
    assert kinds(driver) == ["read after write"]


def polled(ask: Callable[[Any], int], handle: Any) -> int:
    for _ in range(100):
        if (answer := ask(handle)) != NOT_READY:
            return answer
    return NOT_READY


HOST_WAITS: dict[str, Callable[[SimulatedDriver, Any], int]] = {
    "stream": lambda driver, on: driver.cuStreamSynchronize(on),
    "event": lambda driver, on: driver.cuEventSynchronize(record(driver, on)),
    "context": lambda driver, on: driver.cuCtxSynchronize(),
    "stream query": lambda driver, on: polled(driver.cuStreamQuery, on),
    "event query": lambda driver, on: polled(driver.cuEventQuery, record(driver, on)),
}


@pytest.mark.parametrize("how", HOST_WAITS)
def test_the_host_may_wait_instead(driver: SimulatedDriver, how: str) -> None:
    a, b, pointer = stream(driver), stream(driver), alloc(driver, NBYTES)
    write(driver, a, pointer)
    assert HOST_WAITS[how](driver, a) == SUCCESS
    write(driver, b, pointer)
    driver.assert_no_races()


def test_waiting_for_one_stream_runs_no_other(driver: SimulatedDriver) -> None:
    a, b = stream(driver), stream(driver)
    ran: list[str] = []
    driver.launch(a, lambda: ran.append("a"))
    driver.launch(b, lambda: ran.append("b"))
    assert ran == []
    assert driver.cuStreamSynchronize(b) == SUCCESS
    assert ran == ["b"]
    assert driver.cuCtxSynchronize() == SUCCESS
    assert ran == ["b", "a"]


def test_a_question_answered_with_no_orders_nothing(driver: SimulatedDriver) -> None:
    a, b, pointer = stream(driver), stream(driver), alloc(driver, NBYTES)
    write(driver, a, pointer)
    assert driver.cuStreamQuery(a) == NOT_READY
    write(driver, b, pointer)
    assert kinds(driver) == ["write after write"]


def test_a_full_stream_lets_its_oldest_work_run(driver: SimulatedDriver) -> None:
    on = stream(driver)
    ran: list[int] = []
    for number in range(3000):
        driver.launch(on, lambda number=number: ran.append(number))  # type: ignore[misc]
    assert 0 < len(ran) < 3000
    assert driver.cuStreamSynchronize(on) == SUCCESS
    assert ran == list(range(3000))
