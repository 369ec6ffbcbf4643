"""An array and its model, for machine.py. Next: machine.py."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import refarray as xp
from refarray import dlpack


@dataclass
class Pair:
    """An array of refarray or NumPy, and its model."""

    x: Any
    model: Any

    @property
    def is_ours(self) -> bool:
        """Whether it is an array of refarray."""
        return isinstance(self.x, xp.Array)

    def check(self) -> None:
        """Compare all of it."""
        a = np.asarray(memoryview(self.x)) if self.is_ours else self.x
        assert a.shape == self.model.shape
        assert a.dtype == self.model.dtype
        # Without elements NumPy takes no memory, and no flag.
        assert a.flags.writeable == self.model.flags.writeable or not a.size
        if a.tobytes() != self.model.tobytes():
            np.testing.assert_array_equal(a, self.model)


class Holder:
    """A producer that hands out one capsule."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule


def part_of(numbers: list[tuple[int, int, int]], shape: tuple[int, ...]) -> Any:
    """Return a key within the bounds: an integer or a slice for each axis."""
    key: list[Any] = []
    for (a, b, step), n in zip(numbers, shape, strict=False):
        if step == 0 and n:
            key.append(a % n)
        else:
            start, stop = sorted((a % (n + 1), b % (n + 1)))
            backwards = slice(stop - 1 if stop else None, None, step)
            key.append(slice(start, stop, step or 1) if step >= 0 else backwards)
    return (*key, ...)


def library(pair: Pair) -> Any:
    """Return the namespace for an array."""
    return xp if pair.is_ours else np


class Owner:
    """Owns the memory of an array, and describes it or lends it as a buffer."""

    def __init__(self, x: Any) -> None:
        self.x = x
        self.kept: Any = None

    def lend(self, as_buffer: bool, keep: bool) -> Any:
        """Return an array over the memory, which keeps this object alive."""
        take = dlpack.Tensor.from_buffer if as_buffer else dlpack.Tensor.from_array
        x = xp.from_dlpack(replace(take(self.x), owner=self))
        self.kept = [x, x[...]] if keep else None
        return x


def passed_on(x: Any, links: int) -> Any:
    """Return what is left of an array that went to NumPy and back many times."""
    for _ in range(links):
        x = np.from_dlpack(x) if isinstance(x, xp.Array) else xp.from_dlpack(x)
    return x
