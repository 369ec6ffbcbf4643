"""Fixtures: the drivers of targets.py, one after the other."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import targets
from raw import SUCCESS, get
from targets import Target

from refarray import cuda
from refarray._memory.cuda_driver import Driver
from refarray.testing.simulated_driver import SimulatedDriver, simulated_cuda


@pytest.fixture(scope="session")
def fake_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled fake: a file named libcuda.so.1 in a folder of its own."""
    return targets.compile_fake(tmp_path_factory.mktemp("fakecuda"))


TARGETS = ["simulation", "fake", *(["driver"] if targets.is_there() else [])]


@pytest.fixture(params=TARGETS)
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """A driver; only the real one has been initialised."""
    if request.param == "fake":
        opened = targets.fake(request.getfixturevalue("fake_library"))
    elif request.param == "simulation":
        opened = targets.simulation()
    else:
        opened = targets.driver()
    with opened as found:
        yield found


@pytest.fixture
def lib(target: Target) -> Iterator[Any]:
    """An initialised driver; device 0's primary context is the thread's current one."""
    lib = target.lib
    assert lib.cuInit(0) == SUCCESS
    device = get("CUdevice", lib.cuDeviceGet, 0)
    context = get("CUcontext", lib.cuDevicePrimaryCtxRetain, device)
    assert lib.cuCtxPushCurrent_v2(context) == SUCCESS
    yield lib
    assert get("CUcontext", lib.cuCtxPopCurrent_v2) == context
    assert lib.cuDevicePrimaryCtxRelease_v2(device) == SUCCESS


@pytest.fixture
def driver(target: Target) -> Iterator[Driver]:
    """The target as the driver of the process."""
    with cuda.use_driver(target.lib) as using:
        yield using


@pytest.fixture
def simulated() -> Iterator[SimulatedDriver]:
    """Simulated devices for arrays; the test shall make no mistake on them."""
    with simulated_cuda(force=True) as driver:
        yield driver
        gc.collect()
        cuda.empty_cache()
    assert driver.faults == []
