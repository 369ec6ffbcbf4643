"""Manipulation functions on views of every kind, against NumPy.

Cases that the standard leaves open, and whose memory a result has, are in
tests/unspecified.
"""

import random

import numpy as np
import pytest

import refarray as xp

SHAPES = [(), (1,), (0,), (6,), (2, 3), (1, 6, 1), (2, 3, 4), (3, 0, 2), (2,) * 8]


def numpy(x):
    assert type(x) is xp.Array
    return np.asarray(memoryview(x))


def equal(x, wanted):
    found = numpy(x)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    assert found.tolist() == wanted.tolist()


def views(shape, seed):
    """The same random view of the same numbers, in refarray and in NumPy."""
    chance = random.Random(seed)
    a = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    x = xp.asarray(a, copy=True)
    order = chance.sample(range(len(shape)), len(shape))
    x, a = xp.permute_dims(x, tuple(order)), a.transpose(order)
    for axis in range(len(shape)):
        key = (slice(None),) * axis
        step = chance.choice((1, 1, -1, 2, -2))
        x, a = x[(*key, slice(None, None, step))], a[(*key, slice(None, None, step))]
    return x, a


many_views = pytest.mark.parametrize("seed", range(8))
all_shapes = pytest.mark.parametrize("shape", SHAPES, ids=str)


@all_shapes
@many_views
def test_reordered(shape, seed):
    x, a = views(shape, seed)
    equal(x, a)
    equal(xp.flip(x), np.flip(a))
    for axis in range(a.ndim):
        equal(xp.flip(x, axis=axis), np.flip(a, axis))
        if axis:
            equal(xp.flip(x, axis=(axis, -a.ndim)), np.flip(a, (axis, 0)))
        equal(xp.expand_dims(x, axis), np.expand_dims(a, axis))
        equal(xp.squeeze(xp.expand_dims(x, axis - a.ndim - 1), axis), a)
        for target in (0, -1):
            equal(xp.moveaxis(x, axis, target), np.moveaxis(a, axis, target))
        pieces = xp.unstack(x, axis=axis)
        assert type(pieces) is tuple
        assert len(pieces) == a.shape[axis]
        for i, piece in enumerate(pieces):
            equal(piece, a.take(i, axis))
    if a.ndim > 1:
        equal(xp.moveaxis(x, (0, -1), (1, 0)), np.moveaxis(a, (0, -1), (1, 0)))
        equal(xp.permute_dims(x, (-1, *range(a.ndim - 1))), np.moveaxis(a, -1, 0))
    equal(xp.expand_dims(x, (0, -1)), np.expand_dims(a, (0, -1)))
    equal(xp.expand_dims(x, ()), a)


@all_shapes
@many_views
def test_reshaped(shape, seed):
    x, a = views(shape, seed)
    targets = [(a.size,), a.shape[::-1], (1, *a.shape, 1), (-1,)]
    targets += [(2, -1), (-1, 2)] if a.size and a.size % 2 == 0 else []
    for target in targets:
        wanted = a.reshape(target)
        equal(xp.reshape(x, target), wanted)
        copied = xp.reshape(x, target, copy=True)
        equal(copied, wanted)
        assert not np.shares_memory(numpy(copied), numpy(x))
        # NumPy shares memory wherever strides can express the result.
        if a.size and np.shares_memory(wanted, a):
            shared = xp.reshape(x, target, copy=False)
            assert np.shares_memory(numpy(shared), numpy(x))
            equal(shared, wanted)
        elif a.size:
            with pytest.raises(ValueError, match="copy=False"):
                xp.reshape(x, target, copy=False)


