"""Where the time of one addition and of one exchange goes.

The steps are called one by one, as the library calls them; what is left of the whole is
dispatch: finding out what to do. docs/explanation/speed.md explains them.

Next: rows_import.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import refarray
from benchmarks.harness import OURS, Row, Summary, statement
from refarray._memory.native import allocate, compute, import_capsule


def rows() -> list[Row | Summary]:
    """Return the steps of an addition, then those of an exchange."""
    return [*_addition(), *_exchange()]


def _addition() -> list[Row | Summary]:
    x = refarray.ones(3)
    names = {
        "add": refarray.add,
        "compute": compute,
        "allocate": allocate,
        "kernel": np.add,
        "x": x,
        "view": x._view,
        "out": np.empty(3),
        "few": x.shape,
        "many": (200,),
        "dtype": x.dtype,
        "device": x.device,
    }
    whole = _row("add(x, x)", "add(x, x)", names)
    steps = _row("steps in C", "compute(kernel, few, dtype, device, x, x)", names)
    kernel = _row("add: kernel", "kernel(view, view, out)", names)
    # The view must go before its array, or they are not kept for the next.
    new = "a = allocate({}, dtype, device, False); a._view"
    kept = _row("add: kept memory and view", new.format("few"), names)
    # More bytes than are kept together with a view.
    memory = _row("made anew: memory", "allocate(many, dtype, device, False)", names)
    viewed = _row("memory and view", new.format("many"), names)
    return [
        whole,
        kernel,
        kept,
        _rest("add: quiet call of the kernel", steps, kernel, kept),
        _rest("add: dispatch", whole, steps),
        memory,
        _rest("made anew: view", viewed, memory),
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
    made = _row("from_dlpack: NumPy, the capsule", capsule, names)
    taken = _row(
        "the capsule, checked and taken over", f"take({capsule}, device)", names
    )
    return [
        whole,
        made,
        _rest("from_dlpack: check, take over, give back", taken, made),
        _rest("from_dlpack: dispatch", whole, taken),
    ]


def _row(work: str, code: str, names: dict[str, Any]) -> Row:
    return Row(work, {OURS: statement(code, **names)})


def _rest(work: str, whole: Row, *parts: Row) -> Summary:
    """What a step takes beyond its parts."""

    def difference(seconds: Sequence[float]) -> float:
        return seconds[0] - sum(seconds[1:])

    return Summary(work, [whole, *parts], difference)
