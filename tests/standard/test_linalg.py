"""Linear algebra: answers known from mathematics, shapes, dtypes, and what is refused.

The value suite (`python -m refarray.testing.standard refarray --only 'linalg.*'`) holds
every function to mpmath; here stand the cases that a reader can check by hand. Those
that the standard leaves open are in tests/unspecified.
"""

import math

import numpy as np
import pytest

import refarray as xp

INF, NAN = math.inf, math.nan
FLOATS = (xp.float32, xp.float64, xp.complex64, xp.complex128)
COMPONENT = {xp.complex64: xp.float32, xp.complex128: xp.float64}
COMPLEX = {xp.float32: xp.complex64, xp.float64: xp.complex128}
linalg = xp.linalg


def array(values, dtype=None):
    return xp.asarray(values, dtype=dtype)


def values(x):
    assert type(x) is xp.Array
    return np.from_dlpack(x).tolist()


def close(x, wanted, tolerance=1e-14):
    np.testing.assert_allclose(
        np.from_dlpack(x), wanted, rtol=tolerance, atol=tolerance, strict=False
    )


# Products ----------------------------------------------------------------------------


def test_matmul_of_vectors_matrices_and_stacks():
    a, v = array([[1, 2], [3, 4]]), array([10, 1])
    assert values(a @ a) == [[7, 10], [15, 22]]
    assert values(a @ v) == [12, 34]
    assert values(v @ a) == [13, 24]
    product = v @ v
    assert (product.shape, values(product)) == ((), 101)
    stack = xp.stack([a, 2 * a])
    assert values(stack @ v) == [[12, 34], [24, 68]]
    assert values(v @ stack) == [[13, 24], [26, 48]]
    assert (xp.zeros((5, 1, 2, 0)) @ xp.zeros((3, 0, 4))).shape == (5, 3, 2, 4)


def test_products_promote_and_wrap_around():
    x = array([100, 100], xp.int8)
    assert values(x @ x) == 20000 % 256 - 256 * (20000 % 256 > 127)
    assert (x @ array([1, 2], xp.uint8)).dtype is xp.int16
    assert linalg.outer(x, array([1, 2], xp.int32)).dtype is xp.int32
    with pytest.raises(TypeError):
        x @ array([1.0, 2.0])


def test_products_refuse_other_shapes():
    three, two = xp.ones(3), xp.ones(2)
    for refused in (
        lambda: three @ two,
        lambda: three @ array(2.0),
        lambda: xp.ones((2, 3)) @ xp.ones((2, 3)),
        lambda: xp.vecdot(three, two),
        lambda: xp.vecdot(three, xp.ones(1)),
        lambda: xp.tensordot(three, two, axes=1),
        lambda: xp.tensordot(three, three, axes=2),
        lambda: xp.tensordot(three, three, axes=-1),
        lambda: xp.tensordot(three, three, axes=((0, 0), (0, 0))),
        lambda: linalg.cross(two, two),
        lambda: linalg.outer(three, xp.ones((3, 1))),
        lambda: linalg.det(xp.ones((2, 3))),
        lambda: linalg.det(three),
        lambda: linalg.solve(xp.ones((2, 2)), three),
        lambda: linalg.trace(three),
        lambda: xp.matrix_transpose(three),
    ):
        with pytest.raises(ValueError, match=r"shape|sizes|dimensions|axes|3 elements"):
            refused()


def test_tensordot_sums_over_pairs_of_axes():
    a = xp.reshape(xp.arange(6), (2, 3))
    assert values(xp.tensordot(a, a)) == 55
    assert values(xp.tensordot(a, a.T, axes=1)) == values(a @ a.T)
    assert values(xp.tensordot(a, a, axes=((1,), (-1,)))) == values(a @ a.T)
    assert values(xp.tensordot(a, a, axes=([0], [0]))) == values(a.T @ a)
    assert xp.tensordot(a, a, axes=0).shape == (2, 3, 2, 3)
    with pytest.raises(TypeError):
        xp.tensordot(a, a, axes=(1, 1))
    with pytest.raises(IndexError):
        xp.tensordot(a, a, axes=((2,), (0,)))


def test_integers_are_what_python_takes_for_an_index():
    x = array([[1.0, 2.0], [3.0, 4.0]])
    for two in (2, np.int8(2), xp.asarray(2)):
        assert values(linalg.matrix_power(x, two)) == values(x @ x)
        assert values(xp.tensordot(x, x, axes=two)) == 30
        assert linalg.diagonal(x, offset=two).shape == (0,)

    class Half:
        def __index__(self):
            return 0.5

    for wrong in (True, 2.0, "2", np.asarray([2]), xp.asarray([2]), Half()):
        for function in (
            lambda n: linalg.matrix_power(x, n),
            lambda n: xp.tensordot(x, x, axes=n),
            lambda n: linalg.diagonal(x, offset=n),
            lambda n: linalg.trace(x, offset=n),
            lambda n: xp.vecdot(x, x, axis=n),
            lambda n: linalg.cross(x, x, axis=n),
        ):
            with pytest.raises(TypeError):
                function(wrong)


