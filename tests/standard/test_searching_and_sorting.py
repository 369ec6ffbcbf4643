"""Indexing, searching, set and sorting functions, against Python's own loops.

Cases that the standard leaves open are in tests/unspecified.
"""

import bisect
import itertools
import math
import random

import numpy as np
import pytest

import refarray as xp

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
REALS = (*INTEGERS, "float32", "float64")


def numpy(x):
    assert type(x) is xp.Array
    return np.asarray(memoryview(x))


def values(x):
    return numpy(x).tolist()


def indices(x):
    """The values of an array of indices."""
    assert x.dtype is xp.int64
    return values(x)


def sample(dtype, size, seed=0):
    """Few different values, extremes among them, so that there are ties."""
    chance = random.Random(seed)
    if "int" in dtype:
        limits = np.iinfo(dtype)
        known = [limits.min, limits.max, 0, 1, limits.max - 1]
    else:
        known = [-math.inf, math.inf, -1.5, 0.0, 2.0, 1e-30]
    return np.array([chance.choice(known) for _ in range(size)], dtype)


def layouts(a):
    """The same numbers in memory of every kind."""
    spread = np.empty(tuple(2 * n for n in a.shape), a.dtype)
    spread[(slice(None, None, 2),) * a.ndim] = a
    yield xp.asarray(a, copy=True)
    yield xp.asarray(spread)[(slice(None, None, 2),) * a.ndim]
    yield xp.flip(xp.asarray(np.flip(a).copy()))
    yield xp.asarray(np.asfortranarray(a))


def in_lanes(a, axis):
    """The lists of numbers along an axis."""
    size = a.shape[axis]
    lanes = np.moveaxis(a, axis, -1).reshape(a.size // size if size else 0, size)
    return lanes.tolist()


# Sorting -----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize(
    "shape", [(0,), (1,), (7,), (300,), (3, 40), (2, 0, 2), (2,) * 8]
)
def test_sort_and_argsort(shape, dtype):
    a = sample(dtype, math.prod(shape)).reshape(shape)
    for x, axis in itertools.product(layouts(a), range(-a.ndim, a.ndim)):
        lanes = in_lanes(a, axis)
        for descending, stable in itertools.product((False, True), repeat=2):
            mode = {"axis": axis, "descending": descending, "stable": stable}
            ordered, order = xp.sort(x, **mode), xp.argsort(x, **mode)
            assert (ordered.shape, str(ordered.dtype)) == (a.shape, dtype)
            assert (order.shape, order.dtype) == (a.shape, xp.int64)
            came, places = in_lanes(numpy(ordered), axis), in_lanes(numpy(order), axis)
            for lane, row, by in zip(lanes, came, places, strict=True):
                assert row == sorted(lane, reverse=descending)
                assert [lane[i] for i in by] == row
                if stable:
                    assert by == sorted(
                        range(len(lane)), key=lane.__getitem__, reverse=descending
                    )
    assert values(x) == a.tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(1,), (300,), (3, 40), (4, 3, 20)])
def test_a_stable_sort_keeps_zeros_of_either_sign_in_order(shape, dtype):
    chance = random.Random(0)
    known = [0.0, -0.0, 0.0, -0.0, -1.5, 2.0, math.inf]
    a = np.array([chance.choice(known) for _ in range(math.prod(shape))], dtype)
    a = a.reshape(shape)
    for x, axis in itertools.product(layouts(a), range(a.ndim)):
        for descending in (False, True):
            ordered = numpy(xp.sort(x, axis=axis, descending=descending))
            # repr tells -0.0 from 0.0, and Python's sort is stable.
            for lane, row in zip(
                in_lanes(a, axis), in_lanes(ordered, axis), strict=True
            ):
                assert repr(row) == repr(sorted(lane, reverse=descending))
    kept = xp.unique_values(xp.asarray(a))
    zeros = [value for value in a.ravel().tolist() if value == 0]
    assert [repr(value) for value in values(kept) if value == 0] == [
        repr(value) for value in zeros[:1]
    ]


# Searching ---------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", REALS)
def test_argmax_and_argmin(dtype):
    a = sample(dtype, 60).reshape(3, 20)
    for x in layouts(a):
        for function, pick in ((xp.argmax, max), (xp.argmin, min)):
            flat = a.ravel().tolist()
            assert indices(function(x)) == flat.index(pick(flat))
            rows = [row.index(pick(row)) for row in a.tolist()]
            assert indices(function(x, axis=1)) == rows
            assert indices(function(x, axis=-1, keepdims=True)) == [[i] for i in rows]
            columns = [column.index(pick(column)) for column in a.T.tolist()]
            assert indices(function(x, axis=0)) == columns
            assert function(x, keepdims=True).shape == (1, 1)
            assert function(x).shape == ()


