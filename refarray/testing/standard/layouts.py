"""The same values in memory laid out in several ways.

A library computes with strides, offsets and read-only views, and most tests only ever
show it fresh row-major arrays. Every layout here is made with the public indexing,
`permute_dims` and `broadcast_to` of the namespace under test; `calls.py` uses them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from refarray.testing.standard import arrays

Values = np.ndarray[Any, Any]

FRESH = ("fresh",)
SHORT = ("fresh", "strided", "reversed")
LAYOUTS = ("fresh", "strided", "reversed", "offset", "transposed", "broadcast")


def make(xp: Any, values: Values, layout: str) -> Any | None:
    """An array with these values in a layout; None where there is no such array.

    strided: every second element of the last axis, between others.
    reversed: a view that runs backwards along the last axis.
    offset: the inside of a larger array.
    transposed: a view with the axes of a row-major array reversed.
    broadcast: what `broadcast_to` gives for the array's own shape, or a view of
    stride zero where all elements along the first axis agree; often read-only.
    """
    if layout == "fresh":
        return arrays.make(xp, values)
    if values.ndim == 0 and layout != "broadcast":
        return None
    try:
        return _MAKERS[layout](xp, values)
    except Exception:  # a library need not have every kind of view
        return None


def _strided(xp: Any, values: Values) -> Any:
    around = np.repeat(values, 2, axis=-1)
    around[..., 1::2] = np.roll(values, 1, axis=-1)
    return arrays.make(xp, around)[..., ::2]


def _reversed(xp: Any, values: Values) -> Any:
    return arrays.make(xp, values[..., ::-1])[..., ::-1]


def _offset(xp: Any, values: Values) -> Any:
    around = np.pad(values, 1, mode="edge" if values.size else "constant")
    return arrays.make(xp, around)[(slice(1, -1),) * values.ndim]


def _transposed(xp: Any, values: Values) -> Any | None:
    if values.ndim < 2:
        return None
    axes = tuple(reversed(range(values.ndim)))
    return xp.permute_dims(arrays.make(xp, values.transpose(axes)), axes)


def _broadcast(xp: Any, values: Values) -> Any:
    uniform = values.ndim > 0 and values.shape[0] > 1
    if uniform and all(v.tobytes() == values[0].tobytes() for v in values):
        return xp.broadcast_to(arrays.make(xp, values[:1]), values.shape)
    return xp.broadcast_to(arrays.make(xp, values), values.shape)


_MAKERS = {
    "strided": _strided,
    "reversed": _reversed,
    "offset": _offset,
    "transposed": _transposed,
    "broadcast": _broadcast,
}
