"""Creation functions of integers: exact, however large the integers are."""

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest

import refarray as xp
from refarray import profiles

INTEGERS = (
    *(xp.int8, xp.int16, xp.int32, xp.int64),
    *(xp.uint8, xp.uint16, xp.uint32, xp.uint64),
)


def values(x):
    assert type(x) is xp.Array
    return np.asarray(memoryview(x)).tolist()


def test_arange_of_integers_rounds_each_element_once():
    start, step = 2**53 + 1, 2**40 + 1
    exact = [start + i * step for i in range(50)]
    for dtype, bits in ((xp.float64, 53), (xp.float32, 24), (xp.complex64, 24)):
        x = xp.arange(start, start + 50 * step, step, dtype=dtype)
        assert x.dtype is dtype
        assert values(x) == [rounded(n, bits) for n in exact]
    x = xp.arange(2**64 - 3, 2**64, dtype=xp.float32)
    assert values(x) == [2**64] * 3
    # Where no integer dtype holds the elements.
    assert values(xp.arange(0, 2**66, 2**65, dtype=xp.float64)) == [0, 2**65]
    assert values(xp.arange(-1, 2**64, 2**63, dtype=xp.float64))[::2] == [-1, 2**64]


def rounded(n: int, bits: int) -> int:
    """Return the nearest integer with that many significant bits, ties to even."""
    unit = 1 << max(0, n.bit_length() - bits)
    return round(Fraction(n, unit)) * unit


def test_full_of_large_integers():
    for value, dtype in (
        *((2**64 - 1, xp.uint64), (2**63, xp.uint64), (2**63 - 1, xp.int64)),
        *((-(2**63), xp.int64), (2**53 + 1, xp.int64)),
    ):
        x = xp.full(2, value, dtype=dtype)
        assert values(x) == values(xp.full_like(x, value)) == [value] * 2
    assert values(xp.full(1, 2**53 + 3, dtype=xp.float64)) == [2**53 + 4]


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("endpoint", [True, False])
def test_linspace_of_integers_is_exact(dtype, endpoint):
    low, high = xp.iinfo(dtype).min, xp.iinfo(dtype).max
    rng = random.Random(str(dtype))
    ends = [low, low + 1, 0, 1, high - 1, high, rng.randint(low, high)]
    for start, stop in itertools.product(ends, ends):
        for num in (0, 1, 2, 3, 7, 99):
            x = xp.linspace(start, stop, num, dtype=dtype, endpoint=endpoint)
            assert x.dtype is dtype
            assert values(x) == evenly(start, stop, num, endpoint), (start, stop, num)


def evenly(start: int, stop: int, num: int, endpoint: bool) -> list[int]:
    steps = max(1, num - 1 if endpoint else num)
    return [start + (stop - start) * i // steps for i in range(num)]


def test_linspace_of_many_integers_is_exact():
    for start, stop in ((0, 2**63 - 1), (2**63 - 1, -(2**63)), (2**60 + 1, 2**60 + 9)):
        x = values(xp.linspace(start, stop, 50_001, dtype=xp.int64))
        assert x == evenly(start, stop, 50_001, True)
    x = values(xp.linspace(2**64 - 1, 0, 50_001, dtype=xp.uint64))
    assert x == evenly(2**64 - 1, 0, 50_001, True)


def test_linspace_between_small_integers_is_exact():
    # 49 * (2 / 98) is below 1 in float64.
    for start, stop in ((0, 2), (0.0, 2.0), (True, 3)):
        x = values(xp.linspace(start, stop, 99, dtype=xp.int64))
        assert x == evenly(int(start), int(stop), 99, True)


def test_linspace_beyond_an_integer_dtype():
    for start, stop, dtype in (
        *((-400, 400, xp.int8), (400, -400, xp.uint8), (300, 400, xp.uint8)),
        *((-(2**70), 10**30, xp.int64), (2**70, -1, xp.uint64), (5, 5, xp.uint8)),
        (0, 10**400, xp.uint64),
    ):
        low, high = xp.iinfo(dtype).min, xp.iinfo(dtype).max
        wanted = [min(max(n, low), high) for n in evenly(start, stop, 23, True)]
        assert values(xp.linspace(start, stop, 23, dtype=dtype)) == wanted
        with profiles.use(mutable=False):  # asks for profiles from here on
            assert values(xp.linspace(start, stop, 23, dtype=dtype)) == wanted
