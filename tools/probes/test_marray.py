"""marray: masked arrays over any namespace."""

import marray

import refarray as xp

mxp = marray.masked_namespace(xp)


def values(x):
    assert isinstance(x, xp.Array)
    return memoryview(x).tolist()


def test_masked_elements_take_no_part():
    x = mxp.asarray([1.0, 2.0, 6.0], mask=xp.asarray([False, True, False]))
    assert values(mxp.sum(x).data) == 7
    assert values(mxp.mean(x).data) == 3.5
    assert values(mxp.max(x).data) == 6


def test_masks_combine():
    x = mxp.asarray([1, 2, 3], mask=xp.asarray([False, True, False]))
    y = mxp.asarray([1, 2, 3], mask=xp.asarray([False, False, True]))
    total = x + y
    assert values(total.mask) == [False, True, True]
    assert values(total.data[0]) == 2


def test_text_shows_the_mask():
    x = mxp.asarray([1, 2, 3], mask=xp.asarray([False, True, False]))
    assert repr(x) == (
        "MArray(\n    Array([1, _, 3], dtype=refarray.int64),\n"
        "    Array([False,  True, False], dtype=refarray.bool)\n)"
    )
