"""Manipulation functions where the standard leaves a choice.

The table: docs/reference/unspecified.md.
"""

import numpy as np
import pytest

import refarray as xp


def values(x):
    return np.asarray(memoryview(x)).tolist()


VIEWS = (
    lambda x: xp.permute_dims(x, (2, 0, 1)),
    lambda x: xp.moveaxis(x, 0, 2),
    lambda x: xp.expand_dims(x, (0, 2)),
    lambda x: xp.squeeze(x, 1),
    lambda x: xp.flip(x),
    lambda x: xp.unstack(x, axis=2)[1],
    lambda x: xp.reshape(x, (-1,)),
    lambda x: xp.reshape(xp.permute_dims(x, (1, 0, 2)), (2, 3)),
    lambda x: xp.reshape(x[:, :, ::-1], (2, 1, 1, 3)),
)


@pytest.mark.parametrize("function", VIEWS)
def test_views_share_memory(function):
    x = xp.reshape(xp.arange(6), (2, 1, 3))
    y = function(x)
    y[...] = 7
    assert 7 in np.asarray(memoryview(x))
    assert np.count_nonzero(np.asarray(memoryview(x)) == 7) == y.size


def test_reshape_copies_what_strides_cannot_express():
    x = xp.reshape(xp.arange(6), (2, 3))
    y = xp.reshape(x.T, (6,))
    y[...] = 7
    assert values(x) == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(ValueError, match="copy=False"):
        xp.reshape(x.T, (6,), copy=False)


def test_broadcast_views_are_read_only():
    x = xp.ones((2, 1))
    same = xp.ones((2, 3))
    for y in (xp.broadcast_to(x, (2, 3)), xp.broadcast_arrays(x, same)[0]):
        with pytest.raises(ValueError, match="read-only"):
            y[0, 0] = 2
        flags = {field.name: field.value for field in xp.dlpack.inspect(y).fields}
        assert "READ_ONLY" in flags["flags"]
        assert not np.from_dlpack(y).flags.writeable
        assert memoryview(y).readonly
    x[0, 0] = 5
    assert values(y) == [[5] * 3, [1] * 3]
    with pytest.raises(ValueError, match="read-only"):
        xp.broadcast_to(same, (2, 3))[0, 0] = 1
    assert xp.broadcast_arrays(x, same)[1] is same


def test_reshape_without_one_answer():
    x = xp.ones((0, 3))
    with pytest.raises(ValueError, match="cannot have shape"):
        xp.reshape(x, (0, -1))
    assert xp.reshape(x, (-1, 3)).shape == (0, 3)
    for wrong in ((-1, -1), (-2,), (4, -1)):
        with pytest.raises(ValueError):
            xp.reshape(xp.ones(6), wrong)


def test_joining_mixed_kinds():
    x = xp.ones(2)
    for other in (xp.ones(2, dtype=xp.int64), xp.ones(2, dtype=xp.bool)):
        for function in (xp.concat, xp.stack):
            with pytest.raises(TypeError, match="no common dtype"):
                function([x, other])


def test_joining_nothing():
    for function in (xp.concat, xp.stack):
        for nothing in ([], ()):
            with pytest.raises(ValueError, match="at least one"):
                function(nothing)
        with pytest.raises(TypeError, match="tuple or list"):
            function(xp.ones((2, 2)))
        with pytest.raises(TypeError, match="asarray"):
            function([np.ones(2), np.ones(2)])


def test_negative_repetitions():
    x = xp.ones(2)
    for refused in (
        lambda: xp.repeat(x, -1),
        lambda: xp.repeat(x, xp.asarray([1, -1])),
        lambda: xp.tile(x, (-1,)),
    ):
        with pytest.raises(ValueError, match="repetitions from 0 up"):
            refused()


def test_repeats_whose_sum_overflows():
    # In int64 these add up to 2: a kernel that trusts the sum writes past its memory.
    repeats = xp.asarray([2**63 - 1, 2**63 - 1, 4])
    for x, counts in (
        (xp.ones(3), repeats),
        (xp.ones(3), xp.asarray([2**62])),
        (xp.ones((0, 3)), xp.asarray([2**64 - 1], dtype=xp.uint64)),
    ):
        with pytest.raises(ValueError):
            xp.repeat(x, counts, axis=-1)


def test_repeats_without_dimensions():
    assert values(xp.repeat(xp.arange(2), xp.asarray(2))) == [0, 0, 1, 1]
    assert values(xp.repeat(xp.arange(2), np.int8(2))) == [0, 0, 1, 1]
    for wrong in (True, 1.0, xp.asarray(1.0), None):
        with pytest.raises(TypeError, match="integer"):
            xp.repeat(xp.arange(2), wrong)


def test_tile_by_an_integer():
    assert values(xp.tile(xp.asarray([[0, 1]]), 2)) == [[0, 1, 0, 1]]


def test_several_shifts_of_all_elements():
    with pytest.raises(ValueError, match="one shift"):
        xp.roll(xp.ones((2, 2)), (1, 1))
    with pytest.raises(ValueError, match="one shift"):
        xp.roll(xp.ones((2, 2)), (1, 1), axis=0)


def test_roll_along_an_axis_that_is_named_twice():
    assert values(xp.roll(xp.arange(5), (1, 2), axis=(0, -1))) == [2, 3, 4, 0, 1]
