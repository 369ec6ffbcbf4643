"""Threads that compute, copy, exchange and let go on many streams, in any order."""

from __future__ import annotations

import gc
import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import refarray as xp
from refarray import cuda
from refarray.testing.simulated_driver import simulated_cuda

CPU = xp.Device("cpu")
STEPS = 120


def work(seed: int) -> None:
    """Random steps; each array has 16 times the number kept beside it."""
    choose = random.Random(seed)
    devices = [xp.Device(name) for name in ("cuda:0", "cuda:1", "cuda_managed:0")]
    streams = [cuda.Stream(), cuda.Stream()]
    streams += [cuda.Stream.legacy(), cuda.Stream.per_thread()]
    kept: list[tuple[Any, float]] = []
    for _ in range(STEPS):
        x, value = choose.choice(kept) if kept else (None, 0.0)
        step = "make" if x is None else choose.choice(STEP_NAMES)
        with choose.choice(streams):
            if step == "make":
                value = float(choose.randrange(100))
                kept.append((xp.full(16, value, device=choose.choice(devices)), value))
            elif step == "add":
                kept.append((x + 1, value + 1))
            elif step == "exchange":
                kept.append((xp.asarray(xp.from_dlpack(x), copy=True), value))
            elif step == "move":
                kept.append((x.to_device(choose.choice(devices)), value))
            elif step == "read":
                assert float(x[choose.randrange(16)]) == value
            elif step == "let go":
                kept.pop(choose.randrange(len(kept)))
            else:
                streams[0] = cuda.Stream()
    for x, value in kept:
        assert np.asarray(x.to_device(CPU)).tolist() == [value] * 16


STEP_NAMES = ["make", "add", "exchange", "move", "read", "let go", "new stream"]


@pytest.mark.parametrize("threads", [1, 6])
def test_no_race_no_fault_nothing_left(threads: int) -> None:
    with simulated_cuda(force=True, on_race="raise") as driver:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, range(6)))
        gc.collect()
        cuda.empty_cache()
        assert (driver.live_bytes, driver.faults, driver.races) == (0, [], [])
