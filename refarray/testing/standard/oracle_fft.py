"""Exact discrete Fourier transforms to hold fft implementations against.

Every transform is the defining sum, evaluated with mpmath at 40 digits on NumPy
object arrays: no fast algorithm, no shared code with the library under test. Sizes are
therefore small. The checks that use it: `check_fft.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from refarray.testing.standard.multiprecision import context

_CONTEXT = context()
_CONTEXT.dps = 40

Exact = np.ndarray[Any, Any]  # dtype object, elements mpmath numbers

BACKWARD, ORTHO, FORWARD = "backward", "ortho", "forward"


def exact(values: np.ndarray[Any, Any]) -> Exact:
    """`values` as an object array of mpmath complex numbers."""
    out = np.empty(values.shape, dtype=object)
    for index in np.ndindex(values.shape):
        out[index] = _CONTEXT.mpc(complex(values[index]))
    return out


def rounded(values: Exact) -> np.ndarray[Any, Any]:
    """An exact array rounded to complex128."""
    out = np.empty(values.shape, dtype=np.complex128)
    for index in np.ndindex(values.shape):
        out[index] = complex(values[index])
    return out


@functools.cache
def _matrix(n: int, sign: int) -> Exact:
    out = np.empty((n, n), dtype=object)
    roots = [_CONTEXT.expjpi(_CONTEXT.mpf(2 * sign * k) / n) for k in range(n)]
    for row in range(n):
        for column in range(n):
            out[row, column] = roots[row * column % n]
    return out


def _resize(values: Exact, n: int, axis: int) -> Exact:
    """Trim `axis` to n elements or pad it with zeros."""
    moved = np.moveaxis(values, axis, 0)
    out = np.empty((n, *moved.shape[1:]), dtype=object)
    out[...] = _CONTEXT.mpc(0)
    kept = min(n, moved.shape[0])
    out[:kept] = moved[:kept]
    return np.moveaxis(out, 0, axis)


def _scale(n: int, norm: str, inverse: bool) -> Any:
    if norm == ORTHO:
        return 1 / _CONTEXT.sqrt(n)
    scaled_direction = BACKWARD if inverse else FORWARD
    return _CONTEXT.mpf(1) / n if norm == scaled_direction else _CONTEXT.mpf(1)


def transform(
    values: Exact, n: int | None, axis: int, norm: str, inverse: bool = False
) -> Exact:
    """The complex transform of length n along one axis."""
    size: int = values.shape[axis] if n is None else n
    resized = _resize(values, size, axis)
    matrix = _matrix(size, 1 if inverse else -1)
    product = np.tensordot(matrix, resized, axes=(1, axis))
    return np.moveaxis(product * _scale(size, norm, inverse), 0, axis)


def half(values: Exact, axis: int) -> Exact:
    """The first n//2 + 1 elements along an axis."""
    n = values.shape[axis] // 2 + 1
    return np.moveaxis(np.moveaxis(values, axis, 0)[:n], 0, axis)


def hermitian(values: Exact, n: int, axis: int) -> Exact:
    """The n coefficients of a real signal, given the first n//2 + 1 of them."""
    moved = np.moveaxis(_resize(values, n // 2 + 1, axis), axis, 0)
    out = np.empty((n, *moved.shape[1:]), dtype=object)
    for k in range(n):
        out[k] = moved[k] if k <= n // 2 else conjugate(moved[n - k])
    return np.moveaxis(out, 0, axis)


def conjugate(values: Any) -> Any:
    """The complex conjugate of every element."""
    return np.vectorize(_CONTEXT.conj, otypes=[object])(values)


def transform_axes(
    values: Exact,
    sizes: Sequence[int | None],
    axes: Sequence[int],
    norm: str,
    inverse: bool = False,
) -> Exact:
    """The complex transform over several axes."""
    for n, axis in zip(sizes, axes, strict=True):
        values = transform(values, n, axis, norm, inverse)
    return values


def real_inverse(values: Exact, n: int | None, axis: int, norm: str) -> Exact:
    """`irfft`: the real signal of n samples with these first coefficients."""
    size: int = 2 * (values.shape[axis] - 1) if n is None else n
    return transform(hermitian(values, size, axis), size, axis, norm, inverse=True)


def hermitian_forward(values: Exact, n: int | None, axis: int, norm: str) -> Exact:
    """`hfft`: the forward transform of a signal with Hermitian symmetry."""
    size: int = 2 * (values.shape[axis] - 1) if n is None else n
    return transform(hermitian(values, size, axis), size, axis, norm)
