"""Profile `adversarial`: orders, signs, rounding, and values that are no result."""

from __future__ import annotations

import math

import numpy as np
import pytest

import refarray as xp
from refarray.profiles import use

CALLS = 40
NAN = math.nan


def values(x):
    return np.asarray(x)


def text(x):
    """Text in which zeros of either sign differ."""
    return str(values(x).tolist())


def collected(function, seed=1):
    """What a function returns in many calls under one seed, as text."""
    with use("adversarial", seed=seed):
        return {text(function()) for _ in range(CALLS)}


# Sets --------------------------------------------------------------------------------


def test_unique_values_come_in_any_order():
    x = xp.asarray([3, 1, 2, 3, 1])
    assert len(collected(lambda: xp.unique_values(x))) == 6
    assert collected(lambda: xp.sort(xp.unique_values(x))) == {"[1, 2, 3]"}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_parts_of_one_result_belong_together(seed):
    x = xp.asarray([[3.0, 1.0, NAN, -0.0], [3.0, 0.0, 7.0, NAN]])
    flat = values(x).reshape(-1)
    with use("adversarial", seed=seed):
        for _ in range(CALLS):
            found = xp.unique_all(x)
            unique, indices, inverse, counts = map(values, found)
            np.testing.assert_array_equal(flat[indices], unique)
            np.testing.assert_array_equal(unique[inverse], values(x))
            for i, value in enumerate(unique):
                if value == value:
                    assert indices[i] == np.flatnonzero(flat == value)[0]
                    assert counts[i] == np.count_nonzero(flat == value)
            unique, counts = map(values, xp.unique_counts(x))
            assert [np.count_nonzero(flat == v) or 1 for v in unique] == counts.tolist()
            unique, inverse = map(values, xp.unique_inverse(x))
            np.testing.assert_array_equal(unique[inverse], values(x))


def test_either_zero_is_the_unique_one():
    both, negative = xp.asarray([0.0, -0.0]), xp.asarray([-0.0, -0.0])
    assert collected(lambda: xp.unique_values(both)) == {"[0.0]", "[-0.0]"}
    assert collected(lambda: xp.unique_values(negative)) == {"[-0.0]"}


def test_empty_sets():
    with use("adversarial", seed=1):
        for part in xp.unique_all(xp.asarray([], dtype=xp.float64)):
            assert part.shape == (0,)


# Sorting -----------------------------------------------------------------------------


def test_equal_elements_come_in_any_order_unless_stable():
    x = xp.asarray([2, 1, 1, 1])
    orders = collected(lambda: xp.argsort(x, stable=False))
    assert len(orders) == 6
    assert all(order.endswith(", 0]") for order in orders)
    assert collected(lambda: xp.argsort(x)) == {"[1, 2, 3, 0]"}
    zeros = xp.asarray([0.0, -0.0])
    assert collected(lambda: xp.sort(zeros, stable=False)) == {
        "[0.0, -0.0]",
        "[-0.0, 0.0]",
    }
    assert collected(lambda: xp.sort(zeros)) == {"[0.0, -0.0]"}


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("stable", [False, True])
def test_sorted_is_sorted(seed, descending, stable):
    x = np.random.default_rng(3).integers(-4, 5, (20, 7)).astype(np.float64)
    x[::3, 2] = NAN
    with use("adversarial", seed=seed):
        for axis in (0, 1):
            options = dict(axis=axis, descending=descending, stable=stable)
            out = values(xp.sort(xp.asarray(x), **options))
            order = values(xp.argsort(xp.asarray(x), **options))
            by_order = np.take_along_axis(x, order, axis)
            np.testing.assert_array_equal(out, by_order)
            np.testing.assert_array_equal(np.sort(out, axis), np.sort(x, axis))
            for lane in np.moveaxis(out, axis, -1).reshape(-1, x.shape[axis]):
                known = lane[~np.isnan(lane)]
                steps = np.diff(known)
                assert (steps <= 0).all() if descending else (steps >= 0).all()
                # The place of NaN is a convention: one for each seed.
                first = lane[: len(lane) - len(known)]
                last = lane[len(known) :]
                assert np.isnan(first if seed % 2 else last).all()
            if stable:
                for lane, at in zip(
                    np.moveaxis(out, axis, -1).reshape(-1, x.shape[axis]),
                    np.moveaxis(order, axis, -1).reshape(-1, x.shape[axis]),
                    strict=True,
                ):
                    assert (np.diff(at)[np.diff(lane) == 0] > 0).all()


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted_agrees_with_sort(seed, side):
    with use("adversarial", seed=seed):
        x = xp.asarray([NAN, 2.0, -1.0, 2.0, 5.0, NAN])
        known = xp.sort(x)
        wanted = xp.asarray([-7.0, -1.0, 2.0, 3.0, 5.0, 9.0, NAN])
        places = values(xp.searchsorted(known, wanted, side=side))
        sorter = xp.argsort(x)
        by_sorter = values(xp.searchsorted(x, wanted, side=side, sorter=sorter))
        assert places.tolist() == by_sorter.tolist()
        for place, number in zip(places, values(wanted), strict=True):
            joined = np.insert(values(known), place, number)
            np.testing.assert_array_equal(values(xp.sort(xp.asarray(joined))), joined)
        shift = 2 if seed % 2 else 0
        lower = [0, 0, 1, 3, 3, 4] if side == "left" else [0, 1, 3, 3, 4, 4]
        assert places[:-1].tolist() == [n + shift for n in lower]
        with pytest.raises(ValueError, match=r".*"):
            xp.searchsorted(x, wanted, sorter=xp.asarray([9] * 6))


# Sums and functions that are approximated --------------------------------------------


