"""The engine of the host: NumPy's kernels on zero-copy views of our memory.

An engine says how to see an array as its own kind of view, where its kernels are, how
to call one, and how to bring a result that it had to allocate into our memory. Wherever
the shape of a result is known, kernels write into memory that we allocated (`out=`).

Next: `repairs.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import Context
from types import ModuleType
from typing import Any

import numpy as np

from refarray._base.devices import Device
from refarray._base.dtypes import DType
from refarray._memory.host import NUMPY_DTYPES, host_array
from refarray._memory.host import numpy_view as view
from refarray._memory.native import allocate

__all__ = [
    "NUMPY_DTYPES",
    "Kernel",
    "adopt",
    "call",
    "call_binary",
    "call_unary",
    "kernels",
    "output",
    "view",
]

Kernel = Callable[..., Any]


def kernels(device: Device) -> ModuleType:
    """Return the namespace with the kernels for arrays on `device`."""
    return np


def adopt(values: Any, dtype: DType, device: Device) -> Any:
    """Return an array in our memory with the values that a kernel returned.

    For results whose shape is known only afterwards, and kernels that take no `out`.
    """
    return host_array(np.asarray(values), dtype)


# NumPy reports floating-point events as warnings unless its error state says
# otherwise. The state is a context variable: set once in a context of our own, it is
# silent there, and the caller's settings stay as they are. `np.errstate` around each
# call would cost more than a small addition.
def _silent_context() -> Context:
    context = Context()
    context.run(np.seterr, all="ignore")
    return context


class _Thread(threading.local):
    def __init__(self) -> None:
        self.run = _silent_context().run


_thread = _Thread()


def call(kernel: Kernel, *args: Any, **kwargs: Any) -> Any:
    """Call a kernel; no NumPy warning leaves it."""
    try:
        return _thread.run(kernel, *args, **kwargs)
    except RuntimeError:
        # A context can be entered once at a time. A finalizer that computes while a
        # kernel runs finds it taken, and has one of its own.
        return _silent_context().run(kernel, *args, **kwargs)


# The same for elementwise kernels: packing *args and **kwargs costs more than a small
# addition.
def call_unary(kernel: Kernel, x: Any, out: Any) -> None:
    """Call a kernel of one operand, which writes into `out`."""
    try:
        _thread.run(kernel, x, out=out)
    except RuntimeError:
        call(kernel, x, out=out)


def call_binary(kernel: Kernel, x1: Any, x2: Any, out: Any) -> None:
    """Call a kernel of two operands, which writes into `out`."""
    try:
        _thread.run(kernel, x1, x2, out=out)
    except RuntimeError:
        call(kernel, x1, x2, out=out)


def output(shape: tuple[int, ...], dtype: DType, device: Device) -> tuple[Any, Any]:
    """Return a new array and the view of it that a kernel writes into."""
    x = allocate(shape, dtype, device, False)
    # All of the buffer, row-major: what `view` would find out with more questions.
    x._view = np.ndarray(shape, NUMPY_DTYPES[dtype], x._buffer)
    return x, x._view
