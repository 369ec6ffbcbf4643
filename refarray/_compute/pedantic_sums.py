"""Pedantic sums and products: those of integers that exceed their dtype.

What the standard does not mention: see `pedantic.py`. The right result is computed in
Python's integers, which have no limits.

Next: `pedantic_keys.py`.
"""

from __future__ import annotations

import math
import operator
from itertools import accumulate
from typing import Any

import numpy as np

from refarray._base.dtypes import DType
from refarray._base.limits import IINFO
from refarray._compute.pedantic import in_range, on

_Array = np.ndarray[Any, Any]


def reduction(ufunc: str, x: _Array, axes: Any, dtype: DType) -> None:
    """Check the elements of a sum or product (`ufunc`: add or multiply) along axes."""
    if dtype in IINFO and on(x):
        if ufunc == "add":
            in_range("sum", dtype, map(sum, _lines(x, axes)))
        else:
            in_range("prod", dtype, map(_whole_product, _lines(x, axes)))


def accumulation(name: str, x: _Array, axis: int, dtype: DType) -> None:
    """Check the elements of `cumulative_sum` or `cumulative_prod` along an axis."""
    if dtype in IINFO and on(x):
        combine = operator.add if name == "cumulative_sum" else operator.mul
        for line in _lines(x, (axis,)):
            in_range(name, dtype, accumulate(line, combine))


def _whole_product(line: list[int]) -> int:
    """Return the product, or as soon as it exceeds any dtype, what there is of it."""
    if 0 in line:
        return 0
    total = 1
    for value in line:
        total *= value
        if total.bit_length() > 64:
            break
    return total


def matrix_product(name: str, x1: _Array, x2: _Array, dtype: DType) -> None:
    """Check the operands of `matmul`."""
    if dtype in IINFO and on(x1, x2):
        left = x1[None, :] if x1.ndim == 1 else x1
        right = x2[:, None] if x2.ndim == 1 else x2
        rows, columns = left[..., None, :], right.swapaxes(-1, -2)[..., None, :, :]
        _check_products(name, rows, columns, dtype)


def vector_product(name: str, x1: _Array, x2: _Array, axis: int, dtype: DType) -> None:
    """Check the operands of `cross`."""
    if dtype in IINFO and on(x1, x2):
        a, b = np.broadcast_arrays(x1.swapaxes(axis, -1), x2.swapaxes(axis, -1))
        for left, right in zip(_vectors(a), _vectors(b), strict=True):
            for i in range(3):
                j, k = (i + 1) % 3, (i + 2) % 3
                difference = left[j] * right[k] - left[k] * right[j]
                in_range(name, dtype, (difference,))


def _check_products(name: str, x1: _Array, x2: _Array, dtype: DType) -> None:
    """Check sums of products along the last axis; the others broadcast."""
    if not (x1.size and x2.size):
        return
    if _largest(x1) * _largest(x2) * x1.shape[-1] > IINFO[dtype].max:
        a, b = np.broadcast_arrays(x1, x2)
        pairs = zip(_vectors(a), _vectors(b), strict=True)
        in_range(name, dtype, (sum(map(operator.mul, *pair)) for pair in pairs))


def _largest(x: _Array) -> int:
    return max(abs(int(x.min())), abs(int(x.max())))


def _vectors(x: _Array) -> list[list[int]]:
    vectors: list[list[int]] = x.reshape(-1, x.shape[-1]).tolist()
    return vectors


def _lines(x: _Array, axes: Any) -> list[list[int]]:
    """Return the elements along axes (None: all) as lists of Python integers."""
    chosen = tuple(range(x.ndim)) if axes is None else axes
    moved = np.moveaxis(x, chosen, range(-len(chosen), 0))
    kept = moved.shape[: x.ndim - len(chosen)]
    rows: list[list[int]] = (
        moved.reshape(math.prod(kept), -1).tolist() if x.size else []
    )
    return rows
