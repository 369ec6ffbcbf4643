"""Data type functions where the standard leaves a choice.

The table: docs/reference/unspecified.md.
"""

import math

import numpy as np
import pytest

import refarray as xp

INTEGERS = tuple(xp.__array_namespace_info__().dtypes(kind="integral").values())


def values(x):
    return np.from_dlpack(x).tolist()


@pytest.mark.parametrize("old", [xp.float32, xp.float64])
@pytest.mark.parametrize("new", INTEGERS)
def test_real_numbers_beyond_an_integer_dtype(old, new):
    limits = xp.iinfo(new)
    given = [math.nan, -math.inf, math.inf, -1e30, 1e30, limits.max + 1, 1.75]
    low, high = limits.min, limits.max
    wanted = [low, low, high, low, high, high, 1]
    x = xp.asarray(given, dtype=old)
    assert values(xp.astype(x, new)) == wanted
    assert values(xp.astype(x[::-1], new)) == wanted[::-1]
    for one, expected in zip(given, wanted, strict=True):
        assert values(xp.astype(xp.asarray(one, dtype=old), new)) == expected


@pytest.mark.parametrize("new", [xp.int8, xp.uint8, xp.int32, xp.uint64])
def test_integers_beyond_an_integer_dtype_wrap_around(new):
    x = xp.asarray([-1, -129, 2**40 + 3], dtype=xp.int64)
    modulus = 2**new.bits
    for came, given in zip(values(xp.astype(x, new)), values(x), strict=True):
        assert (came - given) % modulus == 0


def test_real_numbers_beyond_float32():
    x = xp.asarray([1e300, -1e300, 1e-300])
    assert values(xp.astype(x, xp.float32)) == [math.inf, -math.inf, 0]


@pytest.mark.parametrize(
    "mixture",
    [
        (xp.int8, xp.float32),
        (xp.bool, xp.int8),
        (xp.int64, xp.uint64),
        (xp.int8, 1.0),
        (xp.bool, 1),
        (xp.float64, True),
    ],
)
def test_kinds_have_no_common_dtype(mixture):
    with pytest.raises(TypeError, match="promotion"):
        xp.result_type(*mixture)


@pytest.mark.parametrize("arguments", [(), (1,), (1, 2.0)])
def test_scalars_alone_have_no_dtype(arguments):
    with pytest.raises(ValueError, match="at least one"):
        xp.result_type(*arguments)


def test_unknown_kinds_are_errors():
    with pytest.raises(ValueError, match="integer"):
        xp.isdtype(xp.int8, "integer")
    with pytest.raises(ValueError, match="integer"):
        xp.__array_namespace_info__().dtypes(kind="integer")