def test_vecdot_conjugates_its_first_operand():
    assert values(xp.vecdot(array([1j, 2]), array([1j, 1]))) == 3
    assert values(xp.vecdot(array([1j]), array([1.0]))) == -1j
    a = xp.reshape(xp.arange(6), (2, 3))
    assert values(xp.vecdot(a, a, axis=-2)) == [9, 17, 29]
    assert values(xp.vecdot(a, array([1, 0, 1]))) == [2, 8]


def test_cross_is_right_handed():
    i, j, k = (array(v) for v in ([1, 0, 0], [0, 1, 0], [0, 0, 1]))
    assert values(linalg.cross(i, j)) == values(k)
    assert values(linalg.cross(j, i)) == values(-k)
    rows, columns = xp.stack([i, j, k]), xp.stack([i, j, k], axis=1)
    assert values(linalg.cross(rows, i)) == [[0, 0, 0], [0, 0, -1], [0, 1, 0]]
    column = xp.expand_dims(i, axis=1)
    turned = linalg.cross(columns, column, axis=-2)
    assert values(turned) == [[0, 0, 0], [0, 0, 1], [0, -1, 0]]


def test_diagonal_is_a_view():
    x = xp.reshape(xp.arange(12), (3, 4))
    assert values(linalg.diagonal(x)) == [0, 5, 10]
    assert values(linalg.diagonal(x, offset=2)) == [2, 7]
    assert values(linalg.diagonal(x, offset=-1)) == [4, 9]
    for offset in (4, 7, -3, -9):
        assert linalg.diagonal(x, offset=offset).shape == (0,)
    linalg.diagonal(x)[0] = 40
    assert values(x[0, 0]) == 40
    assert values(linalg.trace(x, offset=1)) == 1 + 6 + 11


def test_trace_has_the_dtype_of_sum():
    assert linalg.trace(xp.ones((2, 2), dtype=xp.float32)).dtype is xp.float32
    assert values(linalg.trace(xp.full((3, 3), 100, dtype=xp.int8))) == 300
    assert linalg.trace(xp.ones((2, 2), dtype=xp.uint8)).dtype is xp.uint64
    small = linalg.trace(xp.ones((2, 2), dtype=xp.uint8), dtype=xp.uint8)
    assert small.dtype is xp.uint8


# Determinants and systems ------------------------------------------------------------


def test_determinants():
    a = array([[1.0, 2.0], [3.0, 4.0]])
    close(linalg.det(a), -2)
    sign, logarithm = linalg.slogdet(xp.stack([a, a * 1e200]))
    assert values(sign) == [-1, -1]
    close(logarithm, [math.log(2), math.log(2) + 400 * math.log(10)])
    assert values(linalg.det(xp.zeros((0, 0)))) == 1
    singular = linalg.slogdet(xp.zeros((2, 2)))
    assert (values(singular.sign), values(singular.logabsdet)) == (0, -INF)


def test_inverse_and_powers():
    fibonacci = array([[1.0, 1.0], [1.0, 0.0]])
    assert values(linalg.matrix_power(fibonacci, 10)) == [[89, 55], [55, 34]]
    assert values(linalg.matrix_power(fibonacci, 0)) == [[1, 0], [0, 1]]
    close(linalg.matrix_power(fibonacci, -2), [[1, -1], [-1, 2]])
    close(linalg.inv(fibonacci), [[0, 1], [1, -1]])
    for refused in (1.0, True, "1"):
        with pytest.raises(TypeError):
            linalg.matrix_power(fibonacci, refused)


def test_solve_takes_a_vector_only_with_exactly_one_dimension():
    a = array([[2.0, 0.0], [0.0, 4.0]])
    stack = xp.stack([a, 2 * a])
    close(linalg.solve(a, array([2.0, 4.0])), [1, 1])
    close(linalg.solve(stack, array([2.0, 4.0])), [[1, 1], [0.5, 0.5]])
    # Two dimensions are a matrix, even where they could be a stack of vectors.
    matrix = array([[2.0, 6.0], [4.0, 8.0]])
    close(linalg.solve(stack, matrix), [[[1, 3], [1, 2]], [[0.5, 1.5], [0.5, 1]]])
    assert linalg.solve(stack, xp.ones((5, 1, 2, 3))).shape == (5, 2, 2, 3)


# Decompositions ----------------------------------------------------------------------