@all_shapes
@many_views
def test_joined_and_repeated(shape, seed):
    x, a = views(shape, seed)
    equal(xp.concat([x, x], axis=None), np.concatenate([a, a], axis=None))
    equal(xp.repeat(x, 3), np.repeat(a, 3))
    for axis in range(-a.ndim, a.ndim):
        equal(xp.concat((x, x, x), axis=axis), np.concatenate([a, a, a], axis))
        for times in (0, 2):
            equal(xp.repeat(x, times, axis=axis), np.repeat(a, times, axis))
        counts = [i % 3 for i in range(a.shape[axis])]
        repeats = xp.asarray(counts, dtype=xp.uint8)
        equal(xp.repeat(x, repeats, axis=axis), np.repeat(a, counts, axis))
    for axis in range(-a.ndim - 1, a.ndim + 1):
        equal(xp.stack([x, x], axis=axis), np.stack([a, a], axis))
    for counts in ((), (2,), (0, 1), (2, 1, 3), (2,) * a.ndim):
        equal(xp.tile(x, counts), np.tile(a, counts))
    one = xp.asarray([2])
    equal(xp.repeat(x, one), np.repeat(a, 2))


@all_shapes
@many_views
def test_rolled(shape, seed):
    x, a = views(shape, seed)
    for shift in (0, 1, -2, 10**20):
        equal(xp.roll(x, shift), np.roll(a, shift % (a.size or 1)))
        for axis in range(-a.ndim, a.ndim):
            places = shift % (a.shape[axis] or 1)
            equal(xp.roll(x, shift, axis=axis), np.roll(a, places, axis))
    if a.ndim > 1:
        equal(xp.roll(x, (1, -1), axis=(0, -1)), np.roll(a, (1, -1), (0, -1)))
        equal(xp.roll(x, 1, axis=(0, 1)), np.roll(a, 1, (0, 1)))


@pytest.mark.parametrize(
    ("shift", "axis"),
    [
        ((1, 2), (0, 0)),
        ((1, 2), [0, -2]),
        ([1, 2, -4], (1, 0, -1)),
        ((4, -4), (-1, 1)),
        ((10**20, 1), (0, 0)),
        (2, (0, -2)),
        (1, (1, 0, 1)),
    ],
)
def test_an_axis_that_is_named_twice_is_rolled_twice(shift, axis):
    a = np.arange(35).reshape(5, 7)
    wanted = a
    shifts = [shift] * len(axis) if type(shift) is int else shift
    for n, one in zip(shifts, axis, strict=True):
        wanted = np.roll(wanted, n % a.shape[one], one)
    equal(xp.roll(xp.from_dlpack(a), shift, axis=axis), wanted)


def test_rolled_once_more_along_one_axis():
    x = xp.arange(5)
    assert numpy(xp.roll(x, (1, 2), axis=(0, 0))).tolist() == [2, 3, 4, 0, 1]
    assert numpy(xp.roll(x, (2, -2), axis=(0, -1))).tolist() == [0, 1, 2, 3, 4]
    assert numpy(xp.roll(x, (7, -7), axis=(0, 0))).tolist() == [0, 1, 2, 3, 4]
    assert xp.roll(xp.zeros((0, 2)), (1, 2), axis=(0, 0)).shape == (0, 2)
    with pytest.raises(IndexError):
        xp.roll(x, (1, 2), axis=(0, 1))


@all_shapes
@many_views
def test_broadcast(shape, seed):
    x, a = views(shape, seed)
    for target in (a.shape, (3, *a.shape), (0, 1, *a.shape)):
        equal(xp.broadcast_to(x, target), np.broadcast_to(a, target))
    narrow = xp.expand_dims(x, -1)
    column = xp.arange(2)
    results = xp.broadcast_arrays(narrow, column)
    assert type(results) is tuple
    wanted = np.broadcast_arrays(a[..., None], np.arange(2))
    for result, right in zip(results, wanted, strict=True):
        equal(result, right)


