"""`python -m refarray demo`: one exchange with NumPy, with every step shown."""

from __future__ import annotations

import platform

import numpy as np

import refarray as xp
from refarray.dlpack import Inspection, from_capsule, inspect
from refarray.memory import statistics


def _step(number: int, title: str) -> None:
    print(f"\n{number}. {title}\n")


def _show(inspection: Inspection) -> None:
    print("\n".join("   " + line for line in str(inspection).splitlines()))


def run() -> None:
    """Print the exchange; AssertionError if any of it is not as promised."""
    versions = f"NumPy {np.__version__}, refarray {xp.__version__}"
    print(f"Python {platform.python_version()}, {versions}")
    before = statistics()

    _step(1, "NumPy makes an array and exports it as a DLPack capsule.")
    a = np.linspace(0.0, 2.5, 6).reshape(2, 3)
    capsule = a.__dlpack__(max_version=(1, 3))
    fresh = inspect(capsule)
    print(f"   a = {a.tolist()} at {a.ctypes.data:#x}\n")
    _show(fresh)

    _step(2, "refarray consumes the capsule: its name changes, the memory does not.")
    x = from_capsule(capsule)
    consumed = inspect(capsule)
    print(f"   capsule before: {fresh.name!r}")
    print(f"   capsule after:  {consumed.name!r}")
    print(f"   x = {x!r}".replace("\n", "\n       "))
    print(f"   memory of x at {x._buffer.address:#x}, owned by: {x._buffer.kind}")
    assert x._buffer.address == a.ctypes.data

    _step(3, "Both write to one memory.")
    x[0, 0] = 100.0
    a[1, 2] = -1.0
    print(f"   x[0, 0] = 100.0  ->  a[0, 0] is {a[0, 0]}")
    print(f"   a[1, 2] = -1.0   ->  x[1, 2] is {float(x[1, 2])}")
    assert a[0, 0] == 100.0
    assert float(x[1, 2]) == -1.0

    _step(4, "refarray computes into memory of its own, and NumPy takes that.")
    y = x + 0.5
    b = np.from_dlpack(y)
    b[0, 1] = 7.0
    print(f"   y = x + 0.5 at {y._buffer.address:#x}, owned by: {y._buffer.kind}")
    print(f"   b = np.from_dlpack(y) at {b.ctypes.data:#x}")
    print(f"   b[0, 1] = 7.0    ->  y[0, 1] is {float(y[0, 1])}")
    assert b.ctypes.data == y._buffer.address
    assert float(y[0, 1]) == 7.0
    assert y.dtype is xp.float64

    _step(5, "Each side gives back what it took, once.")
    address = y._buffer.address
    del y
    print(f"   y is gone; b still holds its memory: b[0, 1] is {b[0, 1]}")
    assert b[0, 1] == 7.0
    assert b.ctypes.data == address
    del x, b
    after = statistics()
    imports = after.imports_deleted - before.imports_deleted
    exports = after.exports_deleted - before.exports_deleted
    print(f"   refarray called the deleter of NumPy's tensor: {imports} time")
    print(f"   NumPy called the deleter of refarray's tensor: {exports} time")
    print(f"   bytes of refarray still in use: {after.live_bytes - before.live_bytes}")
    assert imports == exports == 1
    assert after.live_bytes == before.live_bytes
