"""Indexing, searching, set and sorting functions where the standard leaves a choice.

The table: docs/reference/unspecified.md.
"""

import math

import numpy as np
import pytest

import refarray as xp

NAN = math.nan


def values(x):
    return np.asarray(memoryview(x)).tolist()


def same(x, wanted):
    """NaN equal to NaN, and zeros of different sign different."""
    return list(map(repr, values(x))) == list(map(repr, wanted))


# Indexing ----------------------------------------------------------------------------


def test_indices_out_of_range():
    x = xp.asarray([1, 2, 3])
    for index in (3, -4, 2**63 - 1, -(2**63)):
        for function in (xp.take, xp.take_along_axis):
            with pytest.raises(IndexError, match="out of bounds"):
                function(x, xp.asarray([0, index]))
    beyond = xp.asarray([2**64 - 1], dtype=xp.uint64)
    for function in (xp.take, xp.take_along_axis):
        with pytest.raises(IndexError, match="out of bounds"):
            function(x, beyond)
    with pytest.raises(IndexError):
        xp.take(x[:0], xp.asarray([0]))


def test_take_without_dimensions():
    x, first = xp.asarray(1), xp.asarray([0])
    with pytest.raises(ValueError, match="needs an axis"):
        xp.take(x, first)
    with pytest.raises(IndexError, match="no axes"):
        xp.take(x, first, axis=0)


def test_take_with_other_indices():
    x = xp.asarray([1, 2, 3])
    for indices in (xp.asarray(0), xp.asarray([[0]])):
        with pytest.raises(ValueError, match="one dimension"):
            xp.take(x, indices)
    for indices in (xp.asarray([0.0]), xp.asarray([True])):
        with pytest.raises(TypeError, match="integer"):
            xp.take(x, indices)


# Searching ---------------------------------------------------------------------------


def test_the_first_nan_is_the_extreme():
    x = xp.asarray([[1.0, NAN, 9.0, NAN], [1.0, 2.0, -3.0, 2.0]])
    assert values(xp.argmax(x)) == values(xp.argmin(x)) == 1
    assert values(xp.argmax(x, axis=1)) == [1, 1]
    assert values(xp.argmin(x, axis=1)) == [1, 2]


def test_nothing_to_search():
    for function in (xp.argmax, xp.argmin):
        for shape, axis in (((0,), None), ((0, 2), None), ((0, 2), 0), ((2, 0), 1)):
            with pytest.raises(ValueError, match="at least one element"):
                function(xp.zeros(shape), axis=axis)
        assert function(xp.zeros((0, 2)), axis=1).shape == (0,)


def test_orders_of_real_numbers_only():
    for x in (xp.asarray([True]), xp.asarray([1j])):
        for refused in (xp.argmax, xp.argmin, xp.sort, xp.argsort):
            with pytest.raises(TypeError, match="real-valued"):
                refused(x)
        with pytest.raises(TypeError, match="real-valued"):
            xp.searchsorted(x, x)


def test_searchsorted_has_nan_last():
    x = xp.sort(xp.asarray([2.0, NAN, 1.0, NAN]))
    wanted = xp.asarray([NAN, 3.0, math.inf])
    assert values(xp.searchsorted(x, wanted)) == [2, 2, 2]
    assert values(xp.searchsorted(x, wanted, side="right")) == [4, 2, 2]


def test_mixed_kinds():
    x, y, truth = xp.asarray([1, 2]), xp.asarray([1.0, 2.0]), xp.asarray([True, False])
    for refused in (
        lambda: xp.searchsorted(x, y),
        lambda: xp.searchsorted(x, 1.0),
        lambda: xp.where(truth, x, y),
        lambda: xp.where(truth, x, 1.0),
        lambda: xp.where(truth, x, True),
        lambda: xp.isin(x, y),
        lambda: xp.isin(x, truth),
    ):
        with pytest.raises(TypeError, match="mix"):
            refused()


def test_a_sorter_out_of_range():
    x = xp.asarray([1, 2])
    for sorter in ([0, 2], [-1, 0]):
        with pytest.raises(ValueError, match="out of range"):
            xp.searchsorted(x, x, sorter=xp.asarray(sorter))


def test_searching_what_is_not_sorted():
    x = xp.asarray([3, 1, 2])
    for found in values(xp.searchsorted(x, x)):
        assert 0 <= found <= 3


def test_conditions_are_bool():
    x = xp.asarray([0.0, 1.0])
    for condition in (x, xp.asarray([0, 1]), True):
        with pytest.raises(TypeError):
            xp.where(condition, x, x)


# Sets --------------------------------------------------------------------------------


def test_unique_values_are_in_order():
    assert same(
        xp.unique_values(xp.asarray([2.0, NAN, 1.0, NAN])), [1.0, 2.0, NAN, NAN]
    )
    x = xp.asarray([1 + 1j, 1 - 1j, 0j, complex(0, NAN)])
    assert same(xp.unique_values(x), [0j, 1 - 1j, 1 + 1j, complex(0, NAN)])
    assert values(xp.unique_values(xp.asarray([True, False, True]))) == [False, True]


def test_the_first_zero_stands_for_zero():
    for first, second in ((0.0, -0.0), (-0.0, 0.0)):
        x = xp.asarray([1.0, first] + [second, 1.0, first, second] * 300)
        for found in (
            xp.unique_values(x),
            xp.unique_counts(x).values,
            xp.unique_inverse(x).values,
            xp.unique_all(x).values,
        ):
            assert same(found, [first, 1.0])


def test_isin_of_other_dtypes():
    x = xp.asarray([NAN, 1.5, -0.0])
    assert values(xp.isin(x, x)) == [False, True, True]
    assert values(xp.isin(x, xp.asarray([0.0], dtype=xp.float32))) == [0, 0, 1]
    assert values(xp.isin(x, x, invert=True)) == [True, False, False]
    assert values(xp.isin(xp.asarray([1j, 2j]), 1j)) == [True, False]
    assert values(xp.isin(True, xp.asarray([True, False]))) is True


# Sorting -----------------------------------------------------------------------------


def test_nan_is_last():
    x = xp.asarray([NAN, 2.0, NAN, 1.0, math.inf, -math.inf])
    assert same(xp.sort(x), [-math.inf, 1.0, 2.0, math.inf, NAN, NAN])
    assert same(xp.sort(x, descending=True), [math.inf, 2.0, 1.0, -math.inf, NAN, NAN])
    assert values(xp.argsort(x)) == [5, 3, 1, 4, 0, 2]
    assert values(xp.argsort(x, descending=True)) == [4, 1, 3, 5, 0, 2]


def test_zeros_keep_their_order():
    zeros = [0.0, -0.0, -0.0, 0.0, -0.0] * 400
    for descending in (False, True):
        for dtype in (xp.float32, xp.float64):
            x = xp.asarray([1.0, *zeros, -1.0], dtype=dtype)
            wanted = [1.0, *zeros, -1.0] if descending else [-1.0, *zeros, 1.0]
            assert same(xp.sort(x, descending=descending), wanted)
            assert same(xp.sort(xp.asarray(zeros), descending=descending), zeros)
