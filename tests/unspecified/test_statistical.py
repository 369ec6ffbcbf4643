"""Statistical and utility functions where the standard leaves a choice.

The table: docs/reference/unspecified.md.
"""

import numpy as np
import pytest

import refarray as xp


def values(x):
    return np.from_dlpack(x).tolist()


@pytest.mark.parametrize("name", ["max", "min"])
def test_nothing_has_no_extreme(name):
    function = getattr(xp, name)
    for shape, axis in (((0,), None), ((3, 0), 1), ((0, 0), 1)):
        with pytest.raises(ValueError, match=name):
            function(xp.ones(shape), axis=axis)
    assert function(xp.ones((3, 0)), axis=0).shape == (0,)


@pytest.mark.parametrize("name", ["max", "min", "std", "var"])
def test_complex_numbers_are_refused(name):
    with pytest.raises(TypeError, match=name):
        getattr(xp, name)(xp.asarray([1j]))


@pytest.mark.parametrize("name", ["mean", "std", "var"])
def test_moments_of_integers_are_refused(name):
    with pytest.raises(TypeError, match=name):
        getattr(xp, name)(xp.asarray([1, 2]))


@pytest.mark.parametrize(
    "name", ["sum", "prod", "cumulative_sum", "cumulative_prod", "max", "min", "diff"]
)
def test_booleans_are_refused(name):
    with pytest.raises(TypeError, match=name):
        getattr(xp, name)(xp.asarray([True, False]))


def test_one_of_two_zeros():
    assert values(xp.max(xp.asarray([-0.0, 0.0]))) == 0
    assert values(xp.min(xp.asarray([-0.0, 0.0]))) == 0


@pytest.mark.parametrize("function", [xp.cumulative_sum, xp.cumulative_prod])
def test_nothing_accumulates_without_an_axis(function):
    for axis in (None, 0):
        with pytest.raises(ValueError, match="axis"):
            function(xp.asarray(1), axis=axis)


def test_a_sum_in_another_kind_converts_first():
    x = xp.asarray([0.75, 0.75])
    assert values(xp.sum(x, dtype=xp.int64)) == 0
    assert values(xp.cumulative_sum(x, dtype=xp.int64)) == [0, 0]
    with pytest.raises(TypeError, match="real"):
        xp.sum(xp.asarray([1j]), dtype=xp.float64)


def test_sums_and_products_of_integers_wrap_around():
    x = xp.asarray([2**62, 2**62])
    assert values(xp.sum(x)) == -(2**63)
    assert values(xp.prod(x)) == 0
    assert values(xp.cumulative_sum(x)) == [2**62, -(2**63)]
    small = xp.asarray([100, 100], dtype=xp.int8)
    assert values(xp.sum(small, dtype=xp.int8)) == -56


@pytest.mark.parametrize("correction", [None, 1j, "1"])
def test_a_correction_is_a_real_number(correction):
    with pytest.raises(TypeError, match="correction"):
        xp.var(xp.ones(3), correction=correction)


def test_more_differences_than_elements():
    x = xp.ones((2, 3))
    assert xp.diff(x, n=3).shape == xp.diff(x, n=10**9).shape == (2, 0)


def test_no_differences_are_a_copy():
    x = xp.asarray([1, 2])
    y = xp.diff(x, n=0)
    y[0] = 7
    assert values(x) == [1, 2]


def test_differences_of_several_dtypes():
    x = xp.asarray([5, 7], dtype=xp.int8)
    assert xp.diff(x, prepend=xp.asarray([300], dtype=xp.int16)).dtype is xp.int16
    with pytest.raises(TypeError, match="promotion"):
        xp.diff(x, append=xp.asarray([1.0]))


@pytest.mark.parametrize("name", ["sum", "mean", "std", "var"])
def test_the_error_of_a_sum_grows_with_the_logarithm(name):
    """One column of equal terms: tests/standard/test_sums.py has the other cases."""
    x = xp.full((10**6, 2), 0.1, dtype=xp.float32)
    term = float(np.float32(0.1))
    wanted = {"sum": term * 10**6, "mean": term}.get(name, 0.0)
    scale = wanted or {"std": term, "var": term**2 * 1e-5}[name]
    for came in values(getattr(xp, name)(x, axis=0)):
        assert abs(came - wanted) < 1e-5 * scale


def test_a_cumulative_sum_is_the_one_before_plus_a_term():
    x = np.linspace(0.1, 0.3, 5000, dtype="float32")
    sums = np.from_dlpack(xp.cumulative_sum(xp.asarray(x)))
    assert sums[0] == x[0]
    assert (sums[1:] == sums[:-1] + x[1:]).all()
