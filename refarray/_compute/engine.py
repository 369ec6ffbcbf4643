"""The engine of the host: NumPy's kernels on zero-copy views of our memory.

An engine says how to see an array as its own kind of view, where its kernels are, how
to call one, and how to bring a result that it had to allocate into our memory. Wherever
the shape of a result is known, kernels write into memory that we allocated (`out=`).

Next: `repairs.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from refarray._base.devices import Device
from refarray._base.dtypes import DType
from refarray._memory.host import NUMPY_DTYPES
from refarray._memory.host import numpy_view as view
from refarray._memory.native import (
    ArrayBase,
    allocate,
    call,
    compute,
    elementwise,
    register_runner,
)

if TYPE_CHECKING:
    from refarray._compute.array import Array

__all__ = [
    "NUMPY_DTYPES",
    "Kernel",
    "adopt",
    "call",
    "compute",
    "elementwise",
    "kernels",
    "view",
    "will_write",
]

Kernel = Callable[..., Any]


def kernels(device: Device) -> ModuleType:
    """Return the namespace with the kernels for arrays on `device`."""
    if device.memory != "device":
        return np
    from refarray._memory import device_views  # with CUDA, and not without

    return device_views.kernels(device)


def adopt(
    values: Any, dtype: DType, device: Device, shape: tuple[int, ...] | None
) -> Array:
    """Return an array in our memory with the values that a kernel returned.

    For kernels that take no `out`, those above all whose result has a size that depends
    on data. Keeping their memory would leave alignment to chance. `shape` is that of
    the values, computed from those of the operands, whose sizes may be unknown; None if
    it has nothing to do with them.
    """
    if device.memory != "device":
        values = np.asarray(values)
    # Not inside `call`: in its context the profile in force is not.
    out: Array = allocate(
        values.shape if shape is None else shape, dtype, device, False
    )
    call(np.copyto, view(out), values)  # the one of the library that made them
    return out


def will_write(x: ArrayBase) -> None:
    """Note that a kernel is about to write into memory that was there before."""
    if x.device.memory == "device":
        from refarray._memory.device_use import note_use  # with CUDA, and not without

        note_use(x, writes=True)


# NumPy reports floating-point events as warnings unless its error state says
# otherwise. The state is a context variable: set once in a context of our own, it is
# silent there, and the caller's settings stay as they are. `np.errstate` around each
# call would cost more than a small addition.
def _silent_run() -> Kernel:
    """Return `run(kernel, ...)` of a new context in which NumPy gives no warning."""
    context = Context()
    context.run(np.seterr, all="ignore")
    return context.run


register_runner(_silent_run)
