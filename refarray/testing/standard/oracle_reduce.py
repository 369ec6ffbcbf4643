"""Reductions along axes, from a plain Python function of a list.

    reduced(x, axis=(0, -1), keepdims=True, dtype="int64", function=sum)

The function sees Python scalars in row-major order, so integers are exact and nothing
is shared with the reductions of the library under test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Values = np.ndarray[Any, Any]
Axis = int | tuple[int, ...] | None


def axes_of(axis: Axis, ndim: int) -> tuple[int, ...]:
    """The nonnegative axes that `axis` stands for."""
    if axis is None:
        return tuple(range(ndim))
    several = axis if isinstance(axis, tuple) else (axis,)
    return tuple(a % ndim for a in several)


def choices(ndim: int) -> Iterator[Axis]:
    """None, every axis from both ends, and some tuples of axes."""
    yield None
    yield from range(-ndim, ndim)
    if ndim > 1:
        yield (0, -1)
        yield (ndim - 1,)
        yield tuple(reversed(range(ndim)))
    if ndim > 4:
        yield (1, 3, -2)


def reduced(
    x: Values,
    function: Callable[[list[Any]], Any],
    dtype: str,
    axis: Axis = None,
    keepdims: bool = False,
) -> Values:
    """The array of `function` applied to the elements along `axis`."""
    axes = axes_of(axis, x.ndim)
    kept = tuple(1 if a in axes else n for a, n in enumerate(x.shape))
    out = np.empty(kept, dtype)
    for at in np.ndindex(*kept):
        part = tuple(slice(None) if a in axes else i for a, i in enumerate(at))
        out[at] = function(np.asarray(x[part]).ravel().tolist())
    if keepdims:
        return out
    return out.reshape(tuple(n for a, n in enumerate(x.shape) if a not in axes))


def accumulated(
    x: Values, function: Callable[[list[Any]], Any], dtype: str, axis: int
) -> Values:
    """Element i along `axis` is `function` of the elements before it and itself."""
    axis %= x.ndim
    out = np.empty(x.shape, dtype)
    for at in np.ndindex(*x.shape):
        part = (*at[:axis], slice(None, at[axis] + 1), *at[axis + 1 :])
        out[at] = function(x[part].tolist())
    return out
