"""Small programs on simulated CUDA devices, to be interrupted at every step.

Next: balance.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import refarray as xp
from refarray import cuda
from refarray._memory import cuda_memory
from refarray._memory.cuda_streams import LEGACY
from refarray.dlpack import Tensor

CPU = xp.Device("cpu")

DEVICES: dict[str, Callable[[], Any]] = {}


def scenario(function: Callable[[], Any]) -> Callable[[], Any]:
    """Add a function to the scenarios."""
    DEVICES[function.__name__.replace("_", " ")] = function
    return function


@scenario
def memory_of_each_kind() -> Any:
    places = ["cuda:0", "cuda:1", "cuda_managed:0", "cuda_host:0"]
    return [xp.zeros((5,), device=xp.Device(place)) for place in places]


@scenario
def memory_from_the_driver() -> Any:
    """Without the cache, as the first time."""
    cuda.empty_cache()
    return xp.zeros((6,), device=xp.Device("cuda:0"))


@scenario
def memory_that_is_reused() -> Any:
    device = xp.Device("cuda:0")
    for _ in range(2):
        x = xp.empty((7,), device=device)
        del x
    with cuda.Stream():
        x = xp.empty((7,), device=device)
        del x
        return xp.empty((7,), device=device)


@scenario
def streams_and_events() -> Any:
    first, second = cuda.Stream(), cuda.Stream(xp.Device("cuda:0"))
    start, end = cuda.Event(timing=True), cuda.Event(timing=True)
    first.record(start)
    second.wait(first)
    second.wait(start)
    second.record(end)
    second.synchronize()
    return end.elapsed_since(start), first.query()


@scenario
def work_on_two_streams() -> Any:
    device = xp.Device("cuda:0")
    x = xp.asarray([1.0, 2.0, 3.0], device=device)
    with cuda.Stream():
        y = x + 1
    z = y * x
    with cuda.Stream():
        x[0] = 5.0
    return float(z[1])


@scenario
def copies_between_devices() -> Any:
    x = xp.asarray([[1.0, 2.0], [3.0, 4.0]], device=xp.Device("cuda:0"))
    y = x.to_device(xp.Device("cuda:1"))
    z = x.T.to_device(xp.Device("cuda:1"), stream=cuda.Stream())
    pinned = xp.ones((3,), device=xp.Device("cuda_host:0"))
    return y.to_device(CPU), z, x.T.to_device(CPU), pinned.to_device(y.device)


@scenario
def exchanges_on_a_device() -> Any:
    x = xp.ones((4,), device=xp.Device("cuda:0"))
    stream = cuda.Stream()
    capsule = x.__dlpack__(stream=stream.handle, max_version=(1, 0))
    return xp.from_dlpack(x), capsule, x.__cuda_array_interface__


@scenario
def memory_of_a_producer() -> Any:
    block = cuda_memory.allocate(0, 64)
    cuda_memory.fill(0, block.address, 1, 64, LEGACY)
    x = xp.from_dlpack(Tensor(block.address, 8, "float64", device=(2, 0), owner=block))
    return x + 1


@scenario
def memory_of_a_pool() -> Any:
    device = xp.Device("cuda:0")
    cuda.use_pools(1 << 20)
    try:
        x = xp.zeros((9,), device=device)
        with cuda.Stream():
            y = x + 1
        xp.from_dlpack(y)
        del x
        return xp.zeros((9,), device=device)
    finally:
        cuda.use_pools(None)
