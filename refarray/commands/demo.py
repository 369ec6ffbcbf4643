"""The command `python -m refarray demo`: one exchange with NumPy, every step shown.

Next: info.py.
"""

from __future__ import annotations

import argparse
import platform
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import refarray as xp
from refarray.commands.terminal import paint, print_json
from refarray.dlpack import from_capsule, inspect
from refarray.memory import statistics


class Step(NamedTuple):
    """One step: what happens, how it looks, and what is so afterwards."""

    title: str
    text: str
    facts: dict[str, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Print the exchange; AssertionError if any of it is not as promised."""
    if options.json:
        print_json([{"step": step.title, **step.facts} for step in steps()])
        return 0
    versions = f"NumPy {np.__version__}, refarray {xp.__version__}"
    print(f"Python {platform.python_version()}, {versions}")
    for number, step in enumerate(steps(), 1):
        print(f"\n{paint(f'{number}. {step.title}', 'bold')}\n")
        print("\n".join(f"   {line}".rstrip() for line in step.text.splitlines()))
    return 0


def steps() -> Iterator[Step]:
    """Take an array through the exchange, in both directions."""
    before = statistics()

    a = np.linspace(0.0, 2.5, 6).reshape(2, 3)
    capsule = a.__dlpack__(max_version=(1, 3))
    fresh = inspect(capsule)
    yield Step(
        "NumPy makes an array and exports it as a DLPack capsule.",
        f"a = {a.tolist()} at {a.ctypes.data:#x}\n\n{fresh}",
        {
            "array": a.tolist(),
            "address": a.ctypes.data,
            "fields": {field.name: field.value for field in fresh.fields},
        },
    )

    x = from_capsule(capsule)
    consumed = inspect(capsule)
    assert x._buffer.address == a.ctypes.data
    yield Step(
        "refarray consumes the capsule: its name changes, the memory does not.",
        f"capsule before: {fresh.name!r}\n"
        f"capsule after:  {consumed.name!r}\n"
        + f"x = {x!r}\n".replace("\n ", "\n     ")
        + f"memory of x at {x._buffer.address:#x}, owned by: {x._buffer.kind}",
        {
            "name_before": fresh.name,
            "name_after": consumed.name,
            "address": x._buffer.address,
        },
    )

    x[0, 0] = 100.0
    a[1, 2] = -1.0
    assert a[0, 0] == 100.0
    assert float(x[1, 2]) == -1.0
    yield Step(
        "Both write to one memory.",
        f"x[0, 0] = 100.0  ->  a[0, 0] is {a[0, 0]}\n"
        f"a[1, 2] = -1.0   ->  x[1, 2] is {float(x[1, 2])}",
        {"a[0, 0]": float(a[0, 0]), "x[1, 2]": float(x[1, 2])},
    )

    y = x + 0.5
    b = np.from_dlpack(y)
    b[0, 1] = 7.0
    assert b.ctypes.data == y._buffer.address
    assert float(y[0, 1]) == 7.0
    assert y.dtype is xp.float64
    yield Step(
        "refarray computes into memory of its own, and NumPy takes that.",
        f"y = x + 0.5 at {y._buffer.address:#x}, owned by: {y._buffer.kind}\n"
        f"b = np.from_dlpack(y) at {b.ctypes.data:#x}\n"
        f"b[0, 1] = 7.0    ->  y[0, 1] is {float(y[0, 1])}",
        {"address": b.ctypes.data, "y[0, 1]": float(y[0, 1])},
    )

    address = y._buffer.address
    del y
    assert b[0, 1] == 7.0
    assert b.ctypes.data == address
    kept = f"y is gone; b still holds its memory: b[0, 1] is {b[0, 1]}"
    del x, b
    after = statistics()
    imports = after.imports_deleted - before.imports_deleted
    exports = after.exports_deleted - before.exports_deleted
    in_use = after.live_bytes - before.live_bytes
    assert imports == exports == 1
    assert in_use == 0
    yield Step(
        "Each side gives back what it took, once.",
        f"{kept}\n"
        f"refarray called the deleter of NumPy's tensor: {imports} time\n"
        f"NumPy called the deleter of refarray's tensor: {exports} time\n"
        f"bytes of refarray still in use: {in_use}",
        {
            "imports_deleted": imports,
            "exports_deleted": exports,
            "bytes_in_use": in_use,
        },
    )
