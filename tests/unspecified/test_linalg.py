"""Linear algebra where the standard leaves a choice: docs/reference/unspecified.md."""

import math

import numpy as np
import pytest

import refarray as xp

INF, NAN = math.inf, math.nan
linalg = xp.linalg


def values(x):
    return np.from_dlpack(x).tolist()


@pytest.mark.parametrize(
    ("function", "matrix"),
    [
        (linalg.inv, [[1.0, 2.0], [2.0, 4.0]]),
        (lambda x: linalg.solve(x, xp.ones(2)), [[0.0, 0.0], [0.0, 1.0]]),
        (lambda x: linalg.matrix_power(x, -1), [[0.0, 0.0], [0.0, 0.0]]),
        (linalg.cholesky, [[1.0, 2.0], [2.0, 1.0]]),
        (linalg.eig, [[INF, 0.0], [0.0, 1.0]]),
        (linalg.eigvals, [[1.0, NAN], [0.0, 1.0]]),
        (linalg.svd, [[NAN, 0.0], [0.0, 1.0]]),
        (linalg.svdvals, [[NAN, 0.0], [0.0, 1.0]]),
        (linalg.pinv, [[NAN, 0.0], [0.0, 1.0]]),
        (linalg.matrix_rank, [[NAN, 0.0], [0.0, 1.0]]),
        (lambda x: linalg.matrix_norm(x, ord="nuc"), [[NAN, 0.0], [0.0, 1.0]]),
    ],
)
def test_no_answer_is_a_plain_value_error(function, matrix):
    with pytest.raises(ValueError, match=r"^linalg\.") as caught:
        function(xp.asarray(matrix))
    assert type(caught.value) is ValueError


@pytest.mark.parametrize("place", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_a_determinant_with_nan_is_nan(place):
    a = xp.ones((3, 2, 2), dtype=xp.complex64)
    a[1, *place] = NAN
    unknown = [False, True, False]
    assert values(xp.isnan(linalg.det(a))) == unknown
    assert values(xp.isnan(linalg.slogdet(a).logabsdet)) == unknown


def test_eigenvalues_of_hermitian_matrices_ascend():
    x = xp.asarray([[3.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 2.0]])
    assert values(linalg.eigvalsh(x)) == [-1, 2, 3]
    assert values(linalg.eigh(x).eigenvalues) == [-1, 2, 3]


def test_only_the_lower_triangle_is_read():
    a = xp.asarray([[4.0, NAN], [2.0, 2.0]])
    for symmetric in (linalg.eigvalsh(a), linalg.eigh(a).eigenvalues):
        np.testing.assert_allclose(
            np.from_dlpack(symmetric), [3 - math.sqrt(5), 3 + math.sqrt(5)]
        )
    assert values(linalg.cholesky(a)) == [[2, 0], [1, 1]]
    assert values(linalg.cholesky(a, upper=True)) == [[2, 1], [0, 1]]


@pytest.mark.parametrize("axis", [0, 1, -3])
def test_vecdot_and_cross_count_their_axis_from_the_last(axis):
    x = xp.ones((3, 3))
    for function in (xp.vecdot, linalg.cross):
        with pytest.raises(IndexError, match="from the last"):
            function(x, x, axis=axis)


def test_a_norm_of_no_elements_follows_from_its_definition():
    none = xp.zeros((2, 0))
    for order in (0, 0.5, 1, 2, 3, INF):
        assert values(linalg.vector_norm(none, axis=1, ord=order)) == [0, 0]
    for order in (-0.5, -1, -2, -INF):
        assert values(linalg.vector_norm(none, axis=1, ord=order)) == [INF, INF]
    for order in ("fro", "nuc", 1, 2, INF):
        assert values(linalg.matrix_norm(none, ord=order)) == 0
    for order in (-1, -2):
        assert values(linalg.matrix_norm(none, ord=order)) == INF


def test_no_order_is_the_frobenius_norm():
    x = xp.asarray([[1.0, 2.0], [2.0, 4.0]])
    assert values(linalg.matrix_norm(x, ord=None)) == 5


def test_dtypes_that_should_not_be_given_are_refused():
    integers, booleans = xp.ones((2, 2), dtype=xp.int64), xp.ones((2, 2), dtype=xp.bool)
    for name in ("cholesky", "det", "eig", "eigh", "inv", "matrix_norm", "pinv", "qr"):
        with pytest.raises(TypeError, match="floating-point"):
            getattr(linalg, name)(integers)
    with pytest.raises(TypeError, match="floating-point"):
        linalg.vector_norm(integers)
    products = (xp.matmul, xp.tensordot, xp.vecdot, linalg.outer, linalg.cross)
    for function in products:
        with pytest.raises(TypeError, match="numeric"):
            function(booleans, booleans)
    assert values(xp.vecdot(integers, integers)) == [2, 2]
    small = xp.asarray([100, 100], dtype=xp.int8)
    assert values(xp.vecdot(small, small)) == (20000 + 128) % 256 - 128


def test_diagonal_is_a_view_and_empty_outside_the_matrix():
    x = xp.zeros((3, 4), dtype=xp.int64)
    linalg.diagonal(x, offset=1)[0] = 7
    assert values(x)[0] == [0, 7, 0, 0]
    for offset in (4, 7, -3, -9):
        assert linalg.diagonal(x, offset=offset).shape == (0,)


def test_products_of_integers_wrap_around():
    x, two = xp.asarray([100, 1], dtype=xp.int8), xp.asarray([2, 0], dtype=xp.int8)
    assert values(x @ two) == values(xp.tensordot(x, two, axes=1)) == -56
    assert values(linalg.outer(x, two)) == [[-56, 0], [2, 0]]
    a, b = (xp.asarray(v, dtype=xp.int8) for v in ([100, 0, 0], [0, 2, 0]))
    assert values(linalg.cross(a, b)) == [0, 0, -56]
    assert values(linalg.trace(xp.asarray([[2**62, 0], [0, 2**62]]))) == -(2**63)
