"""Matrices, and their exact determinants, inverses and norms from mpmath.

Values come from mpmath at 40 digits and from the definition of each norm; a
factorization is judged by its residuals, measured here in NumPy's double precision. The
checks that use it: `check_linalg.py` and `check_decompositions.py`.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from refarray.testing.standard.multiprecision import context

Matrix = np.ndarray[Any, Any]

_CONTEXT = context()
_CONTEXT.dps = 40

# Entries are small integers, so every dtype holds them exactly. Each matrix is well
# conditioned: what is tested is the function, not the luck of its rounding.
SQUARE = np.asarray([[2.0, -1.0, 3.0], [4.0, 5.0, -2.0], [-3.0, 1.0, 6.0]])
SQUARE_COMPLEX = SQUARE + 1j * np.asarray([[1.0, 2, -1], [0, -3, 1], [2, 1, -2]])
SYMMETRIC = np.asarray([[4.0, -2.0, 1.0], [-2.0, 7.0, 3.0], [1.0, 3.0, 9.0]])
HERMITIAN = SYMMETRIC + 1j * np.asarray([[0.0, 1, -2], [-1, 0, 1], [2, -1, 0]])
TALL = np.asarray([[1.0, 2, -1], [3, -4, 2], [0, 5, 1], [-2, 1, 3], [2, 2, -5]])
TALL_COMPLEX = TALL + 1j * np.asarray(
    [[0.0, 1, 1], [-1, 2, 0], [3, 0, -2], [1, 1, 1], [0, -2, 1]]
)
ROTATION = np.asarray([[0.0, -2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 3.0]])


def _matrix(a: Matrix) -> Any:
    return _CONTEXT.matrix([[_CONTEXT.mpmathify(complex(v)) for v in r] for r in a])


def _array(m: Any) -> Matrix:
    return np.asarray(
        [[complex(m[i, j]) for j in range(m.cols)] for i in range(m.rows)]
    )


def determinant(a: Matrix) -> complex:
    """det(a), rounded once."""
    if a.shape[0] == 0:
        return 1.0
    return complex(_CONTEXT.det(_matrix(a)))


def inverse(a: Matrix) -> Matrix:
    """The inverse of a, rounded once."""
    return _array(_CONTEXT.inverse(_matrix(a)))


def power(a: Matrix, n: int) -> Matrix:
    """The n-th power of a, rounded once; n may be negative."""
    m = _matrix(a) if n >= 0 else _CONTEXT.inverse(_matrix(a))
    out = _CONTEXT.eye(a.shape[0])
    for _ in range(abs(n)):
        out = out * m
    return _array(out)


def pseudo_inverse(a: Matrix) -> Matrix:
    """The Moore-Penrose inverse of a matrix of full rank."""
    m = _matrix(a)
    if a.shape[0] >= a.shape[1]:
        return _array(_CONTEXT.inverse(m.H * m) * m.H)
    return _array(m.H * _CONTEXT.inverse(m * m.H))


def singular_values(a: Matrix) -> np.ndarray[Any, Any]:
    """The singular values in descending order."""
    rows = tuple(map(tuple, a.astype("complex128").tolist()))
    return np.asarray(_singular_values(rows))


@functools.cache
def _singular_values(rows: tuple[tuple[complex, ...], ...]) -> tuple[float, ...]:
    values = _CONTEXT.svd_c(_CONTEXT.matrix(rows), compute_uv=False)
    return tuple(sorted((float(v) for v in values), reverse=True))


def eigenvalues(a: Matrix) -> tuple[complex, ...]:
    """The eigenvalues, in no order."""
    return _eigenvalues(tuple(map(tuple, a.astype("complex128").tolist())))


@functools.cache
def _eigenvalues(rows: tuple[tuple[complex, ...], ...]) -> tuple[complex, ...]:
    if len(rows) < 2:  # mpmath wants two rows
        return rows[0] if rows else ()
    values = _CONTEXT.eig(_CONTEXT.matrix(rows), left=False, right=False)
    return tuple(complex(v) for v in values)


@functools.cache
def vector_norm(values: tuple[complex, ...], order: float) -> float:
    """The norm of a vector, by its definition in the standard's table."""
    sizes = [_CONTEXT.mpf(abs(_CONTEXT.mpc(v))) for v in values]
    if order == math.inf:
        return float(max(sizes))
    if order == -math.inf:
        return float(min(sizes))
    if order == 0:
        return float(sum(1 for s in sizes if s != 0))
    exponent = _CONTEXT.mpf(order)
    total = _CONTEXT.fsum(_CONTEXT.power(s, exponent) for s in sizes)
    return float(_CONTEXT.power(total, 1 / exponent))


def matrix_norm(a: Matrix, order: float | str) -> float:
    """The norm of a matrix, by its definition in the standard's table."""
    size = np.abs(a)
    if order == "fro":
        return vector_norm(tuple(map(complex, a.ravel())), 2)
    if order == "nuc":
        return float(np.sum(singular_values(a)))
    if order in (2, -2):
        values = singular_values(a)
        return float(values[0] if order == 2 else values[-1])
    sums = size.sum(axis=0 if order in (1, -1) else 1)
    return float(np.max(sums) if float(order) > 0 else np.min(sums))


def adjoint(a: Matrix) -> Matrix:
    """The conjugate transpose of the innermost matrices."""
    return np.conj(np.swapaxes(a, -1, -2))


def residual(product: Matrix, wanted: Matrix) -> float:
    """The largest error of a matrix relative to the largest entry wanted."""
    scale = float(np.max(np.abs(wanted), initial=0.0)) or 1.0
    return float(np.max(np.abs(product - wanted), initial=0.0)) / scale


def orthonormality(a: Matrix) -> float:
    """How far the columns of the innermost matrices are from orthonormal."""
    return residual(
        adjoint(a) @ a,
        np.broadcast_to(np.eye(a.shape[-1]), a.shape[:-2] + (a.shape[-1],) * 2),
    )
