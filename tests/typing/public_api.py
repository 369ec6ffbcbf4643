"""What type checkers know of the public API. Never run: `make types` checks it.

`assert_type` fails the check when a type is another one than it says, or Any.
"""

from __future__ import annotations

from typing import assert_type

import numpy as np

import refarray as xp
from refarray import dlpack, memory, profiles
from refarray.dlpack import Exports, Inspection, Tensor, Trace

x = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
i = xp.arange(2)

# Arrays, from nothing and of other libraries.
assert_type(x, xp.Array)
assert_type(xp.zeros((2, 3), dtype=xp.float32), xp.Array)
assert_type(xp.full_like(x, 1), xp.Array)
assert_type(xp.from_dlpack(np.ones(3)), xp.Array)
assert_type(xp.meshgrid(i, i), tuple[xp.Array, ...])
assert_type(xp.asarray(1, device=xp.Device("cpu")), xp.Array)

# Attributes.
assert_type(x.shape, tuple[int, ...])
assert_type(x.ndim, int)
assert_type(x.size, int)
assert_type(x.device, xp.Device)
assert_type(x.mT, xp.Array)
assert_type(x.to_device(x.device), xp.Array)
assert_type(x.__dlpack_device__(), tuple[int, int])

# Operators, with arrays and with Python scalars on either side.
assert_type(x + x, xp.Array)
assert_type(2 * x, xp.Array)
assert_type(x**2.0, xp.Array)
assert_type(x @ x, xp.Array)
assert_type(-x, xp.Array)
assert_type(x == 1.0, xp.Array)
assert_type(x < x, xp.Array)
assert_type(x[0], xp.Array)
assert_type(x[:, None, ..., 1], xp.Array)
assert_type(x[x > 1], xp.Array)
assert_type(bool(xp.all(x > 0)), bool)
assert_type(float(xp.sum(x)), float)

# One function of each category of the standard.
assert_type(xp.astype(x, xp.float32), xp.Array)
assert_type(xp.can_cast(xp.int8, xp.int16), bool)
assert_type(xp.finfo(xp.float64).eps, float)
assert_type(xp.iinfo(xp.int8).max, int)
assert_type(xp.add(x, 1), xp.Array)
assert_type(xp.where(x > 1, x, 0.0), xp.Array)
assert_type(xp.take(x, i, axis=0), xp.Array)
assert_type(xp.matmul(x, x), xp.Array)
assert_type(xp.concat([x, x], axis=0), xp.Array)
assert_type(xp.unstack(x), tuple[xp.Array, ...])
assert_type(xp.nonzero(x), tuple[xp.Array, ...])
assert_type(xp.unique_counts(i).counts, xp.Array)
assert_type(xp.sort(x, axis=0, descending=True), xp.Array)
assert_type(xp.mean(x, axis=(0, 1), keepdims=True), xp.Array)
assert_type(xp.diff(i), xp.Array)
assert_type(xp.linalg.eigh(x).eigenvalues, xp.Array)
assert_type(xp.fft.rfft(x), xp.Array)
assert_type(xp.pi, float)

# DLPack.
assert_type(dlpack.inspect(x), Inspection)
assert_type(dlpack.inspect(x).svg(), str)
with dlpack.trace() as t:
    assert_type(t, Trace)


class Mine(Exports):
    """A class that gives its memory."""

    def dlpack_tensor(self) -> Tensor:
        """Return what to lend."""
        raise NotImplementedError


assert_type(Mine().__dlpack_device__(), tuple[int, int])

# Memory and profiles.
assert_type(memory.statistics(), memory.Statistics)
assert_type(memory.statistics().live_bytes, int)
assert_type(profiles.active(), profiles.Profile)
with profiles.use("pedantic"):
    pass
