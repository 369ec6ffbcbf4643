"""The three drivers that the contract runs on.

* `simulation`: `refarray.testing.simulated_driver.SimulatedDriver(devices=2)`
* `fake`: fake/*.c, a libcuda.so.1 without a GPU, compiled by the test session
* `driver`: the CUDA driver of this machine

The first two are *lazy*: work given to a stream waits there until somebody synchronises
(or polls), fresh memory holds 0xCB, and `races()` lists the accesses of two streams to
one memory that nothing puts into an order.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from refarray._cuda_driver import ffi

FAKE = Path(__file__).parent / "fake"
POISON = 0xCB


@dataclass(frozen=True)
class Target:
    """A driver under test: `lib` has the functions of cuda_driver.h."""

    name: str
    lib: Any
    lazy: bool
    races: Callable[[], list[str]]


def compile_fake(folder: Path) -> Path:
    """The fake as `folder`/libcuda.so.1; skips the test where that cannot be."""
    if sys.platform != "linux":
        pytest.skip("the fake CUDA driver is a Linux library")
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("the fake CUDA driver needs a C compiler (cc or gcc)")
    library = folder / "libcuda.so.1"
    if not library.exists():
        options = ["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fPIC"]
        sources = sorted(FAKE.glob("*.c"))
        options += ["-shared", "-pthread"]  # no soname: it stays apart from a real one
        subprocess.run([compiler, *options, *sources, "-o", library], check=True)
    return library


@contextmanager
def simulation() -> Iterator[Target]:
    """A new simulated driver with two devices, not yet initialised."""
    from refarray.testing.simulated_driver import SimulatedDriver

    lib = SimulatedDriver(devices=2)
    try:
        yield Target(
            "simulation", lib, lazy=True, races=lambda: list(map(str, lib.races))
        )
    finally:
        lib.close()


@contextmanager
def fake(library: Path, devices: int = 2) -> Iterator[Target]:
    """The fake, set back to what it was before cuInit."""
    control = ctypes.CDLL(str(library))
    control.fakecuda_reset(devices)
    control.fakecuda_race.restype = ctypes.c_char_p

    def races() -> list[str]:
        found = range(control.fakecuda_races())
        return [control.fakecuda_race(number).decode() for number in found]

    yield Target("fake", ffi.dlopen(str(library)), lazy=True, races=races)


def is_there() -> bool:
    """Whether this machine has a CUDA driver; it is not initialised."""
    try:
        ffi.dlopen("libcuda.so.1")
    except OSError:
        return False
    return True


@contextmanager
def driver() -> Iterator[Target]:
    """The CUDA driver of this machine; skips the test where it has no device."""
    lib = ffi.dlopen("libcuda.so.1")
    if lib.cuInit(0) != 0:
        pytest.skip("the CUDA driver of this machine has no device")
    yield Target("driver", lib, lazy=False, races=lambda: [])
