"""Linear algebra with one right answer: det, slogdet, inv, solve, powers, norms, rank.

Answers come from mpmath (`oracle_linalg.py`); every matrix is well conditioned, so a
tolerance of a few dozen units in the last place of the largest entry holds for every
sound algorithm. Decompositions are in `check_decompositions.py`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from refarray.testing.standard import arrays
from refarray.testing.standard import oracle_linalg as oracle
from refarray.testing.standard.arrays import COMPLEX, FLOATS, REAL_OF
from refarray.testing.standard.calls import Calls, default_dtype, field_names, near
from refarray.testing.standard.oracle_linalg import Matrix
from refarray.testing.standard.oracle_reduce import choices, reduced
from refarray.testing.standard.runner import Case, Check, Report

INF = math.inf


def squares(dtype: str) -> list[Matrix]:
    """Square matrices of full rank: one, two by two, stacks, stacks of none."""
    a = (oracle.SQUARE_COMPLEX if dtype in COMPLEX else oracle.SQUARE).astype(dtype)
    stack = np.stack([a, a.T * 2, a[::-1]])
    found = [a, a[:2, :2], a[1:2, 1:2], stack, stack.reshape(3, 1, 3, 3), stack[:0]]
    return [np.ascontiguousarray(m) for m in found]


def rectangles(dtype: str) -> list[Matrix]:
    """Matrices of full rank with other shapes: tall, wide, a stack."""
    a = (oracle.TALL_COMPLEX if dtype in COMPLEX else oracle.TALL).astype(dtype)
    return [
        a,
        np.conj(a.T).copy(),
        a[:, :1].copy(),
        a[:1].copy(),
        np.stack([a, a[::-1]]),
    ]


def eps(dtype: str) -> float:
    """The distance from 1 to the next number of a dtype."""
    return float(np.finfo(dtype).eps)


def stacked(a: Matrix, function: Callable[[Matrix], Any], dtype: str) -> Matrix:
    """`function` of each of the innermost matrices."""
    batch = a.shape[:-2]
    results = [np.asarray(function(a[at])) for at in np.ndindex(*batch)]
    shape = (
        results[0].shape if results else np.asarray(function(np.eye(a.shape[-1]))).shape
    )
    out = np.zeros(batch + shape, "complex128")
    for at, result in zip(np.ndindex(*batch), results, strict=True):
        out[at] = result
    return (out if dtype in COMPLEX else np.real(out)).astype(dtype)


def det(xp: Any, report: Report) -> None:
    """Single matrices, stacks, singular and empty matrices."""
    call = Calls(xp, report, "linalg.det", "det: the determinant of each matrix")
    for dtype in FLOATS:
        for a in squares(dtype):
            wanted = stacked(a, oracle.determinant, dtype)
            bound = 50 * eps(dtype) * float(np.max(np.abs(wanted), initial=1))
            call.gives(wanted, a, tolerance=bound)
        zero = np.zeros((2, 2), dtype)
        call.gives(np.asarray(0, dtype), zero, tolerance=0)
        none = np.zeros((0, 0), dtype)
        empty = "det: the determinant of no rows is the empty product"
        call.gives(np.asarray(1, dtype), none, tolerance=0, clause=empty)
        call.gives(
            np.ones(3, dtype), np.zeros((3, 0, 0), dtype), tolerance=0, clause=empty
        )


def slogdet(xp: Any, report: Report) -> None:
    """The sign and logarithm also where det overflows; a singular matrix."""
    clause = "slogdet: a named tuple (sign, logabsdet)"
    call = Calls(xp, report, "linalg.slogdet", clause)
    for dtype in FLOATS:
        matrices = squares(dtype)
        matrices += [np.zeros((0, 0), dtype), np.zeros((2, 0, 0), dtype)]
        huge = np.diag([1e30, -1e30, 1e30]).astype(dtype)
        for a in [*matrices, huge, huge * np.asarray(1e-35, dtype)]:
            with np.errstate(all="ignore"):
                exact = stacked(a, oracle.determinant, "complex128")
            size = np.abs(exact)
            sign = (exact if dtype in COMPLEX else exact.real) / size
            call.judged(_slogdet_judge(dtype, sign.astype(dtype), np.log(size)), a)
        singular = np.zeros((2, 2), dtype)

        def judge(case: Case, got: Any, dtype: str = dtype) -> None:
            if field_names(case, got, "sign", "logabsdet"):
                sign, log = arrays.read(got[0]), arrays.read(got[1])
                case.true(
                    abs(sign * np.exp(log)) < 1e-30, (sign, log), "a product of 0"
                )

        zero = "slogdet: a determinant of zero: sign * exp(logabsdet) is 0"
        call.judged(judge, singular, clause=zero)


def _slogdet_judge(dtype: str, sign: Matrix, log: Matrix) -> Callable[..., None]:
    def judge(case: Case, got: Any) -> None:
        if field_names(case, got, "sign", "logabsdet"):
            near(case, got[0], sign, 50 * eps(dtype))
            bound = 50 * eps(dtype) * (1 + float(np.max(np.abs(log), initial=0)))
            near(case, got[1], log.astype(REAL_OF.get(dtype, dtype)), bound)

    return judge


def inv(xp: Any, report: Report) -> None:
    """Single matrices, stacks and empty matrices."""
    call = Calls(xp, report, "linalg.inv", "inv: the inverse of each matrix")
    for dtype in FLOATS:
        for a in squares(dtype):
            wanted = stacked(a, oracle.inverse, dtype)
            call.gives(wanted, a, tolerance=50 * eps(dtype))
        for shape in ((0, 0), (2, 0, 0)):
            none = np.zeros(shape, dtype)
            call.gives(none, none, layouts=("fresh",))


def solve(xp: Any, report: Report) -> None:
    """A vector and several columns on the right, broadcast stacks, empty systems."""
    call = Calls(xp, report, "linalg.solve", "solve: X with x1 @ X = x2")
    for dtype in FLOATS:
        a = squares(dtype)[0]
        b = (oracle.TALL_COMPLEX if dtype in COMPLEX else oracle.TALL)[:3].astype(dtype)
        stack = squares(dtype)[3]
        for x1, x2 in (
            (a, b), (a, b[:, 0].copy()), (stack, b), (a, np.stack([b, b * 2])),
            (stack[:, np.newaxis], np.stack([b, -b])), (stack, b[:, 1].copy()),
            (a[:2, :2].copy(), b[:2, :1].copy()), (a, b[:, :0].copy()),
            (stack[:0], b),
        ):  # fmt: skip
            one = x2.ndim == 1
            columns = x2[:, np.newaxis] if one else x2
            batch = np.broadcast_shapes(x1.shape[:-2], columns.shape[:-2])
            inverse = stacked(x1, oracle.inverse, "complex128")
            exact = np.broadcast_to(inverse, batch + x1.shape[-2:]) @ columns
            exact = exact[..., 0] if one else exact
            wanted = (exact if dtype in COMPLEX else np.real(exact)).astype(dtype)
            call.gives(wanted, x1, x2, tolerance=200 * eps(dtype))
        none = np.zeros((0, 0), dtype)
        call.gives(np.zeros((0, 2), dtype), none, np.zeros((0, 2), dtype))
        call.gives(np.zeros((0,), dtype), none, np.zeros((0,), dtype))
    promotes = "solve: the dtype follows type promotion"
    x1, x2 = oracle.SQUARE.astype("float32"), oracle.TALL[:3]
    wanted = (stacked(x1, oracle.inverse, "float64") @ x2).astype("float64")
    call.gives(wanted, x1, x2, tolerance=1e-13, clause=promotes)


def matrix_power(xp: Any, report: Report) -> None:
    """Positive, zero and negative exponents."""
    clause = "matrix_power: repeated product; the inverse for n < 0, identity for 0"
    call = Calls(xp, report, "linalg.matrix_power", clause)
    for dtype in FLOATS:
        for a in squares(dtype):
            for n in (0, 1, 2, 3, 5, -1, -2):
                power = functools.partial(oracle.power, n=n)
                wanted = stacked(a, power, dtype)
                size = float(np.max(np.abs(wanted), initial=1))
                bound = 100 * eps(dtype) * size * (1 if n >= 0 else 10)
                call.gives(
                    wanted, a, n, tolerance=bound, layouts=("fresh", "transposed")
                )
        none = np.zeros((0, 0), dtype)
        for n in (0, 2, -1):
            call.gives(none, none, n, layouts=("fresh",))


def matrix_norm(xp: Any, report: Report) -> None:
    """Every order of the standard's table, keepdims, stacks."""
    call = Calls(xp, report, "linalg.matrix_norm")
    for dtype in FLOATS:
        real = REAL_OF.get(dtype, dtype)
        for a in (*squares(dtype)[:4], *rectangles(dtype)):
            for order in ("fro", "nuc", 1, 2, INF, -1, -2, -INF):
                wanted = stacked(
                    a, functools.partial(oracle.matrix_norm, order=order), real
                )
                bound = 50 * eps(dtype) * float(np.max(np.abs(a))) * a.shape[-1]
                clause = f"matrix_norm: ord={order!r}"
                some = ("fresh", "reversed", "transposed")
                call.gives(
                    wanted, a, ord=order, tolerance=bound, clause=clause, layouts=some
                )
                kept = wanted[..., np.newaxis, np.newaxis]
                call.gives(
                    kept,
                    a,
                    ord=order,
                    keepdims=True,
                    tolerance=bound,
                    clause=clause,
                    layouts=("fresh",),
                )
            wanted = stacked(
                a, functools.partial(oracle.matrix_norm, order="fro"), real
            )
            default = "matrix_norm: the Frobenius norm by default"
            call.gives(wanted, a, tolerance=bound, clause=default, layouts=("fresh",))
    none = "matrix_norm: the Frobenius norm of no elements is 0"
    call.gives(np.asarray(0.0), np.zeros((0, 3)), clause=none, layouts=("fresh",))


