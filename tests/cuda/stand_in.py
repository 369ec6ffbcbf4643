"""Runs checks of tests/gpu on the simulation, refarray in the place of other libraries.

    python tests/cuda/stand_in.py CHECK FILE

What the checks do with CuPy, torch and JAX is thereby run before a GPU is there. The
findings go to FILE. The stand-in answers to the words of tests/gpu/libraries.py, and to
those functions of CuPy that the checks call.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

TESTS = Path(__file__).resolve().parents[1]
FOLDERS = (TESTS.parent, TESTS, TESTS / "gpu", TESTS / "cuda", TESTS / "field")
sys.path[:0] = map(str, FOLDERS)

import checks_compute  # noqa: E402
import checks_driver  # noqa: E402
import checks_exchange  # noqa: E402
import numpy as np  # noqa: E402
from record import Record  # noqa: E402

import refarray as xp  # noqa: E402
from refarray.testing.simulated_driver import simulated_cuda  # noqa: E402


class Box:
    """An array of CuPy's, as far as the checks look at one."""

    def __init__(self, x: Any) -> None:
        self.x = x
        self.itemsize = x.dtype.bits // 8
        self.data = SimpleNamespace(ptr=x._buffer.address)

    def __add__(self, other: Box) -> Box:
        return Box(self.x + other.x)


class Library:
    """refarray by the words of tests/gpu/libraries.py."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.place = xp.Device("cuda:0")
        device = SimpleNamespace(id=0, synchronize=lambda: None)
        runtime = SimpleNamespace(
            memcpyDeviceToDevice=3, memcpyAsync=lambda to, start, nbytes, kind, on: None
        )
        self.module = SimpleNamespace(
            asarray=xp.from_dlpack,
            from_dlpack=xp.from_dlpack,
            zeros=lambda n: xp.zeros(n, device=self.place),
            full=lambda shape, value, dtype: Box(
                xp.full(shape, value, dtype=getattr(xp, dtype), device=self.place)
            ),
            empty_like=lambda box: Box(xp.empty_like(box.x)),
            cuda=SimpleNamespace(Device=lambda: device, runtime=runtime),
        )
        if name == "torch":
            pinned = xp.Device("cuda_host:0")
            self.module.ones = lambda n: SimpleNamespace(
                pin_memory=lambda: xp.ones(n, device=pinned)
            )

    def array(self, values: Any) -> Any:
        return xp.asarray(values, device=self.place, copy=True)

    def pointer(self, x: Any) -> int:
        address: int = x._buffer.address + x._byte_offset
        return address

    def take(self, x: Any) -> Any:
        return xp.from_dlpack(x)

    def host(self, x: Any) -> Any:
        return np.asarray(x.to_device(xp.Device("cpu")))

    def fill(self, x: Any, value: float) -> None:
        x[...] = value

    def on(self, stream: Any) -> Any:
        return stream

    def device(self) -> int:
        return 0


def main() -> None:
    """Run one check."""
    check, path = sys.argv[1:]
    record = Record(Path(path), "simulation")
    checks = {
        "contexts": checks_driver,
        "order": checks_exchange,
        "exchange": checks_exchange,
        "jax_minus_one": checks_exchange,
        "pinned_and_managed": checks_exchange,
        "speed": checks_compute,
    }
    for module in (checks_driver, checks_exchange, checks_compute):
        module.library = lambda record, name: Library(name)  # type: ignore[attr-defined]
    checks_compute.ELEMENTS = 1000
    with simulated_cuda(on_race="collect"), record.part(check):
        getattr(checks[check], check)(record)


if __name__ == "__main__":
    main()
