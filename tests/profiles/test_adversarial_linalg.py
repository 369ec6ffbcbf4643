"""Profile `adversarial`: matrices, and what is not unique in their decompositions."""

from __future__ import annotations

import numpy as np
import pytest

import refarray as xp
from refarray.profiles import use

CALLS = 40
DTYPES = ["float32", "float64", "complex64", "complex128"]


def values(x):
    return np.asarray(x)


def text(x):
    return str(values(x).tolist())


def matrices(dtype, shape=(2, 4, 3)):
    rng = np.random.default_rng(5)
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


def close(x, y):
    tolerance = 1e-4 if x.real.dtype == np.float32 else 1e-10
    np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
def test_eigh(dtype):
    a = matrices(dtype, (2, 3, 3))
    a = a + a.swapaxes(-1, -2).conj()
    x = xp.asarray(a)
    orders, vectors = set(), set()
    with use("adversarial", seed=1):
        for _ in range(CALLS):
            w, v = map(values, xp.linalg.eigh(x))
            assert v.dtype == a.dtype
            close(a @ v, v * w[..., None, :])
            close(v.swapaxes(-1, -2).conj() @ v, np.broadcast_to(np.eye(3), a.shape))
            close(np.sort(w), np.linalg.eigvalsh(a))
            close(np.sort(values(xp.linalg.eigvalsh(x))), np.linalg.eigvalsh(a))
            orders.add(tuple(np.argsort(w[0]).tolist()))
            vectors.add(complex(v[0, 0, 0]))
    assert len(orders) == 6
    if a.dtype.kind == "c":
        assert any(abs(v.imag) > 0.1 * abs(v) for v in vectors)
    assert any(v.real < 0 for v in vectors) and any(v.real > 0 for v in vectors)


@pytest.mark.parametrize("dtype", DTYPES)
def test_eig(dtype):
    a = matrices(dtype, (2, 3, 3))
    x = xp.asarray(a)
    first = set()
    with use("adversarial", seed=1):
        for _ in range(CALLS):
            w, v = map(values, xp.linalg.eig(x))
            assert v.dtype.kind == "c"
            close(a @ v, v * w[..., None, :])
            close(np.abs(v * v.conj()).sum(-2), np.ones((2, 3)))
            only = values(xp.linalg.eigvals(x))
            close(np.sort_complex(only), np.sort_complex(w))
            first.add(round(float(np.abs(w[0, 0] - 0.123)), 3))
    assert len(first) == len(set(np.abs(np.linalg.eigvals(a)[0] - 0.123).round(3)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("shape", [(2, 4, 3), (3, 5)])
def test_svd(dtype, full, shape):
    a = matrices(dtype, shape)
    x = xp.asarray(a)
    found = set()
    with use("adversarial", seed=1):
        for _ in range(CALLS):
            u, s, vh = map(values, xp.linalg.svd(x, full_matrices=full))
            k = s.shape[-1]
            assert u.dtype == vh.dtype == a.dtype
            close((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], a)
            close(
                u.swapaxes(-1, -2).conj() @ u, np.eye(u.shape[-1]) + 0 * u[..., :1, :1]
            )
            close(
                vh @ vh.swapaxes(-1, -2).conj(),
                np.eye(vh.shape[-2]) + 0 * s[..., None, :1],
            )
            assert (np.diff(s) <= 0).all()
            found.add(complex(u[(0,) * u.ndim]))
    assert len(found) > 2 if a.dtype.kind == "c" else len(found) == 2


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", ["reduced", "complete"])
@pytest.mark.parametrize("shape", [(2, 4, 3), (3, 5)])
def test_qr(dtype, mode, shape):
    a = matrices(dtype, shape)
    x = xp.asarray(a)
    found = set()
    with use("adversarial", seed=1):
        for _ in range(CALLS):
            q, r = map(values, xp.linalg.qr(x, mode=mode))
            assert q.dtype == r.dtype == a.dtype
            close(q @ r, a)
            close(
                q.swapaxes(-1, -2).conj() @ q, np.eye(q.shape[-1]) + 0 * q[..., :1, :1]
            )
            assert (np.tril(r, -1) == 0).all()
            found.add(tuple(np.sign(np.diagonal(r, 0, -2, -1).real).reshape(-1)))
    assert len(found) >= 8


def test_which_triangle_is_read():
    a = np.asarray([[4.0, 1.0], [0.5, 3.0]])
    x, hermitian = xp.asarray(a), xp.asarray(np.asarray([[4, 1 + 1j], [1 - 1j, 3]]))
    for function in (xp.linalg.cholesky, xp.linalg.eigvalsh):
        with use("adversarial", seed=1):
            found = {text(xp.sort(function(x), axis=-1)) for _ in range(CALLS)}
        lower, upper = (
            text(xp.sort(function(xp.asarray(side)), axis=-1))
            for side in (np.tril(a) + np.tril(a, -1).T, np.triu(a) + np.triu(a, 1).T)
        )
        assert found == {lower, upper}
    for upper in (False, True):
        with use("adversarial", seed=1):
            for _ in range(CALLS):
                factor = values(xp.linalg.cholesky(hermitian, upper=upper))
                other = factor.conj().T
                close(other @ factor if upper else factor @ other, values(hermitian))


def test_matrices_without_elements():
    with use("adversarial", seed=1):
        empty = xp.zeros((2, 0, 0))
        assert xp.linalg.eigh(empty).eigenvectors.shape == (2, 0, 0)
        assert xp.linalg.svd(xp.zeros((0, 3))).Vh.shape == (3, 3)
        assert xp.linalg.qr(xp.zeros((3, 0)), mode="complete").Q.shape == (3, 3)
        assert (xp.zeros((2, 0)) @ xp.zeros((0, 2))).shape == (2, 2)
        assert xp.sum(xp.zeros((0, 2)), axis=0).shape == (2,)
