"""What must be as before when something failed: memory, tensors, references, deleters.

Next: allocations.py.
"""

from __future__ import annotations

import gc
import sys

import scenarios

import refarray as xp
from refarray import cuda, memory
from refarray._memory.cuda_memory import synchronize
from refarray._memory.device_use import memories
from refarray.testing.simulated_driver import SimulatedDriver

#: Objects to which the native module holds references.
SHARED = {
    "float64": xp.float64,
    "bool": xp.bool,
    "the device": scenarios.CPU,
    "its pair": scenarios.CPU.dlpack,
    "Array": xp.Array,
}


def held(driver: SimulatedDriver) -> dict[str, int]:
    """Return what is in use now, on the host and on the devices of a driver."""
    gc.collect()
    for _ in range(2):
        cuda.empty_cache()
        for ordinal in (0, 1):
            synchronize(ordinal)  # deleters wait for work, and pools give back as work
    cuda.empty_cache()
    memory.empty_cache()
    now = memory.statistics()
    return {
        "bytes in use": now.live_bytes,
        "buffers in use": now.live_buffers,
        "bytes in the cache": now.cached_bytes,
        "bytes on devices": driver.live_bytes,
        "bytes in the cache for devices": cuda.cached_bytes(),
        "numbers of device memory": len(memories),
        "mistakes on devices": len(driver.races) + len(driver.faults),
        "contexts of this thread": len(driver._state.thread.contexts),
        **driver.handles,
        "tensors exported and not deleted": now.exported - now.exports_deleted,
        "tensors imported and not deleted": now.imported - now.imports_deleted,
        **{f"references to {name}": sys.getrefcount(x) for name, x in SHARED.items()},
    }


def differences(before: dict[str, int], after: dict[str, int]) -> list[str]:
    """Return what is not as before, in words."""
    return [
        f"{name}: {before[name]} before, {after[name]} after"
        for name in before
        if before[name] != after[name]
    ]


def deleter_faults() -> list[str]:
    """Return in words which forged tensors were not deleted once, and forget all."""
    counts = [case.deleter_calls for case in scenarios.forged]
    scenarios.forged.clear()
    return [f"a deleter was called {n} times" for n in counts if n != 1]
