"""Fixtures: the drivers of targets.py, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from raw import SUCCESS, get
from targets import Target, compile_fake, driver, fake, is_there, simulation


@pytest.fixture(scope="session")
def fake_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled fake: a file named libcuda.so.1 in a folder of its own."""
    return compile_fake(tmp_path_factory.mktemp("fakecuda"))


TARGETS = ["simulation", "fake", *(["driver"] if is_there() else [])]


@pytest.fixture(params=TARGETS)
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """A driver; only the real one has been initialised."""
    if request.param == "fake":
        opened = fake(request.getfixturevalue("fake_library"))
    else:
        opened = {"simulation": simulation, "driver": driver}[request.param]()
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
