"""Decompositions of the linear algebra extension: Cholesky, QR, eigenvalues, SVD.

Source: array API 2025.12, linear algebra extension.

Each takes one matrix, shape (M, N), or a stack of them, (..., M, N), of a
floating-point dtype, and never changes the precision. ValueError for fewer than two
dimensions, for a matrix that is not square where it must be, and where the algorithm
finds no answer.

Next: `linalg_norms.py`.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from numpy.linalg import LinAlgError

from refarray._base import profile
from refarray._base.dtypes import complex64
from refarray._base.layout import from_sizes
from refarray._base.promotion import promote
from refarray._compute import freedom, pedantic
from refarray._compute.arguments import check_operands
from refarray._compute.array import Array
from refarray._compute.engine import Kernel, adopt, call, kernels, view
from refarray._compute.pipeline import FLOATING, component


class EigResult(NamedTuple):
    """Eigenvalues, shape (..., M), and eigenvectors as columns, shape (..., M, M)."""

    eigenvalues: Array
    eigenvectors: Array


class EighResult(NamedTuple):
    """Eigenvalues, shape (..., M), and eigenvectors as columns, shape (..., M, M)."""

    eigenvalues: Array
    eigenvectors: Array


class QRResult(NamedTuple):
    """Orthonormal columns `Q` and an upper triangular `R`, with Q @ R = x."""

    Q: Array
    R: Array


class SVDResult(NamedTuple):
    """Singular vectors `U` and `Vh`, and the singular values `S`, largest first."""

    U: Array
    S: Array
    Vh: Array


def check_matrices(name: str, x: Array, *, square: bool = False) -> None:
    """Raise unless `x` is a matrix, or a stack of them, of a floating-point dtype."""
    check_operands(name, FLOATING, x)
    check_matrix_shape(name, x, square=square)


def check_matrix_shape(name: str, x: Array, *, square: bool = False) -> None:
    """Raise ValueError unless `x` has the shape of a matrix or a stack of them."""
    shape = x._shape
    if len(shape) < 2:
        raise ValueError(
            f"{name} takes matrices, shape (..., M, N), got shape {shape} "
            f"(array API 2025.12, {name})"
        )
    if square and shape[-1] != shape[-2]:
        raise ValueError(
            f"{name} takes square matrices, shape (..., M, M), got shape {shape} "
            f"(array API 2025.12, {name})"
        )


def run(name: str, kernel: Kernel, *args: Any, **kwargs: Any) -> Any:
    """Call a kernel; ValueError, not a type of NumPy, if it finds no answer."""
    try:
        return call(kernel, *args, **kwargs)
    except LinAlgError as error:
        raise ValueError(f"{name}: {error}") from None


def _hermitian(x: Array) -> Any:
    return freedom.hermitian(view(x)) if profile.guarded else view(x)


def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """Lower triangular L with L @ conj(L.mT) = x, or upper U with conj(U.mT) @ U = x.

    `x` is positive definite, and read below its diagonal only. ValueError if it is not.
    """
    name = "linalg.cholesky"
    check_matrices(name, x, square=True)
    if profile.guarded:
        pedantic.hermitian(name, view(x))
    factor = run(name, kernels(x.device).linalg.cholesky, _hermitian(x))
    if upper:
        factor = factor.swapaxes(-1, -2).conj()
    out: Array = adopt(factor, x.dtype, x.device, x._shape)
    return out


def eig(x: Array, /) -> EigResult:
    """Eigenvalues and eigenvectors of square matrices, complex also for a real `x`.

    ValueError for infinities and NaN.
    """
    name = "linalg.eig"
    check_matrices(name, x, square=True)
    values, vectors = run(name, kernels(x.device).linalg.eig, view(x))
    if profile.guarded:
        values, vectors = freedom.eigensystem(values, vectors, x.dtype)
    dtype = promote(x.dtype, complex64)
    return EigResult(
        adopt(values, dtype, x.device, x._shape[:-1]),
        adopt(vectors, dtype, x.device, x._shape),
    )


def eigh(x: Array, /) -> EighResult:
    """Eigenvalues, real and ascending, and eigenvectors of Hermitian matrices.

    `x` is read below its diagonal only.
    """
    name = "linalg.eigh"
    check_matrices(name, x, square=True)
    if profile.guarded:
        pedantic.hermitian(name, view(x))
    values, vectors = run(name, kernels(x.device).linalg.eigh, _hermitian(x))
    if profile.guarded:
        values, vectors = freedom.eigensystem(values, vectors, x.dtype)
    return EighResult(
        adopt(values, component(x.dtype), x.device, x._shape[:-1]),
        adopt(vectors, x.dtype, x.device, x._shape),
    )


def eigvals(x: Array, /) -> Array:
    """Eigenvalues of square matrices, shape (..., M), complex also for a real `x`.

    ValueError for infinities and NaN.
    """
    name = "linalg.eigvals"
    check_matrices(name, x, square=True)
    values = run(name, kernels(x.device).linalg.eigvals, view(x))
    if profile.guarded:
        values = freedom.eigenvalues(values)
    dtype = promote(x.dtype, complex64)
    out: Array = adopt(values, dtype, x.device, x._shape[:-1])
    return out


def eigvalsh(x: Array, /) -> Array:
    """Eigenvalues of Hermitian matrices, shape (..., M), real and ascending.

    `x` is read below its diagonal only.
    """
    name = "linalg.eigvalsh"
    check_matrices(name, x, square=True)
    if profile.guarded:
        pedantic.hermitian(name, view(x))
    values = run(name, kernels(x.device).linalg.eigvalsh, _hermitian(x))
    if profile.guarded:
        values = freedom.eigenvalues(values)
    out: Array = adopt(values, component(x.dtype), x.device, x._shape[:-1])
    return out


def qr(x: Array, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """Orthonormal Q and upper triangular R with Q @ R = x.

    With K = min(M, N), Q has K columns and R has K rows; both M if `mode="complete"`.
    """
    name = "linalg.qr"
    check_matrices(name, x)
    if mode not in ("reduced", "complete"):
        raise ValueError(
            f"mode is 'reduced' or 'complete', not {mode!r} (array API 2025.12, {name})"
        )
    q, r = run(name, kernels(x.device).linalg.qr, view(x), mode)
    if profile.guarded:
        q, r = freedom.triangular(q, r)
    *batch, m, n = x._shape
    k = _shorter(m, n) if mode == "reduced" else m
    return QRResult(
        adopt(q, x.dtype, x.device, (*batch, m, k)),
        adopt(r, x.dtype, x.device, (*batch, k, n)),
    )


def _shorter(m: int, n: int) -> int:
    return from_sizes(min(m, n), m, n)


def svd(x: Array, /, *, full_matrices: bool = True) -> SVDResult:
    """Singular value decomposition, with (U * S) @ Vh = x where U has K columns.

    With K = min(M, N), shapes are (..., M, K), (..., K), (..., K, N); those of U and Vh
    are (..., M, M) and (..., N, N) if `full_matrices`. ValueError for NaN.
    """
    name = "linalg.svd"
    check_matrices(name, x)
    u, s, vh = run(name, kernels(x.device).linalg.svd, view(x), bool(full_matrices))
    if profile.guarded:
        u, vh = freedom.singular_vectors(u, vh, s.shape[-1], x.dtype)
    *batch, m, n = x._shape
    k = _shorter(m, n)
    return SVDResult(
        adopt(u, x.dtype, x.device, (*batch, m, m if full_matrices else k)),
        adopt(s, component(x.dtype), x.device, (*batch, k)),
        adopt(vh, x.dtype, x.device, (*batch, n if full_matrices else k, n)),
    )


def svdvals(x: Array, /) -> Array:
    """Singular values, real and descending, shape (..., min(M, N)).

    ValueError for NaN.
    """
    name = "linalg.svdvals"
    check_matrices(name, x)
    values = run(name, kernels(x.device).linalg.svd, view(x), compute_uv=False)
    shape = (*x._shape[:-2], _shorter(*x._shape[-2:]))
    out: Array = adopt(values, component(x.dtype), x.device, shape)
    return out