def test_sums_are_rounded_in_any_order():
    x = xp.asarray([0.1, 0.2, 0.3, 0.4, 0.7, 1e-3, 1.3, 1.7, 2.9])
    for function in (xp.sum, xp.mean, xp.prod, xp.std, xp.var):
        assert len(collected(lambda f=function: f(x))) > 1
        with use("adversarial", seed=1):
            assert math.isclose(function(x), values(function(x)), rel_tol=1e-12)
    assert len(collected(lambda: x @ x)) > 1
    assert len(collected(lambda: xp.vecdot(x, x))) > 1
    assert len(collected(lambda: xp.tensordot(x, x, axes=1))) > 1
    integers = xp.asarray([[1, 2, 3], [4, 5, 6]])
    assert collected(lambda: xp.sum(integers, axis=0)) == {"[5, 7, 9]"}
    assert collected(lambda: integers @ integers.mT) == {"[[14, 32], [32, 77]]"}
    assert collected(lambda: xp.cumulative_sum(x)) == {text(xp.cumulative_sum(x))}


@pytest.mark.parametrize("name", ["exp", "sin", "log", "tanh", "acos", "log1p"])
@pytest.mark.parametrize("dtype", [xp.float32, xp.float64])
def test_the_last_digit_of_an_approximation(name, dtype):
    function = getattr(xp, name)
    x = xp.asarray([0.3, 0.7, 0.9], dtype=dtype)
    assert len(collected(lambda: function(x))) > 1
    strict = values(function(x))
    with use("adversarial", seed=1):
        for _ in range(CALLS):
            out = values(function(x))
            assert (
                (out == strict) | (out == np.nextafter(strict, out.dtype.type(0)))
            ).all()


def test_what_is_exact_stays_so():
    cases = [
        (
            lambda: xp.exp(xp.asarray([0.0, -math.inf, math.inf, NAN])),
            "[1.0, 0.0, inf, nan]",
        ),
        (lambda: xp.pow(xp.asarray([2.0, -0.0]), 3.0), "[8.0, -0.0]"),
        (
            lambda: xp.hypot(xp.asarray([0.3, 3.0]), xp.asarray([0.0, 4.0])),
            "[0.3, 5.0]",
        ),
        (lambda: xp.sqrt(xp.asarray([2.0])), f"[{math.sqrt(2)}]"),
        (lambda: xp.asarray([0.1]) * 0.7 / 0.3, f"[{0.1 * 0.7 / 0.3}]"),
    ]
    for function, wanted in cases:
        assert collected(function) == {wanted}


def test_either_zero_is_the_greater():
    x1, x2 = xp.asarray([0.0, 1.0, NAN]), xp.asarray([-0.0, 2.0, 1.0])
    for function, other in ((xp.maximum, 2.0), (xp.minimum, 1.0)):
        assert collected(lambda f=function: f(x1, x2)) == {
            f"[0.0, {other}, nan]",
            f"[-0.0, {other}, nan]",
        }
    zeros = xp.asarray([0.0, -0.0])
    for function in (xp.max, xp.min):
        assert collected(lambda f=function: f(zeros)) == {"0.0", "-0.0"}


# No value is the right one -----------------------------------------------------------

I8 = xp.asarray([-128, 7], dtype=xp.int8)


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (lambda: I8 // xp.asarray([0, 2], dtype=xp.int8), 3),
        (lambda: I8 % xp.asarray([0, 2], dtype=xp.int8), 1),
        (lambda: I8 << xp.asarray([-8, 2], dtype=xp.int8), 28),
        (lambda: I8 >> xp.asarray([-1, 2], dtype=xp.int8), 1),
        (lambda: abs(I8), 7),
        (lambda: -I8, -7),
        (lambda: xp.astype(xp.asarray([NAN, 2.5]), xp.int8), 2),
        (lambda: xp.astype(xp.asarray([math.inf, 2.5]), xp.int32), 2),
        (lambda: xp.astype(xp.asarray([300.0, 2.5]), xp.uint8), 2),
    ],
)
def test_anything_may_come_out(function, wanted):
    with use("adversarial", seed=1):
        results = [values(function()) for _ in range(CALLS)]
    assert {int(x[1]) for x in results} == {wanted}
    assert len({int(x[0]) for x in results}) > 5


def test_clip_between_limits_that_are_none():
    x = xp.asarray([1.0, 2.0])
    assert len(collected(lambda: xp.clip(x, 5.0, 3.0))) > 5
    assert collected(lambda: xp.clip(x, 1.5, 1.8)) == {"[1.5, 1.8]"}


def test_what_integers_have_a_result_for():
    cases = [
        (lambda: I8 % -1, "[0, 0]"),
        (lambda: I8 >> 50, "[-1, 0]"),
        (lambda: I8 << 50, "[0, 0]"),
        (lambda: abs(xp.asarray([-127], dtype=xp.int8)), "[127]"),
    ]
    for function, wanted in cases:
        assert collected(function) == {wanted}


# Errors ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (lambda: xp.asarray([1, 2])[7], IndexError),
        (lambda: xp.take(xp.asarray([1, 2]), xp.asarray([7])), IndexError),
        (lambda: xp.max(xp.asarray([], dtype=xp.float64)), ValueError),
        (lambda: xp.pow(xp.asarray([2]), xp.asarray([-1])), ValueError),
        (lambda: xp.linalg.inv(xp.zeros((2, 2))), ValueError),
        (lambda: xp.linalg.cholesky(-xp.eye(2)), ValueError),
    ],
)
def test_errors_stay(function, error):
    with use("adversarial", seed=1):
        for _ in range(10):
            with pytest.raises(error):
                function()
