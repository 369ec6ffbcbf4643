"""Pedantic keys: those of `x[key]` and `x[key] = value` that the standard leaves open.

Next: `pipeline.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import index
from typing import Any

from refarray._base import dtypes, profile
from refarray._base.dtypes import KINDS
from refarray._compute.pedantic import on
from refarray._memory.native import ArrayBase


def check(x: ArrayBase, key: object, *, assigned: bool) -> None:
    """Check the key of `x[key]` or, if assigned, of `x[key] = value`."""
    if on():
        items = key if isinstance(key, tuple) else (key,)
        found = _open_key(x, items, assigned)
        if found is not None:
            given, instead = found
            profile.unspecified(f"a key with {given}", "indexing", instead)


def _open_key(
    x: ArrayBase, items: tuple[Any, ...], assigned: bool
) -> tuple[str, str] | None:
    """Return what is open in a key, and what to do instead; None if nothing is."""
    arrays = [item for item in items if isinstance(item, ArrayBase)]
    others = [item for item in items if not isinstance(item, ArrayBase)]
    if not all(map(_is_basic, others)):
        return None  # an error in any case
    if any(item.dtype is dtypes.bool for item in arrays):
        if len(items) > 1:
            return "a mask beside something else", "index twice"
        return None
    if arrays and assigned:
        return "an array of integers, in an assignment", "assign through a mask"
    if any(item.dtype not in KINDS["integral"] for item in arrays):
        return None
    if any(item.dtype is not profile.defaults(x.device).indexing for item in arrays):
        return "integers of another dtype than the default one", "convert with astype"
    if arrays and not all(hasattr(item, "__index__") for item in others):
        return "an array of integers beside slices, ... or None", "use take"
    if assigned and any(item is None for item in others):
        return "None, in an assignment", "reshape the value"
    given = sum(item is not None and item is not Ellipsis for item in items)
    if given < x.ndim and not any(item is Ellipsis for item in others):
        return f"{given} indices for {x.ndim} axes", "add an ellipsis: x[i, ...]"
    if not arrays and not all(_slices_within(x, items, given)):
        return "a slice that goes beyond its axis", "limit it to the size with min()"
    return None


def _is_basic(item: object) -> bool:
    if item is None or item is Ellipsis or isinstance(item, slice):
        return True
    # Arrays of others have __index__ as well, and are no index.
    return (
        hasattr(item, "__index__")
        and not hasattr(item, "__dlpack__")
        and not isinstance(item, bool)
    )


def _slices_within(x: ArrayBase, items: tuple[Any, ...], given: int) -> Iterator[bool]:
    shape = x._shape
    axis = 0
    for item in items:
        if isinstance(item, slice):
            n, step = shape[axis], 1 if item.step is None else index(item.step)
            last = (-n, n) if step > 0 else (-n - 1, max(0, n - 1))
            yield item.start is None or -n <= index(item.start) <= n
            yield item.stop is None or last[0] <= index(item.stop) <= last[1]
        if item is Ellipsis:
            axis += x.ndim - given
        elif item is not None:
            axis += 1
