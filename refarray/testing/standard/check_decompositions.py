"""Decompositions: cholesky, qr, svd, svdvals, eigh, eigvalsh, eig, eigvals, pinv.

Factors are not unique, so they are judged by what defines them: shape, dtype, their
product, orthonormal columns, triangles of exact zeros; eigenvalues and singular values
also by mpmath. The order of eigenvalues is left open.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from refarray.testing.standard import arrays
from refarray.testing.standard import oracle_linalg as oracle
from refarray.testing.standard.arrays import COMPLEX, COMPLEX_OF, FLOATS, REAL_OF
from refarray.testing.standard.calls import Calls, field_names
from refarray.testing.standard.check_linalg import eps, rectangles, squares, stacked
from refarray.testing.standard.oracle_linalg import Matrix, adjoint, residual
from refarray.testing.standard.runner import Case, Check, Report

SOME = 100  # units in the last place of the largest entry that a factor may be off


def hermitians(dtype: str) -> list[Matrix]:
    """Positive-definite matrices: one, diagonal, a stack, stacks of none."""
    a = (oracle.HERMITIAN if dtype in COMPLEX else oracle.SYMMETRIC).astype(dtype)
    stack = np.stack([a, np.eye(3) * 4, a.T * 2]).astype(dtype)
    none = np.zeros((0, 0), dtype)
    return [a, a[:2, :2].copy(), a[:1, :1].copy(), stack, stack[np.newaxis], none]


def _small_residual(case: Case, product: Matrix, wanted: Matrix, dtype: str) -> bool:
    off = residual(product, wanted)
    bound = SOME * eps(dtype)
    return case.true(
        off <= bound, f"a product off by {off:.2g}", f"at most {bound:.2g}"
    )


def _orthonormal(case: Case, columns: Matrix, dtype: str, name: str) -> bool:
    off = oracle.orthonormality(columns)
    bound = SOME * eps(dtype)
    wanted = f"orthonormal columns of {name}"
    return case.true(off <= bound, f"off by {off:.2g}", wanted)


def _shape_and_dtype(
    case: Case, got: Any, dtype: str, shape: tuple[int, ...]
) -> Matrix | None:
    if not case.is_array(got, dtype, shape):
        return None
    case.report.values += int(np.prod(shape))
    return arrays.read(got)


def cholesky(xp: Any, report: Report) -> None:
    """Lower and upper factors of real symmetric and complex Hermitian matrices."""
    clause = "cholesky: L @ L^H, or U^H @ U if upper, is the matrix"
    call = Calls(xp, report, "linalg.cholesky", clause)

    def judge(case: Case, got: Any, a: Matrix, upper: bool) -> None:
        dtype = a.dtype.name
        factor = _shape_and_dtype(case, got, dtype, a.shape)
        if factor is None:
            return
        other = np.tril(factor, -1) if upper else np.triu(factor, 1)
        case.true(not other.any(), factor, "zeros in the other triangle")
        pair = (adjoint(factor), factor) if upper else (factor, adjoint(factor))
        _small_residual(case, pair[0] @ pair[1], a, dtype)

    for dtype in FLOATS:
        for a in hermitians(dtype):
            call.judged(functools.partial(judge, a=a, upper=False), a)
            for upper in (False, True):
                call.judged(functools.partial(judge, a=a, upper=upper), a, upper=upper)


def qr(xp: Any, report: Report) -> None:
    """Both modes, tall, square, wide, stacks, no rows or no columns."""
    clause = "qr: a named tuple (Q, R) with Q @ R the matrix, Q orthonormal, R upper"
    call = Calls(xp, report, "linalg.qr", clause)

    def judge(case: Case, got: Any, a: Matrix, mode: str) -> None:
        if not field_names(case, got, "Q", "R"):
            return
        m, n = a.shape[-2:]
        k = m if mode == "complete" else min(m, n)
        dtype = a.dtype.name
        q = _shape_and_dtype(case, got[0], dtype, (*a.shape[:-2], m, k))
        r = _shape_and_dtype(case, got[1], dtype, (*a.shape[:-2], k, n))
        if q is None or r is None:
            return
        _small_residual(case, q @ r, a, dtype)
        _orthonormal(case, q, dtype, "Q")
        case.true(not np.tril(r, -1).any(), r, "zeros below the diagonal of R")
        imag = np.imag(np.diagonal(r, axis1=-2, axis2=-1))
        real = bool(np.max(np.abs(imag), initial=0) <= SOME * eps(dtype))
        case.true(real, r, "a real diagonal of R")

    for dtype in FLOATS:
        empty = [np.zeros(s, dtype) for s in ((0, 0), (3, 0), (0, 3), (0, 3, 2))]
        for a in (*squares(dtype), *rectangles(dtype), *empty):
            call.judged(functools.partial(judge, a=a, mode="reduced"), a)
            for mode in ("reduced", "complete"):
                by = functools.partial(judge, a=a, mode=mode)
                call.judged(by, a, mode=mode, layouts=("fresh", "transposed"))


def svd(xp: Any, report: Report) -> None:
    """Full and reduced, every shape, rank zero, no rows or no columns."""
    clause = "svd: a named tuple (U, S, Vh) with U @ diag(S) @ Vh the matrix"
    call = Calls(xp, report, "linalg.svd", clause)

    def judge(case: Case, got: Any, a: Matrix, full: bool) -> None:
        if not field_names(case, got, "U", "S", "Vh"):
            return
        *batch, m, n = a.shape
        k = min(m, n)
        dtype: str = a.dtype.name
        u = _shape_and_dtype(case, got[0], dtype, (*batch, m, m if full else k))
        s = _shape_and_dtype(case, got[1], REAL_OF.get(dtype, dtype), (*batch, k))
        vh = _shape_and_dtype(case, got[2], dtype, (*batch, n if full else k, n))
        if u is None or s is None or vh is None:
            return
        _descending(case, s)
        product = (u[..., :k] * s[..., np.newaxis, :]) @ vh[..., :k, :]
        _small_residual(case, product, a, dtype)
        _orthonormal(case, u, dtype, "U")
        _orthonormal(case, adjoint(vh), dtype, "V")

    for dtype in FLOATS:
        empty = [
            np.zeros(s, dtype) for s in ((0, 0), (3, 0), (0, 3), (2, 0, 3), (3, 2))
        ]
        for a in (*squares(dtype), *rectangles(dtype), *empty):
            call.judged(functools.partial(judge, a=a, full=True), a)
            for full in (True, False):
                by = functools.partial(judge, a=a, full=full)
                some = ("fresh", "transposed", "reversed")
                call.judged(by, a, full_matrices=full, layouts=some)


def _descending(case: Case, s: Matrix) -> None:
    ordered = bool(np.all(s[..., :-1] >= s[..., 1:]) and np.all(s >= 0))
    case.true(ordered, s, "singular values in descending order, none negative")


def svdvals(xp: Any, report: Report) -> None:
    """The singular values, against mpmath."""
    clause = "svdvals: the singular values in descending order"
    call = Calls(xp, report, "linalg.svdvals", clause)
    for dtype in FLOATS:
        real = REAL_OF.get(dtype, dtype)
        for a in (*squares(dtype)[:5], *rectangles(dtype)):
            wanted = stacked(a, oracle.singular_values, real)
            bound = SOME * eps(dtype) * float(np.max(wanted))
            call.gives(wanted, a, tolerance=bound)
        for shape in ((0, 0), (0, 3), (2, 3, 0), (0, 2, 2)):
            x = np.zeros(shape, dtype)
            wanted = np.zeros((*shape[:-2], min(shape[-2:])), real)
            call.gives(wanted, x, layouts=("fresh",))


def eigh(xp: Any, report: Report) -> None:
    """Real eigenvalues and orthonormal vectors, repeated eigenvalues too."""
    clause = "eigh: a named tuple (eigenvalues, eigenvectors) with Q diag(w) Q^H = x"
    call = Calls(xp, report, "linalg.eigh", clause)

    def judge(case: Case, got: Any, a: Matrix) -> None:
        if not field_names(case, got, "eigenvalues", "eigenvectors"):
            return
        dtype: str = a.dtype.name
        w = _shape_and_dtype(case, got[0], REAL_OF.get(dtype, dtype), a.shape[:-1])
        q = _shape_and_dtype(case, got[1], dtype, a.shape)
        if w is None or q is None:
            return
        _small_residual(case, (q * w[..., np.newaxis, :]) @ adjoint(q), a, dtype)
        _orthonormal(case, q, dtype, "the eigenvectors")

    for dtype in FLOATS:
        for a in (*hermitians(dtype), -hermitians(dtype)[0], np.zeros((3, 3), dtype)):
            call.judged(functools.partial(judge, a=a), a)


def eigvalsh(xp: Any, report: Report) -> None:
    """The eigenvalues, against mpmath, in any order."""
    call = Calls(xp, report, "linalg.eigvalsh", "eigvalsh: the eigenvalues, real")
    for dtype in FLOATS:
        real = REAL_OF.get(dtype, dtype)
        for a in (*hermitians(dtype)[:5], -hermitians(dtype)[0]):
            by = functools.partial(_eigenvalues, a=a, result=real)
            call.judged(by, a)
        for shape in ((0, 0), (2, 0, 0), (0, 2, 2)):
            none = np.zeros(shape, dtype)
            call.gives(np.zeros(shape[:-1], real), none, layouts=("fresh",))


def _eigenvalues(case: Case, got: Any, a: Matrix, result: str) -> None:
    values = _shape_and_dtype(case, got, result, a.shape[:-1])
    if values is None:
        return
    bound = 10 * SOME * eps(result) * float(np.max(np.abs(a), initial=1))
    for at in np.ndindex(*a.shape[:-2]):
        came = [complex(v) for v in values[at]]
        for wanted in oracle.eigenvalues(a[at]):
            nearest = min(came, key=lambda v, w=wanted: abs(v - w))  # type: ignore[misc]
            if not case.true(abs(nearest - wanted) <= bound, values[at], wanted):
                return
            came.remove(nearest)


def general(dtype: str) -> list[Matrix]:
    """Square matrices with distinct eigenvalues, real and complex ones."""
    rotation = oracle.ROTATION.astype(dtype)
    return [*squares(dtype)[:5], rotation, np.diag([1, 2, 3]).astype(dtype)]


def eig(xp: Any, report: Report) -> None:
    """Complex results for real matrices; each vector fits its value."""
    clause = "eig: a named tuple (eigenvalues, eigenvectors), complex (2025.12)"
    call = Calls(xp, report, "linalg.eig", clause)

    def judge(case: Case, got: Any, a: Matrix) -> None:
        if not field_names(case, got, "eigenvalues", "eigenvectors"):
            return
        dtype = str(a.dtype)
        result = COMPLEX_OF.get(dtype, dtype)
        _eigenvalues(case, got[0], a, result)
        w = _shape_and_dtype(case, got[0], result, a.shape[:-1])
        v = _shape_and_dtype(case, got[1], result, a.shape)
        if w is None or v is None:
            return
        lengths = np.sqrt(np.sum(np.abs(v) ** 2, axis=-2))
        if not case.true(np.all(lengths > 0), v, "eigenvectors other than zero"):
            return
        unit = v / lengths[..., np.newaxis, :]
        off = float(np.max(np.abs(a @ unit - unit * w[..., np.newaxis, :]), initial=0))
        bound = 10 * SOME * eps(result) * float(np.max(np.abs(a), initial=1))
        case.true(off <= bound, f"x v - w v of {off:.2g}", f"at most {bound:.2g}")

    for dtype in FLOATS:
        for a in (*general(dtype), np.zeros((0, 0), dtype), np.zeros((2, 0, 0), dtype)):
            call.judged(functools.partial(judge, a=a), a)


def eigvals(xp: Any, report: Report) -> None:
    """Complex eigenvalues, against mpmath, in any order."""
    clause = "eigvals: the eigenvalues, complex (2025.12)"
    call = Calls(xp, report, "linalg.eigvals", clause)
    for dtype in FLOATS:
        result = COMPLEX_OF.get(dtype, dtype)
        for a in general(dtype):
            call.judged(functools.partial(_eigenvalues, a=a, result=result), a)
        none = np.zeros((0, 0), dtype)
        call.gives(np.zeros((0,), result), none, layouts=("fresh",))


def pinv(xp: Any, report: Report) -> None:
    """Full rank against mpmath, lower rank by Penrose's equations, rtol."""
    call = Calls(xp, report, "linalg.pinv", "pinv: the Moore-Penrose inverse")
    for dtype in FLOATS:
        for a in (*squares(dtype)[:5], *rectangles(dtype)):
            wanted = stacked(a, oracle.pseudo_inverse, dtype)
            call.gives(wanted, a, tolerance=SOME * eps(dtype))
        lower = squares(dtype)[0].copy()
        lower[2] = lower[0] * 2 - lower[1]
        call.judged(functools.partial(_penrose, a=lower), lower)
        zero = np.zeros((2, 3), dtype)
        call.gives(np.zeros((3, 2), dtype), zero, signed_zeros=False)
        for shape in ((0, 3), (3, 0), (0, 0), (2, 0, 3)):
            wanted = np.zeros((*shape[:-2], shape[-1], shape[-2]), dtype)
            call.gives(wanted, np.zeros(shape, dtype), layouts=("fresh",))
        rtol = "pinv: singular values up to rtol * the largest count as zero"
        bound = SOME * eps(dtype) * 100
        steps = np.diag([1, 0.1, 0.01]).astype(dtype)
        for value, wanted_diagonal in (
            (0.5, [1, 0, 0]), (0.05, [1, 10, 0]), (0.001, [1, 10, 100]),
        ):  # fmt: skip
            wanted = np.diag(wanted_diagonal).astype(dtype)
            call.gives(wanted, steps, rtol=value, tolerance=bound, clause=rtol)
        pair = np.stack([steps, steps])
        rtols = np.asarray([0.5, 0.05], REAL_OF.get(dtype, dtype))
        wanted = np.stack([np.diag([1, 0, 0]), np.diag([1, 10, 0])]).astype(dtype)
        call.gives(wanted, pair, rtol=rtols, tolerance=bound, clause=rtol)
        tiny = np.diag([1, eps(dtype)]).astype(dtype)
        wanted = np.diag([1, 0]).astype(dtype)
        default = "pinv: the default rtol is max(M, N) * eps"
        call.gives(wanted, tiny, tolerance=bound, clause=default)


def _penrose(case: Case, got: Any, a: Matrix) -> None:
    inverse = _shape_and_dtype(case, got, a.dtype.name, a.shape[::-1])
    if inverse is None:
        return
    for product, wanted in (
        (a @ inverse @ a, a),
        (inverse @ a @ inverse, inverse),
        (adjoint(a @ inverse), a @ inverse),
        (adjoint(inverse @ a), inverse @ a),
    ):
        _small_residual(case, product, wanted, a.dtype.name)


CHECKS = (
    Check("linalg.cholesky", cholesky),
    Check("linalg.qr", qr),
    Check("linalg.svd", svd),
    Check("linalg.svdvals", svdvals),
    Check("linalg.eigh", eigh),
    Check("linalg.eigvalsh", eigvalsh),
    Check("linalg.eig", eig),
    Check("linalg.eigvals", eigvals),
    Check("linalg.pinv", pinv),
)