def test_names_of_the_parts():
    x = xp.eye(2)
    assert linalg.eig(x)._fields == ("eigenvalues", "eigenvectors")
    assert linalg.eigh(x)._fields == ("eigenvalues", "eigenvectors")
    assert linalg.qr(x)._fields == ("Q", "R")
    assert linalg.slogdet(x)._fields == ("sign", "logabsdet")
    assert linalg.svd(x)._fields == ("U", "S", "Vh")


def test_cholesky_upper_is_the_adjoint():
    lower = array([[1.0, 0.0], [2j, 3.0]])
    a = lower @ xp.conj(lower.mT)
    close(linalg.cholesky(a), np.from_dlpack(lower))
    close(linalg.cholesky(a, upper=True), [[1, -2j], [0, 3]])


def test_singular_values_ranks_and_pseudo_inverse():
    a = array([[3.0, 0.0], [4.0, 5.0]])
    close(linalg.svdvals(a), [math.sqrt(45), math.sqrt(5)])
    close(linalg.pinv(array([[3.0], [4.0]])), [[0.12, 0.16]])
    steps = xp.stack([array([[1.0, 0.0], [0.0, 0.1]]), xp.zeros((2, 2))])
    assert values(linalg.matrix_rank(steps)) == [2, 0]
    assert values(linalg.matrix_rank(steps, rtol=0.5)) == [1, 0]
    assert values(linalg.matrix_rank(steps, rtol=array([0.1, 0.01]))) == [1, 0]
    close(linalg.pinv(steps, rtol=0.5)[0, ...], [[1, 0], [0, 0]])
    assert values(linalg.matrix_rank(xp.eye(2, dtype=xp.float32), rtol=1e300)) == 0
    for refused in (array([[0.1]]), xp.ones(3)):
        with pytest.raises(ValueError):
            linalg.matrix_rank(steps, rtol=refused)
    for refused in (array(1), 1j, True, "1"):
        with pytest.raises(TypeError):
            linalg.pinv(steps, rtol=refused)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_the_precision_stays(dtype):
    real, complex_ = COMPONENT.get(dtype, dtype), COMPLEX.get(dtype, dtype)
    x = xp.eye(3, dtype=dtype)
    same = [linalg.cholesky(x), linalg.det(x), linalg.inv(x), linalg.pinv(x)]
    same += [*linalg.qr(x), linalg.eigh(x)[1], linalg.matrix_power(x, -1)]
    same += [linalg.slogdet(x)[0], linalg.solve(x, x), linalg.svd(x)[0], x @ x]
    assert {y.dtype for y in same} == {dtype}
    norms = [linalg.vector_norm(x), linalg.matrix_norm(x), linalg.slogdet(x)[1]]
    norms += [linalg.svdvals(x), linalg.svd(x)[1], linalg.eigvalsh(x)]
    assert {y.dtype for y in norms} == {real}
    assert {y.dtype for y in (*linalg.eig(x), linalg.eigvals(x))} == {complex_}
    assert linalg.matrix_rank(x).dtype is xp.int64


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 0, 3), (0, 2, 2)])
def test_empty_matrices(shape):
    *batch, m, n = shape
    x = xp.zeros(shape)
    k = min(m, n)
    u, s, vh = linalg.svd(x)
    assert (u.shape, s.shape) == ((*batch, m, m), (*batch, k))
    assert vh.shape == (*batch, n, n)
    q, r = linalg.qr(x)
    assert (q.shape, r.shape) == ((*batch, m, k), (*batch, k, n))
    assert linalg.pinv(x).shape == (*batch, n, m)
    assert values(linalg.matrix_rank(x)) == np.zeros(batch).tolist()


# Norms -------------------------------------------------------------------------------


def test_vector_norms():
    x = array([[3.0, -4.0], [0.0, 0.0]])
    for order, wanted in ((0, 2), (1, 7), (2, 5), (INF, 4), (-INF, 0), (-1, 0)):
        close(linalg.vector_norm(x, ord=order), wanted)
    close(linalg.vector_norm(x, axis=1, ord=3), [91 ** (1 / 3), 0])
    close(linalg.vector_norm(x, axis=0, ord=0.5), [3, 4])
    assert linalg.vector_norm(x, axis=(0, 1), keepdims=True).shape == (1, 1)
    assert values(linalg.vector_norm(x, axis=())) == [[3, 4], [0, 0]]


def test_matrix_norms():
    x = array([[3.0, -4.0], [0.0, 0.0]])
    norms = {1: 4, -1: 3, 2: 5, -2: 0, INF: 7, -INF: 0, "fro": 5, "nuc": 5, None: 5}
    for order, wanted in norms.items():
        close(linalg.matrix_norm(x, ord=order), wanted)
        kept = linalg.matrix_norm(xp.stack([x, x]), ord=order, keepdims=True)
        close(kept, [[[wanted]], [[wanted]]])
    for refused in (3, "f", 0):
        with pytest.raises(ValueError, match="ord is"):
            linalg.matrix_norm(x, ord=refused)
