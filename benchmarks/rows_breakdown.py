"""Where the time of one addition and of one exchange goes.

The steps are called one by one, as the library calls them; what is left of the whole is
dispatch: finding out what to do. docs/explanation/speed.md has the figures.

Next: rows_import.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import refarray
from benchmarks.harness import OURS, Row, Summary, statement
from refarray._compute.engine import call
from refarray._memory.native import allocate, import_capsule


def rows() -> list[Row | Summary]:
    """Return the steps of an addition, then those of an exchange."""
    return [*_addition(), *_exchange()]


def _addition() -> list[Row | Summary]:
    x = refarray.ones(3)
    names = {
        "add": refarray.add,
        "x": x,
        "view": x._view,
        "out": refarray.ones(3)._view,
        "allocate": allocate,
        "kernel": np.add,
        "call": call,
        "what": (x.shape, x.dtype, x.device, False),
    }
    whole = _row("add(x, x)", "add(x, x)", names)
    memory = _row("allocation", "allocate(*what)", names)
    viewed = _row("allocation and view", "allocate(*what)._view", names)
    kernel = _row("kernel", "kernel(view, view, out)", names)
    silenced = _row("kernel without warnings", "call(kernel, view, view, out)", names)
    return [
        whole,
        _rest("add: allocation", memory),
        _rest("add: view", viewed, memory),
        _rest("add: kernel", kernel),
        _rest("add: keeping NumPy's warnings in", silenced, kernel),
        _rest("add: dispatch", whole, viewed, silenced),
    ]


def _exchange() -> list[Row | Summary]:
    x = np.ones(3)
    names = {
        "load": refarray.from_dlpack,
        "x": x,
        "take": import_capsule,
        "device": x.__dlpack_device__(),
        "version": refarray.dlpack.VERSION,
    }
    capsule = "x.__dlpack__(max_version=version)"
    whole = _row("from_dlpack(numpy array)", "load(x)", names)
    asked = _row("NumPy: which device", "x.__dlpack_device__()", names)
    made = _row("NumPy: the capsule", capsule, names)
    taken = _row(
        "the capsule, checked and taken over", f"take({capsule}, device)", names
    )
    return [
        whole,
        _rest("from_dlpack: NumPy, which device", asked),
        _rest("from_dlpack: NumPy, the capsule", made),
        _rest("from_dlpack: check, take over, give back", taken, made),
        _rest("from_dlpack: dispatch", whole, asked, taken),
    ]


def _row(work: str, code: str, names: dict[str, Any]) -> Row:
    return Row(work, {OURS: statement(code, **names)})


def _rest(work: str, whole: Row, *parts: Row) -> Summary:
    """What a step takes beyond its parts."""

    def difference(seconds: Sequence[float]) -> float:
        return seconds[0] - sum(seconds[1:])

    return Summary(work, [whole, *parts], difference)
