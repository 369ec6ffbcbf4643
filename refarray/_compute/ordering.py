"""Ordering: sorted elements, the indices that sort them, and what is unique among them.

NaN comes last, in descending order too, and so it does for `searchsorted`.

Next: `movement.py`.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from refarray._base import profile
from refarray._base.dtypes import KINDS
from refarray._base.profile import defaults
from refarray._compute import freedom
from refarray._compute.array import Array
from refarray._compute.engine import NUMPY_DTYPES, adopt, call, kernels
from refarray._compute.engine import view as kernel_view
from refarray._memory.native import allocate


def sort(x: Array, axis: int, descending: bool, stable: bool) -> Array:
    """Return the elements sorted along `axis`."""
    out: Array = allocate(x._shape, x.dtype, x.device, False)
    values = kernel_view(out)
    source = kernel_view(x)
    if profile.guarded:
        if not stable:
            source, _ = freedom.shuffled(source, axis)
        if freedom.nan_first():
            # What comes last in one order comes first in the other, read backwards.
            values, source = np.flip(values, axis), np.flip(source, axis)
            descending = not descending
    kernels(x.device).copyto(values, source)
    reverse = getattr(kernels(x.device), _reversal(x)) if descending else None
    if reverse is not None:
        call(reverse, values, out=values)
    values.sort(axis=axis, kind=_kind(x))
    if reverse is not None:
        call(reverse, values, out=values)
    if stable and x.dtype in KINDS["real floating"]:
        _keep_order_of_zeros(values, source, axis)
    return out


def argsort(x: Array, axis: int, descending: bool, stable: bool) -> Array:
    """Return the indices that sort the elements along `axis`."""
    values = kernel_view(x)
    places, backwards = None, False
    if profile.guarded:
        backwards = freedom.nan_first()
        if not stable:
            values, places = freedom.shuffled(values, axis)
        if backwards:
            values, descending = np.flip(values, axis), not descending
    if descending:
        values = call(getattr(kernels(x.device), _reversal(x)), values)
    order = values.argsort(axis=axis, kind="stable" if stable else None)
    if backwards:
        order = np.flip(values.shape[axis] - 1 - order, axis)
    if places is not None:
        order = places[order]
    return adopt(order, defaults(x.device).indexing, x.device, x._shape)


def _reversal(x: Array) -> str:
    """Return the kernel that turns descending order into ascending.

    It keeps equal elements equal, so that a stable sort keeps their order, and NaN as
    it is, so that it stays last. It undoes itself exactly.
    """
    return "invert" if x.dtype in KINDS["integral"] else "negative"


def _kind(x: Array) -> Literal["stable"] | None:
    """Return the kind of sort that orders the elements of `x` in the least time.

    Whether it is stable shows in zeros of either sign alone: equal, but not the same.
    """
    small = x.dtype in KINDS["integral"] and x.dtype.bits <= 16
    return "stable" if small else None


def _keep_order_of_zeros(values: Any, source: Any, axis: int) -> None:
    """Give zeros, in sorted values, the signs that they have in the source, in order.

    That makes the result the one of a stable sort, which takes several times as long.
    """
    zeros = source == 0
    if zeros.any():
        # With the axis last, both masks go through the lines one after another, and
        # each line has as many zeros sorted as it had before.
        values, source, zeros = (v.swapaxes(axis, -1) for v in (values, source, zeros))
        values[values == 0] = source[zeros]


class Groups:
    """Equal elements of an array, found by sorting: one group for each unique value."""

    def __init__(self, x: Array, indices: bool) -> None:
        self.x = x
        self.index = defaults(x.device).indexing
        k = kernels(x.device)
        values = kernel_view(x).reshape(-1)
        # Sorted in a stable way, each group begins with its first element.
        if indices:
            self.order = values.argsort(kind="stable")
            ordered = values[self.order]
        else:
            ordered = k.sort(values, kind=_kind(x))
            if x.dtype in KINDS["real floating"]:
                _keep_order_of_zeros(ordered, values, 0)
        self.starts = k.ones(x._size, dtype=bool)
        # NaN differs from itself, so that each is a group of its own.
        k.not_equal(ordered[1:], ordered[:-1], out=self.starts[1:])
        self.representatives = ordered[self.starts]
        self.shape = (profile.size_from_values(len(self.representatives)),)
        # Ascending, unless a seed says otherwise.
        self.sequence = None
        if profile.guarded:
            self.sequence = freedom.permutation(self.representatives)
            if not indices and profile.chance() is not None:
                (begins,) = self.starts.nonzero()
                self.representatives = freedom.one_of_each(ordered, begins)

    def values(self) -> Array:
        """Return one element of each group."""
        return self._array(self._arranged(self.representatives))

    def indices(self) -> Array:
        """Return the index of each group's first element in the flattened array."""
        return self._index_array(self._arranged(self.order[self.starts]))

    def inverse(self) -> Array:
        """Return the group of each element, in the shape of the array."""
        k = kernels(self.x.device)
        groups = k.cumsum(self.starts, dtype=NUMPY_DTYPES[self.index])
        groups -= 1
        if self.sequence is not None:
            groups = self.sequence.argsort()[groups]
        out: Array = allocate(self.x._shape, self.index, self.x.device, False)
        kernel_view(out).reshape(-1)[self.order] = groups
        return out

    def counts(self) -> Array:
        """Return the number of elements in each group."""
        k = kernels(self.x.device)
        (begins,) = self.starts.nonzero()
        out: Array = allocate(self.shape, self.index, self.x.device, False)
        counts = kernel_view(out)
        k.subtract(begins[1:], begins[:-1], out=counts[:-1])
        counts[-1:] = self.x._size - begins[-1:]
        counts[...] = self._arranged(counts)
        return out

    def _arranged(self, values: Any) -> Any:
        return values if self.sequence is None else values[self.sequence]

    def _array(self, values: Any) -> Array:
        return adopt(values, self.x.dtype, self.x.device, self.shape)

    def _index_array(self, values: Any) -> Array:
        return adopt(values, self.index, self.x.device, self.shape)
