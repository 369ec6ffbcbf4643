"""Sums whose error is small along every axis, whatever the layout.

Right values are those of `math.fsum`, which rounds once, and of exact integers. The
bound is that of pairwise summation, eps * (log2(n) + 32) * sum(abs(x)): one addition
one after another is far beyond it along an axis of 10**5 equal terms.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import refarray as xp
from refarray import profiles

FLOATS = ["float32", "float64", "complex64", "complex128"]


def values(x: Any) -> Any:
    return np.from_dlpack(x)


def terms(shape: tuple[int, ...], dtype: str) -> Any:
    """Terms of about 0.1, so that errors do not cancel, and no two columns alike."""
    size = math.prod(shape[1:])
    x = np.full(shape, 0.1) + np.arange(size).reshape(shape[1:]) / (7 * size)
    return (x * (1 - 2j) if dtype.startswith("complex") else x).astype(dtype)


def exact(x: Any, axis: Any, keepdims: bool = False) -> Any:
    """The sums, each rounded once from its exact value."""
    axes = tuple(range(x.ndim)) if axis is None else np.atleast_1d(axis) % x.ndim
    lines = np.moveaxis(x, axes, range(len(axes)))
    lines = lines.reshape(-1, *lines.shape[len(axes) :])
    out = np.empty(lines.shape[1:], np.result_type(x.dtype, "float64"))
    for at in np.ndindex(out.shape):
        line = lines[(slice(None), *at)]
        total = math.fsum(line.real.tolist())
        imaginary = math.fsum(line.imag.tolist())
        out[at] = complex(total, imaginary) if imaginary else total
    return np.expand_dims(out, tuple(axes)) if keepdims else out


def bound(x: Any, axis: Any, keepdims: bool = False) -> Any:
    magnitudes = np.abs(x).astype("float64")
    total = exact(magnitudes, axis, keepdims)
    n = x.size / max(total.size, 1)
    return float(np.finfo(x.dtype).eps) * (math.log2(n) + 32) * total


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "C order": lambda x: x,
    "Fortran order": lambda x: np.asfortranarray(x),
    "reversed": lambda x: x[::-1],
    "every third": lambda x: np.repeat(x, 3, axis=0)[::3],
    "part of a row": lambda x: np.concatenate([x, x], axis=-1)[..., : x.shape[-1]],
    "transposed": lambda x: np.ascontiguousarray(x.T).T,
    "broadcast": lambda x: np.broadcast_to(x[:1], x.shape),
}

AXES: list[tuple[tuple[int, ...], Any]] = [
    ((100_003, 2), 0),
    ((100_003, 2), None),
    ((2, 100_003), 1),
    ((2, 100_003), 0),
    ((40_009, 5), 0),
    ((3, 40_009, 2), 1),
    ((3, 40_009, 2), (0, 1)),
    ((3, 40_009, 2), (-2,)),
    ((3, 40_009, 2), (0, 2)),
    ((200, 300, 4), (1, 0)),
    ((200, 300, 4), (0, 2)),
    ((200_003,), 0),
]


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("shape", "axis"), AXES)
def test_the_error_of_a_sum_is_small(
    shape: tuple[int, ...], axis: Any, layout: str, dtype: str
) -> None:
    x = LAYOUTS[layout](terms(shape, dtype))
    array = xp.from_dlpack(x) if layout != "broadcast" else broadcast(x)
    total = values(xp.sum(array, axis=axis))
    assert total.dtype == dtype
    error = np.abs(total - exact(x, axis))
    assert (error <= bound(x, axis)).all()


def broadcast(x: Any) -> Any:
    return xp.broadcast_to(xp.asarray(np.ascontiguousarray(x[:1])), x.shape)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("shape", "axis"), AXES)
def test_the_error_of_a_mean_is_small(
    shape: tuple[int, ...], axis: Any, dtype: str
) -> None:
    x = terms(shape, dtype)
    wanted = exact(x, axis, keepdims=True)
    n = x.size / wanted.size
    mean = values(xp.mean(xp.asarray(x), axis=axis, keepdims=True))
    assert mean.shape == wanted.shape
    assert (np.abs(mean - wanted / n) <= bound(x, axis, keepdims=True) / n).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_equal_terms_hardly_deviate(dtype: str) -> None:
    """The deviation is 0; what is left of it is the error of the mean."""
    x = xp.asarray(np.broadcast_to(np.asarray([100.1, -100.1], dtype), (100_003, 2)))
    limit = 100.1 * float(np.finfo(dtype).eps) * (math.log2(100_003) + 32)
    assert (values(xp.std(x, axis=0)) <= limit).all()
    assert (values(xp.var(x, axis=0)) <= limit**2).all()


def test_deviations_of_a_million_rows() -> None:
    """Half of the rows at 1.1 and half at 3.1: the mean is 2.1, the deviation 1."""
    x = np.full((10**6, 2), 1.1, "float32")
    x[::2] = 3.1
    rows = xp.asarray(x)
    assert np.allclose(values(xp.mean(rows, axis=0)), 2.1, rtol=1e-5)
    assert np.allclose(values(xp.std(rows, axis=0)), 1, rtol=1e-5)
    assert np.allclose(values(xp.var(rows, axis=0)), 1, rtol=1e-5)


@pytest.mark.parametrize(
    ("given", "result"), [("int32", "float32"), ("float32", "float64")]
)
@pytest.mark.parametrize(("shape", "axis"), [((2_000_003,), 0), ((100_003, 2), 0)])
def test_terms_that_are_converted(
    shape: tuple[int, ...], axis: int, given: str, result: str
) -> None:
    x = np.full(shape, 7, given) if given == "int32" else terms(shape, given)
    total = values(xp.sum(xp.asarray(x), axis=axis, dtype=getattr(xp, result)))
    assert total.dtype == result
    error = np.abs(total - exact(x.astype(result), axis))
    assert (error <= bound(x.astype(result), axis)).all()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("strided", [False, True])
def test_norms_of_vectors(dtype: str, strided: bool) -> None:
    x = terms((100_003, 2), dtype)
    squares = (x.astype(np.result_type(dtype, "float64")) * x.conj()).real
    total = exact(squares, 0)
    eps = float(np.finfo(dtype).eps)
    # Contiguous vectors are BLAS's, which adds 8 numbers at once or more.
    relative = eps * ((math.log2(100_003) + 32) if strided else 100_003 / 8)
    array = xp.asarray(x) if strided else xp.matrix_transpose(xp.asarray(x.T.copy()))
    norm = values(xp.linalg.vector_norm(array, axis=0)).astype("float64")
    assert (np.abs(norm**2 - total) <= relative * total).all()


@pytest.mark.parametrize("order", [1, 3])
def test_norms_of_other_orders(order: int) -> None:
    x = terms((100_003, 2), "float32")
    powers = exact(x.astype("float64") ** order, 0)
    relative = float(np.finfo("float32").eps) * (math.log2(100_003) + 32)
    norm = values(xp.linalg.vector_norm(xp.asarray(x), axis=0, ord=order))
    assert (np.abs(norm.astype("float64") ** order - powers) <= relative * powers).all()
    assert norm.dtype == "float32"
    matrix = values(xp.linalg.matrix_norm(xp.asarray(x), ord=1)).astype("float64")
    assert abs(matrix - exact(x, 0).max()) <= relative * exact(x, 0).max()


@pytest.mark.parametrize("dtype", FLOATS)
def test_whole_numbers_are_exact(dtype: str) -> None:
    """Each term reaches its own sum: every set of axes, orders, signs and steps."""
    shapes = [(3, 65, 41), (130, 2, 129), (64, 1, 257), (2, 3, 700, 5), (1999, 1, 3)]
    for shape in shapes:
        whole = np.arange(math.prod(shape)).reshape(shape) * 7919 % 31 - 15
        for order in itertools.permutations(range(len(shape))):
            moved = np.ascontiguousarray(whole.transpose(order)).transpose(
                np.argsort(order)
            )
            for step in (1, -1, 2):
                some = moved[..., ::step]
                x = xp.asarray(some.astype(dtype))
                view = xp.from_dlpack(moved.astype(dtype))[..., ::step]
                for count in range(len(shape) + 1):
                    for axes in itertools.combinations(range(len(shape)), count):
                        wanted = some.sum(axis=axes)
                        assert (values(xp.sum(x, axis=axes)) == wanted).all()
                        came = values(xp.sum(view, axis=axes, keepdims=True))
                        assert (came == some.sum(axis=axes, keepdims=True)).all()


@pytest.mark.parametrize("axis", [0, 1, None, (0, 1)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_special_values(axis: Any, dtype: str) -> None:
    def total(*special: float) -> Any:
        x = np.full((1500, 1500), -0.0, dtype)
        for i, value in enumerate(special):
            x[700 * i, 701 * i] = value
        return values(xp.sum(xp.asarray(x), axis=axis)).max()

    zeros = np.full((1500, 1500), -0.0, dtype)
    assert np.signbit(total()) == np.signbit(zeros.sum(axis=axis).max())
    assert total(1.0) == 1
    assert total(math.inf) == math.inf
    assert math.isnan(total(math.nan))
    assert math.isnan(total(math.inf, math.nan))
    if axis in (None, (0, 1)):
        assert math.isnan(total(math.inf, -math.inf))
        large = float(np.finfo(dtype).max)
        assert total(large, large) == math.inf
        assert total(large, -large) == 0


def test_nothing_to_sum() -> None:
    for shape, axis in (((0, 5000), 0), ((5000, 0), 0), ((3, 0, 2), (0, 2))):
        total = values(xp.sum(xp.zeros(shape), axis=axis))
        assert total.tolist() == np.zeros(shape).sum(axis=axis).tolist()
    assert values(xp.sum(xp.ones((70, 80)), axis=())).shape == (70, 80)


def test_integers_wrap_around_as_before() -> None:
    x = xp.full((5000, 2), 2**62, dtype=xp.int64)
    assert values(xp.sum(x, axis=0)).tolist() == [0, 0]
    mask = xp.ones((5000, 2), dtype=xp.bool)
    assert values(xp.count_nonzero(mask, axis=0)).tolist() == [5000, 5000]
    ones = xp.ones((5000, 2))
    assert values(xp.linalg.vector_norm(ones, axis=0, ord=0)).tolist() == [5000, 5000]


@pytest.mark.parametrize("name", ["pedantic", "adversarial"])
def test_profiles_sum_alike(name: str) -> None:
    with profiles.use(name):
        x = terms((30_011, 2), "float32")
        array = xp.asarray(memoryview(x), copy=True)
        error = np.abs(values(xp.sum(array, axis=0)) - exact(x, 0))
    assert (error <= bound(x, 0)).all()
