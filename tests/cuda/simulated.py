"""Helpers for tests of the simulated CUDA driver."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from raw import NO_TIMING, NON_BLOCKING, SUCCESS, get

from refarray._cuda_driver import ffi
from refarray.testing.simulated_driver import SimulatedDriver

NBYTES = 64


@contextmanager
def simulated(**options: Any) -> Iterator[SimulatedDriver]:
    """Two simulated devices, the first one's context current; races are collected."""
    driver = SimulatedDriver(on_race="collect", **options)
    start(driver)
    try:
        yield driver
    finally:
        driver.cuCtxSetCurrent(ffi.NULL)
        driver.close()


def start(driver: SimulatedDriver, device: int = 0) -> Any:
    assert driver.cuInit(0) == SUCCESS
    context = get("CUcontext", driver.cuDevicePrimaryCtxRetain, device)
    assert driver.cuCtxPushCurrent_v2(context) == SUCCESS
    return context


def stream(driver: SimulatedDriver, flags: int = NON_BLOCKING) -> Any:
    return get("CUstream", driver.cuStreamCreate, flags)


def record(driver: SimulatedDriver, on: Any) -> Any:
    event = get("CUevent", driver.cuEventCreate, NO_TIMING)
    assert driver.cuEventRecord(event, on) == SUCCESS
    return event


def wait(driver: SimulatedDriver, on: Any, event: Any) -> None:
    assert driver.cuStreamWaitEvent(on, event, 0) == SUCCESS


def array(driver: SimulatedDriver, pointer: int) -> np.ndarray[Any, Any]:
    return np.frombuffer(driver.shadow(pointer, NBYTES), np.float64)


def write(driver: SimulatedDriver, on: Any, pointer: int, value: int = 1) -> None:
    assert driver.cuMemsetD8Async(pointer, value, NBYTES, on) == SUCCESS


def read(driver: SimulatedDriver, on: Any, pointer: int) -> None:
    driver.launch(on, lambda: None, reads=[(pointer, NBYTES)], name="read")


def kinds(driver: SimulatedDriver) -> list[str]:
    return [report.kind for report in driver.races]