def test_broadcast_shapes():
    assert xp.broadcast_shapes() == ()
    assert xp.broadcast_shapes((2, 1), (3,), ()) == (2, 3)
    assert xp.broadcast_shapes((0, 1), (1, 5)) == (0, 5)
    for shapes in (((2,), (3,)), ((0,), (2,))):
        with pytest.raises(ValueError, match="do not broadcast"):
            xp.broadcast_shapes(*shapes)
    with pytest.raises(TypeError):
        xp.broadcast_shapes((None,))
    with pytest.raises(ValueError, match="negative"):
        xp.broadcast_shapes((-1,))
    with pytest.raises(ValueError, match="does not broadcast to"):
        xp.broadcast_to(xp.ones((2, 3)), (3,))
    with pytest.raises(ValueError, match="does not broadcast to"):
        xp.broadcast_to(xp.ones((2, 3)), (1, 3))


def test_joining_promotes():
    for dtypes, result in (
        ((xp.uint8, xp.int8), xp.int16),
        ((xp.int8, xp.uint16, xp.uint8), xp.int32),
        ((xp.float32, xp.complex64), xp.complex64),
        ((xp.float64, xp.complex64), xp.complex128),
    ):
        arrays = [xp.ones(2, dtype=dtype) for dtype in dtypes]
        for joined in (
            xp.concat(arrays),
            xp.stack(arrays),
            xp.concat(arrays, axis=None),
        ):
            assert joined.dtype is result
            assert numpy(joined).all()


def test_shapes_that_do_not_fit():
    x, y = xp.ones((2, 3)), xp.ones((2, 4))
    for refused, message in (
        (lambda: xp.concat([x, y]), "agree elsewhere"),
        (lambda: xp.concat([x, x[0]]), "agree elsewhere"),
        (lambda: xp.stack([x, y]), "one shape"),
        (lambda: xp.reshape(x, (4,)), "cannot have shape"),
        (lambda: xp.squeeze(x, 0), "size 2"),
        (lambda: xp.permute_dims(x, (0,)), "all 2 axes"),
        (lambda: xp.moveaxis(x, (0, 1), 0), "as many"),
        (lambda: xp.repeat(x, xp.asarray([1, 2]), axis=1), "1 or 3 repeats"),
    ):
        with pytest.raises(ValueError, match=message):
            refused()
    for refused in (
        lambda: xp.concat([xp.asarray(1), xp.asarray(2)]),
        lambda: xp.stack([x, x], axis=3),
        lambda: xp.expand_dims(x, 3),
        lambda: xp.expand_dims(x, (0, 4)),
        lambda: xp.unstack(xp.asarray(1)),
    ):
        with pytest.raises(IndexError):
            refused()


def test_as_many_axes_as_there_can_be():
    a = np.arange(32).reshape((2,) * 5 + (1,) * 59)
    x = xp.from_dlpack(a)
    for axis in (None, 0, 63):
        equal(xp.repeat(x, 2, axis=axis), np.repeat(a, 2, axis=axis))
    counts = (2,) * 5 + (1,) * 58 + (3,)
    equal(xp.tile(x, counts), np.tile(a, counts))
    axes = tuple(range(64))
    equal(xp.roll(x, 1, axis=axes), np.roll(a, (1,) * 64, axis=axes))


def test_held_dtypes_move_but_do_not_join():
    half = np.arange(6, dtype="float16").reshape(2, 3)
    x = xp.from_dlpack(half)
    for moved, wanted in (
        (xp.reshape(x, (3, 2)), half.reshape(3, 2)),
        (xp.reshape(x.T, (6,)), half.T.reshape(6)),
        (xp.flip(xp.permute_dims(x, (1, 0))), np.flip(half.T)),
        (xp.broadcast_to(x, (2, 2, 3)), np.broadcast_to(half, (2, 2, 3))),
        (xp.take(x, xp.asarray([1]), axis=0), half[1:]),
    ):
        equal(moved, wanted)
    for refused in (
        lambda: xp.concat([x, x]),
        lambda: xp.roll(x, 1),
        lambda: xp.repeat(x, 2),
        lambda: xp.tile(x, (2,)),
    ):
        with pytest.raises(TypeError, match="float16"):
            refused()