def vector_norm(xp: Any, report: Report) -> None:
    """Every order of the standard's table, axes, tuples of axes, keepdims."""
    call = Calls(xp, report, "linalg.vector_norm")
    orders = (1, 2, INF, 3, 1.5, 2.5, 0, -1, -2, -INF, 0.5, -1.5)
    for dtype in FLOATS:
        real = REAL_OF.get(dtype, dtype)
        data = (oracle.TALL_COMPLEX if dtype in COMPLEX else oracle.TALL).astype(dtype)
        data[data == 0] = 3
        for x in (data, data[:2].reshape(2, 1, 3), data[0], data[0, 1]):
            for order in orders:
                clause = f"vector_norm: ord={order}"
                for axis in choices(x.ndim):
                    by = _norm_of(order)
                    for keepdims in (False, True):
                        wanted = reduced(np.asarray(x), by, real, axis, keepdims)
                        size = float(np.max(np.abs(wanted), initial=1))
                        call.gives(
                            wanted,
                            np.asarray(x),
                            axis=axis,
                            keepdims=keepdims,
                            ord=order,
                            tolerance=50 * eps(dtype) * size,
                            clause=clause,
                            layouts=("fresh", "strided") if order == 2 else ("fresh",),
                        )
        counted = np.asarray([0, 3, -0.0, 2, 1e-30], dtype)
        nonzero = "vector_norm: ord=0 counts the nonzero elements"
        call.gives(np.asarray(3, real), counted, ord=0, clause=nonzero)
        for order, wanted_value in ((2, 5), (1, 7), (INF, 4), (-INF, 3)):
            x = np.asarray([3, -4], dtype)
            exact = np.asarray(wanted_value, real)
            call.gives(exact, x, ord=order, tolerance=8 * eps(dtype))
        for order in (1, 2, 0):
            none = np.zeros((0,), dtype)
            call.gives(np.asarray(0, real), none, ord=order, layouts=("fresh",))


