"""What the tests with real libraries share: values, layouts, addresses, a spy."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import refarray as xp
from refarray.testing import _forge
from refarray.testing.forge import Raw

VERSION = (1, 3)

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
REAL = ["float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
DTYPES = ["bool", *INTEGERS, *REAL, *COMPLEX]

#: Views which NumPy, torch and refarray write alike; the base has shape (4, 12).
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "compact": lambda a: a,
    "strided": lambda a: a[::2, 1::3],
    "transposed": lambda a: a.T,
    "offset": lambda a: a[2:, 3:],
    "rows": lambda a: a[2:, ...],
    "column": lambda a: a[:, 5],
    "one row": lambda a: a[1:2, ::4],
    "new axes": lambda a: a[None, :, None, :],
    "0-d": lambda a: a[1, 2, ...],
    "empty": lambda a: a[:0, ...],
    "reversed": lambda a: a[::-1, ::-2],
}


def numbers(name: str = "float64") -> np.ndarray[Any, Any]:
    """Return 4 x 12 values that a dtype of that name can hold."""
    values = np.arange(48).reshape(4, 12)
    if name == "bool":
        return values % 3 == 0
    if name in COMPLEX:
        return (values + 1j * values[::-1]).astype(name)
    return values.astype(name)


def ours(name: str = "float64") -> Any:
    """Return the same values in memory of refarray."""
    x = xp.asarray(numbers(name), copy=True)
    assert x._buffer.kind == "host"
    return x


def reads(x: Any) -> np.ndarray[Any, Any]:
    """Return what lies in an array of refarray, through the buffer protocol."""
    return np.asarray(memoryview(x))


def read_only() -> Any:
    """Return a read-only array of refarray."""
    values = numbers("float64")
    values.flags.writeable = False
    x = xp.from_dlpack(values)
    assert memoryview(x).readonly
    return x


def export(x: Any) -> object:
    """Return the capsule that `x` exports, versioned if it knows the keyword."""
    try:
        return x.__dlpack__(max_version=VERSION)
    except TypeError:
        return x.__dlpack__()


def raw(x: Any, **keywords: Any) -> Raw:
    """Return the capsule that `x` exports, unconsumed."""
    return Raw(x.__dlpack__(max_version=VERSION, **keywords))


def address(x: Any) -> int:
    """Return where the first element of any exporter lies."""
    return Raw(export(x)).first


def watch(capsule: object) -> Callable[[], int]:
    """Return a function that tells how often the deleter in a capsule has run."""
    tensor = Raw(capsule)
    handle = _forge.watch_deleter(tensor.address, tensor.legacy)
    tensor.capsule = None
    return lambda: int(_forge.watched_calls(handle))


class Spy:
    """An exporter that notes what it is asked, and how often its deleters have run."""

    def __init__(self, x: Any) -> None:
        self.x = x
        self.asked: list[dict[str, Any]] = []
        self.devices_asked = 0
        self.calls: list[Callable[[], int]] = []

    def __dlpack_device__(self) -> Any:
        self.devices_asked += 1
        return self.x.__dlpack_device__()

    def __dlpack__(self, **keywords: Any) -> object:
        self.asked.append(keywords)
        capsule: object = self.x.__dlpack__(**keywords)
        self.calls.append(watch(capsule))
        return capsule

    def deleted(self) -> list[int]:
        """Return how often the deleter of each capsule has run."""
        return [calls() for calls in self.calls]


def in_child(code: str) -> subprocess.CompletedProcess[str]:
    """Run code that is expected to end its process."""
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120
    )