def test_counts_and_places_of_nonzero():
    for a in (
        np.array([[0.0, -0.0, math.nan], [1e-320, -1, 0]]),
        np.array([[0j, 1j, complex(0, math.nan)], [-0.0, 1, complex(-0.0, -0.0)]]),
        np.array([[True, False], [False, True]]),
        np.array([[0, 255, 1]], "uint8"),
        np.zeros((2, 0)),
    ):
        truth = [[value != 0 for value in row] for row in a.tolist()]
        places = [at for at in np.ndindex(*a.shape) if truth[at[0]][at[1]]]
        for x in layouts(a):
            assert indices(xp.count_nonzero(x)) == len(places)
            assert indices(xp.count_nonzero(x, axis=(0, 1))) == len(places)
            assert indices(xp.count_nonzero(x, axis=1)) == [sum(row) for row in truth]
            assert xp.count_nonzero(x, axis=0, keepdims=True).shape == (1, a.shape[1])
            found = xp.nonzero(x)
            assert type(found) is tuple
            assert list(zip(*map(indices, found), strict=True)) == places


@pytest.mark.parametrize("dtype", REALS)
def test_searchsorted(dtype):
    known = np.sort(sample(dtype, 20))
    wanted = sample(dtype, 12, seed=1).reshape(3, 4)
    mixed = np.random.default_rng(0).permutation(20)
    back = np.argsort(mixed).astype(np.uint16)
    for x1, x2 in zip(layouts(known), layouts(wanted), strict=True):
        for side, find in (
            ("left", bisect.bisect_left),
            ("right", bisect.bisect_right),
        ):
            right = [[find(known.tolist(), v) for v in row] for row in wanted.tolist()]
            assert indices(xp.searchsorted(x1, x2, side=side)) == right
            shuffled = xp.asarray(known[mixed])
            sorter = xp.asarray(back)
            found = xp.searchsorted(shuffled, x2, side=side, sorter=sorter)
            assert indices(found) == right
            scalar = xp.searchsorted(x1, 1, side=side)
            assert (scalar.shape, indices(scalar)) == ((), find(known.tolist(), 1))


def test_searchsorted_promotes():
    x1 = xp.asarray([0.5, 1.0], dtype=xp.float32)
    assert indices(xp.searchsorted(x1, xp.asarray([0.5 + 1e-12]))) == [1]
    x1 = xp.asarray([0, 255], dtype=xp.uint8)
    assert indices(xp.searchsorted(x1, xp.asarray([-1, 1], dtype=xp.int8))) == [0, 1]


def test_searchsorted_arguments():
    x = xp.asarray([1, 2])
    for refused in (
        lambda: xp.searchsorted(xp.asarray([[1, 2]]), x),
        lambda: xp.searchsorted(xp.asarray(1), x),
        lambda: xp.searchsorted(x, x, side="middle"),
        lambda: xp.searchsorted(x, x, sorter=xp.asarray([0])),
    ):
        with pytest.raises(ValueError):
            refused()
    for refused in (
        lambda: xp.searchsorted(x, x, sorter=xp.asarray([0.0, 1.0])),
        lambda: xp.searchsorted([1, 2], x),
        lambda: xp.searchsorted(1, x),
        lambda: xp.searchsorted(x, np.int64(1)),
    ):
        with pytest.raises(TypeError):
            refused()


def test_where():
    truth = xp.asarray([[True], [False]])
    x, y = xp.asarray([1, 2, 3], dtype=xp.int8), xp.asarray(200, dtype=xp.uint8)
    chosen = xp.where(truth, x, y)
    assert (chosen.dtype, values(chosen)) == (xp.int16, [[1, 2, 3], [200] * 3])
    chosen = xp.where(xp.asarray(True), x, xp.ones((2, 3), dtype=xp.int8))
    assert values(chosen) == [[1, 2, 3]] * 2
    floats = xp.ones(2, dtype=xp.float32)
    mask = xp.asarray([True, False])
    for scalar, dtype in ((2, xp.float32), (2.5, xp.float32), (2j, xp.complex64)):
        for chosen, wanted in (
            (xp.where(mask, scalar, floats), [scalar, 1]),
            (xp.where(mask, floats, scalar), [1, scalar]),
        ):
            assert (chosen.dtype, values(chosen)) == (dtype, wanted)
    big = xp.asarray([2**64 - 1, 2**63 + 1], dtype=xp.uint64)
    assert values(xp.where(mask, big, 0)) == [2**64 - 1, 0]
    assert values(xp.where(mask, True, mask)) == [True, False]
    with pytest.raises(ValueError, match="do not broadcast"):
        xp.where(xp.asarray([True] * 3), floats, floats)
    for refused in (
        lambda: xp.where(mask, 1, 2),
        lambda: xp.where(mask, floats, np.float64(2)),
        lambda: xp.where(mask, floats, [1.0, 2.0]),
    ):
        with pytest.raises(TypeError):
            refused()