def _norm_of(order: float) -> Callable[[list[Any]], float]:
    return lambda values: oracle.vector_norm(tuple(map(complex, values)), order)


def matrix_rank(xp: Any, report: Report) -> None:
    """Full and lower rank, the default tolerance, rtol as a number and an array."""
    clause = "matrix_rank: how many singular values exceed rtol * the largest"
    call = Calls(xp, report, "linalg.matrix_rank", clause)
    integer = default_dtype(xp, "integral")
    for dtype in FLOATS:
        for a in (*squares(dtype)[:4], *rectangles(dtype)):
            rank = np.full(a.shape[:-2], min(a.shape[-2:]), integer)
            call.gives(rank, a)
        lower = squares(dtype)[0].copy()
        lower[2] = lower[0] * 2 - lower[1]
        zero = np.zeros((3, 3), dtype)
        call.gives(np.asarray(2, integer), lower)
        call.gives(np.asarray(0, integer), zero)
        call.gives(
            np.asarray([2, 0, 3], integer), np.stack([lower, zero, squares(dtype)[0]])
        )
        real = REAL_OF.get(dtype, dtype)
        tiny = np.diag([1, eps(dtype)]).astype(dtype)
        above = np.diag([1, 8 * eps(dtype)]).astype(dtype)
        default = "matrix_rank: the default rtol is max(M, N) * eps"
        call.gives(np.asarray(1, integer), tiny, clause=default)
        call.gives(np.asarray(2, integer), above, clause=default)
        wide = np.zeros((2, 60), dtype)
        wide[0, 0], wide[1, 1] = 1, 20 * eps(dtype)
        call.gives(np.asarray(1, integer), wide, clause=default)
        given = "matrix_rank: rtol as given, an array broadcast against the stack"
        steps = np.diag([1, 0.1, 0.01]).astype(dtype)
        for rtol, wanted in ((0.5, 1), (0.05, 2), (0.001, 3), (0.0, 3)):
            call.gives(np.asarray(wanted, integer), steps, rtol=rtol, clause=given)
        pair = np.stack([steps, steps * 4])
        rtols = np.asarray([0.5, 0.05], real)
        call.gives(np.asarray([1, 2], integer), pair, rtol=rtols, clause=given)
        call.gives(np.asarray(2, integer), steps, rtol=rtols[1], clause=given)
        call.gives(
            np.zeros((0,), integer), np.zeros((0, 2, 2), dtype), layouts=("fresh",)
        )


CHECKS = (
    Check("linalg.det", det),
    Check("linalg.slogdet", slogdet),
    Check("linalg.inv", inv),
    Check("linalg.solve", solve),
    Check("linalg.matrix_power", matrix_power),
    Check("linalg.matrix_norm", matrix_norm),
    Check("linalg.vector_norm", vector_norm),
    Check("linalg.matrix_rank", matrix_rank),
)
