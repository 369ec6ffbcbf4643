"""Sample values: every dtype's extremes, in arrays of every shape that matters."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

Values = np.ndarray[Any, Any]

SHAPES: tuple[tuple[int, ...], ...] = (
    (), (0,), (1,), (7,), (2, 3), (0, 3), (3, 0), (3, 1, 2), (2, 0, 2),
    (1, 2, 1, 3, 1, 1, 2, 1),
)  # fmt: skip
"""No axis, no element, one element, one axis to eight."""


def extremes(dtype: str) -> list[Any]:
    """The values of a dtype that implementations get wrong."""
    if dtype == "bool":
        return [True, False]
    kind = np.dtype(dtype).kind
    if kind in "iu":
        integer = np.iinfo(dtype)
        return [1, int(integer.min), 0, int(integer.max), 2, int(integer.max) - 1]
    if kind == "f":
        info = np.finfo(dtype)
        tiny = float(info.smallest_subnormal)
        large = float(info.max)
        return [
            1.5, float("nan"), -0.0, float("inf"), tiny, large,
            -2.25, 0.0, float("-inf"), -tiny, -large, float(info.smallest_normal),
        ]  # fmt: skip
    parts = extremes("float32" if dtype == "complex64" else "float64")
    shifted = parts[5:] + parts[:5]
    return [complex(a, b) for a, b in zip(parts, shifted, strict=True)]


def filled(shape: tuple[int, ...], dtype: str, start: int = 0) -> Values:
    """An array that cycles through the extremes of its dtype."""
    size = int(np.prod(shape))
    cycle = itertools.islice(itertools.cycle(extremes(dtype)), start, start + size)
    return _array(list(cycle), dtype).reshape(shape)


def distinct(shape: tuple[int, ...], dtype: str) -> Values:
    """Small integers, distinct, in no order; bool alternates irregularly."""
    size = int(np.prod(shape))
    order = (np.arange(size) * 7 + 3) % (size if size % 7 else size + 1)
    if dtype == "bool":
        return np.asarray(order % 3 == 0).reshape(shape)
    signed = np.dtype(dtype).kind != "u"
    values = order - size // 2 if signed else order
    if np.dtype(dtype).kind == "c":
        values = values + 1j * order[::-1]
    return values.astype(dtype).reshape(shape)


def _array(values: list[Any], dtype: str) -> Values:
    return np.asarray(values, dtype=dtype) if values else np.zeros(0, dtype)


def gathered(
    values: Values, shape: tuple[int, ...], source: Callable[..., Any]
) -> Values:
    """The array whose element at (i, j, ...) is `values[source(i, j, ...)]`."""
    out = np.empty(shape, values.dtype)
    for at in np.ndindex(*shape):
        out[at] = values[source(*at)]
    return out


def everywhere(dtypes: Sequence[str], shape: tuple[int, ...]) -> Iterator[Values]:
    """Arrays of every shape in a few dtypes, then one shape in every dtype."""
    for each in SHAPES:
        yield distinct(each, "int16")
    yield filled((3, 1, 2), "float32")
    for dtype in dtypes:
        yield filled(shape, dtype)