# Sets --------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*REALS, "bool", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (50,), (4, 5), (2, 0), (2,) * 8])
def test_unique(shape, dtype):
    size = math.prod(shape)
    if dtype in REALS:
        a = sample(dtype, size).reshape(shape)
    else:
        a = np.array([(i * 7) % 3 for i in range(size)], dtype).reshape(shape)
    flat = a.ravel().tolist()
    for x in layouts(a) if a.ndim else (xp.asarray(a),):
        found = xp.unique_all(x)
        known = values(found.values)
        assert str(found.values.dtype) == dtype
        assert len(known) == len(set(flat))
        assert set(known) == set(flat)
        assert indices(found.indices) == [flat.index(v) for v in known]
        assert indices(found.counts) == [flat.count(v) for v in known]
        assert found.inverse_indices.shape == a.shape
        inverse = numpy(found.inverse_indices).ravel().tolist()
        assert [known[i] for i in inverse] == flat
        counts, inverses = xp.unique_counts(x), xp.unique_inverse(x)
        assert values(counts.values) == values(inverses.values) == known
        assert values(xp.unique_values(x)) == known
        assert indices(counts.counts) == indices(found.counts)
        assert indices(inverses.inverse_indices) == indices(found.inverse_indices)


def test_each_nan_is_unique():
    for nan in (math.nan, complex(1, math.nan), complex(math.nan, 1)):
        x = xp.asarray([nan, 1, nan, 1, nan])
        found = xp.unique_all(x)
        assert indices(found.counts) == [2, 1, 1, 1]
        assert indices(found.indices) == [1, 0, 2, 4]
        assert indices(found.inverse_indices) == [1, 0, 2, 0, 3]
        assert indices(xp.unique_counts(x).counts) == [2, 1, 1, 1]
        assert xp.unique_values(x).shape == (4,)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_isin(dtype):
    a, b = sample(dtype, 30).reshape(5, 6), sample(dtype, 3, seed=2)
    inside = [[value in b for value in row] for row in a.tolist()]
    for x1, x2 in zip(layouts(a), layouts(b), strict=True):
        found = xp.isin(x1, x2)
        assert (found.dtype, values(found)) == (xp.bool, inside)
        outside = [[not truth for truth in row] for row in inside]
        assert values(xp.isin(x1, x2, invert=True)) == outside
        assert values(xp.isin(x1, 1)) == [[v == 1 for v in row] for row in a.tolist()]
        one = xp.isin(1, x1)
        assert (one.shape, values(one)) == ((), 1 in a)
        assert not numpy(xp.isin(x1, x2[:0])).any()
    with pytest.raises(TypeError, match=r"refarray\.asarray"):
        xp.isin(1, 2)


def test_isin_of_neighbours():
    x = xp.asarray([2**64 - 2, 2**64 - 1, 2**53, 2**53 + 1], dtype=xp.uint64)
    assert values(xp.isin(x, x[1::2])) == [False, True, False, True]


# Indexing ----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_take(dtype):
    a = np.arange(24.0).reshape(2, 3, 4)
    for x, axis in itertools.product(layouts(a), range(-3, 3)):
        chosen = [1, 0, 1] if dtype[0] == "u" else [-1, 0, 1, -2]
        places = xp.asarray(chosen, dtype=getattr(xp, dtype))
        assert values(xp.take(x, places, axis=axis)) == a.take(chosen, axis).tolist()
        assert xp.take(x, places[:0], axis=axis).shape == a.take([], axis).shape
    line = xp.arange(5)
    assert values(xp.take(line, places)) == a.ravel()[:5][chosen].tolist()


def test_take_along_axis():
    a = np.arange(24.0).reshape(2, 3, 4)
    for x, axis in itertools.product(layouts(a), range(-3, 3)):
        order = np.argsort(-a, axis=axis)
        for by in (order, order - a.shape[axis]):
            found = xp.take_along_axis(x, xp.asarray(by), axis=axis)
            assert values(found) == np.take_along_axis(a, order, axis).tolist()
    thin = xp.asarray([[[1]], [[0]]])
    found = xp.take_along_axis(xp.asarray(a[:, :1, :]), thin)
    assert values(found) == [[[1.0]], [[12.0]]]
    for by in (xp.asarray([[0], [1], [0]]), xp.asarray([[[0]]] * 3), xp.asarray([0])):
        with pytest.raises(ValueError):
            xp.take_along_axis(xp.asarray(a), by, axis=1)
    with pytest.raises(IndexError):
        xp.take_along_axis(xp.asarray(a), thin, axis=3)
