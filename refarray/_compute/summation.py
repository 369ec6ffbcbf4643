"""Sums of floating-point numbers whose error is small along every axis.

NumPy sums pairwise along the axis that is contiguous in memory: the error of n terms
grows with log n. Along any other axis it adds one term after the other, and the error
grows with n: the mean of 10**6 rows of 0.1 in float32 is 0.101. Here such an axis is
summed in blocks of 64 to 127 terms, the sums of the blocks again in blocks, and so on.
The additions in each block are still NumPy's, over many blocks in one call.

CuPy's sums are trees along every axis. They stay as they are.

Next: `reductions.py`.
"""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import numpy as np

from refarray._base.layout import remembered
from refarray._compute.engine import Kernel

BLOCK = 64  # A block has from this many terms up to one fewer than twice as many.
RUN = 8192  # NumPy's inner loop should add so many elements at once.
FEW = 1024  # Up to this size, choosing a method costs more than the sum.

_add: Kernel = np.add.reduce


def sum_kernel(k: ModuleType) -> Kernel:
    """Return a function like `add.reduce` of the kernels `k` whose error is small.

    Up to FEW elements both do the same, so callers may use `add.reduce` directly.
    """
    kernel: Kernel = _reduce if k is np else k.add.reduce
    return kernel


def _reduce(
    x: Any,
    axes: tuple[int, ...] | None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
) -> Any:
    """Return what `np.add.reduce` returns, with a smaller error."""
    result = dtype or (x if out is None else out).dtype
    same = x.dtype == result
    whole = axes is None and same and x.flags.c_contiguous
    if result.kind in "fc" and x.size > FEW and not whole:
        while split := _split(x.shape, x.strides, axes, same):
            x = _sum_blocks(x, result, *split)
            same = True
    return _add(x, axes, dtype, out, keepdims)


@remembered
def _split(
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    axes: tuple[int, ...] | None,
    same: bool,
) -> tuple[int, int, int, int] | None:
    """Return how to split an axis into blocks: the axis, and the shape in its place.

    None where NumPy adds few terms in turn. `same` says that it converts no elements.
    """
    every = range(len(shape))
    chosen = every if axes is None else [every[a] for a in axes]
    summed = [a for a in chosen if shape[a] > 1]
    if same:
        # NumPy sums pairwise where the smallest strides are, along one run of memory.
        # Of axes with the same stride the last is the innermost. Stride 0 is
        # ignored. If NumPy converts elements, it sums one buffer of them after another.
        run = 0
        for stride, a in sorted((abs(strides[a]), -a) for a in every if shape[a] > 1):
            if -a not in summed or stride == 0 or run not in (0, stride):
                break
            summed.remove(-a)
            run = stride * shape[-a]
    if math.prod([shape[a] for a in summed]) < 2 * BLOCK:
        return None
    axis = max(summed, key=shape.__getitem__)
    n, stride = shape[axis], abs(strides[axis])
    row = math.prod([shape[a] for a in every if abs(strides[a]) < stride])
    step = max(1, min(RUN // row, n // BLOCK))
    groups = max(1, n // (BLOCK * step))
    return axis, groups, n // (groups * step), step


def _sum_blocks(
    x: Any, dtype: Any, axis: int, groups: int, terms: int, step: int
) -> Any:
    """Return `x` with the sum of each block along `axis` in place of its terms.

    A block takes every `step`-th row of its group, so that NumPy adds `step` rows at
    once. The rows left at the end are added to the first sums.
    """
    rows = x.swapaxes(0, axis)
    row = rows.shape[1:]
    count = groups * step
    blocks = rows[: terms * count].reshape(groups, terms, step, *row)
    sums = _add(blocks, 1, dtype).reshape(count, *row)
    if left := len(rows) - terms * count:
        np.add(sums[:left], rows[-left:], sums[:left], dtype=dtype)
    return sums.swapaxes(0, axis)
