"""Elementwise functions in C, once they have a plan: against NumPy and Python."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import refarray as xp
from refarray._base.dtypes import BY_NAME, HELD, STANDARD
from refarray._base.layout import Unknown
from refarray._base.limits import IINFO
from refarray._compute import repairs
from refarray._compute.pipeline import ready
from refarray._memory.native import allocate, elementwise, join

CPU = xp.Device("cpu")
pytestmark = pytest.mark.usefixtures("unguarded")


def test_a_plan_stands_where_the_keys_of_dtypes_say() -> None:
    def fill(*operands: np.ndarray) -> None:
        np.copyto(operands[-1], True)

    for held in HELD:  # never computed with
        plan = {held.key: (fill, xp.bool)}
        assert elementwise(plan, allocate((2,), held, CPU, True)) is None
    assert list(BY_NAME.values()) == [*STANDARD, *HELD]
    for one in STANDARD:
        x = allocate((2,), one, CPU, True)
        assert elementwise({}, x) is None
        assert bool(xp.all(elementwise({one.key: (fill, xp.bool)}, x)))
        for two in STANDARD:
            y = allocate((2,), two, CPU, True)
            plans = {16 * one.key + two.key: (fill, xp.bool)}
            assert bool(xp.all(elementwise(plans, x, y)))
            plans = {256 * 15 + 16 * one.key + two.key: (fill, xp.bool)}
            assert bool(xp.all(elementwise(plans, 1.0, x, y)))


SHAPES = [(), (1,), (3,), (2, 1), (2, 3), (1, 3), (0,), (2, 0), (4, 2, 3), (1,) * 9]


@pytest.mark.parametrize(("one", "two"), [*itertools.product(SHAPES, repeat=2)])
def test_shapes_meet_as_numpys_do(one: tuple[int, ...], two: tuple[int, ...]) -> None:
    x, y = xp.ones(one), xp.ones(two)
    xp.add(xp.ones(1), xp.ones(1))
    try:
        wanted = np.broadcast_shapes(one, two)
    except ValueError:
        assert elementwise(ready["add"], x, y) is None
        with pytest.raises(ValueError, match="do not broadcast"):
            xp.add(x, y)
        return
    out = elementwise(ready["add"], x, y)
    assert out.shape == wanted
    assert np.array_equal(np.asarray(out), np.full(wanted, 2.0))


def test_what_is_left_to_python() -> None:
    x = xp.ones(3)
    xp.add(x, x)
    plans = ready["add"]
    unknown = allocate((Unknown(3),), xp.float64, CPU, True)
    for operands in (
        (x, 2**24 + 1),
        (-(2**63), x),
        (10**30, x),
        (x, True),
        (x, 1j),
        (x, np.float64(1)),
        (1.0, 1.0),
        (x, "x"),
        (x, xp.ones(2)),
        (x, unknown),
        (x, None),
        (None, x),
    ):
        assert elementwise(plans, *operands) is None
    with pytest.raises(TypeError, match=r"elementwise\(plans"):
        elementwise(x, x)  # type: ignore[arg-type]


def test_a_float_has_the_precision_of_the_array() -> None:
    x = xp.asarray([1.0, 2.0], dtype=xp.float32)
    for _ in range(2):  # with and without a plan
        for out in (x * 0.1, 0.1 * x):
            assert out.dtype is xp.float32
            assert np.array_equal(np.asarray(out), np.asarray(x) * np.float32(0.1))
        assert (x * 1e300).dtype is xp.float32
        assert bool(xp.all(xp.isinf(x * 1e300)))
        with pytest.raises(TypeError):
            xp.ones(2, dtype=xp.int32) * 0.5


@pytest.mark.parametrize("dtype", IINFO)
def test_an_integer_must_fit(dtype: xp.DType) -> None:
    x = xp.zeros(2, dtype=dtype)
    limits = xp.iinfo(dtype)
    for _ in range(2):  # without and with a plan
        for value in (limits.min, limits.max, 0, 1):
            for out in (xp.add(x, value), xp.add(value, x)):
                assert out.dtype is dtype
                assert int(out[0]) == value
        for value in (limits.min - 1, limits.max + 1, 10**30, -(10**30)):
            with pytest.raises(OverflowError, match="outside the range"):
                xp.add(x, value)
            assert elementwise(ready["add"], x, value) is None


def test_an_integer_beside_floating_point_numbers() -> None:
    for dtype in (xp.float32, xp.float64, xp.complex64, xp.complex128):
        x = xp.ones(2, dtype=dtype)
        for value in (3, 2**24, 2**24 + 1, 2**53 + 1, 2**70, -(2**100)):
            for _ in range(2):
                out = np.asarray(xp.multiply(x, value))
                assert out.dtype == np.asarray(x).dtype
                assert out.tolist() == [out.dtype.type(value)] * 2
        with pytest.raises(OverflowError):
            xp.multiply(x, 10**400)


def test_three_operands_meet() -> None:
    condition = xp.asarray([[True], [False]])
    x, y = xp.asarray([1.0, 2.0, 3.0]), xp.asarray([[[9.0]]])
    wanted = [[[1.0, 2.0, 3.0], [9.0, 9.0, 9.0]]]
    for _ in range(2):
        assert np.asarray(xp.where(condition, x, y)).tolist() == wanted
        assert np.asarray(xp.where(condition, x, 9.0)).tolist() == wanted[0]
        with pytest.raises(ValueError, match="do not broadcast"):
            xp.where(condition, x, xp.ones(2))
        with pytest.raises(TypeError, match="where takes"):
            xp.where(x, x, x)


def test_clip_is_numpys() -> None:
    x = xp.asarray([-1.0, 0.5, float("nan"), 7.0])
    for _ in range(2):
        for limits in ((0.0, 1.0), (0.0, float("nan")), (0.0, None), (None, 1.0)):
            wanted = np.clip(np.asarray(x), *limits)
            out = np.asarray(xp.clip(x, *limits))
            assert np.array_equal(out, wanted, equal_nan=True)
    assert isinstance(repairs.clip(), np.ufunc)
    assert repairs.clip().__name__ == "clip"


def test_arrays_alike_are_joined_as_numpys_are() -> None:
    for dtype, (one, two), axis in itertools.product(
        (xp.float64, xp.int8, xp.complex64),
        (((2, 3), (2, 3)), ((0, 3), (4, 3)), ((5,), (2,)), ((2, 3), (3, 3)), ((), ())),
        (0, 1, -1, -2, 2, -3),
    ):
        x, y = xp.ones(one, dtype=dtype), xp.zeros(two, dtype=dtype)
        try:
            wanted = np.concatenate([np.asarray(x), np.asarray(y)], axis=axis)
        except ValueError:
            assert join(np.concatenate, [x, y], axis) is None
            with pytest.raises((ValueError, IndexError)):
                xp.concat([x, y], axis=axis)
        else:
            out = join(np.concatenate, (x, y), axis)
            assert out.dtype is dtype
            assert np.array_equal(np.asarray(out), wanted)


def test_joining_that_is_left_to_python() -> None:
    x = xp.ones((2, 3))
    for arrays, axis in (
        ([], 0),
        ([x, xp.ones((2, 3), dtype=xp.float32)], 0),
        ([x, None], 0),
        ([x], None),
        ([x], True),
        ([x], 10**30),
        ([x], 1.0),
        (x, 0),
        (iter([x]), 0),
    ):
        assert join(np.concatenate, arrays, axis) is None


def test_integers_that_do_not_fit_are_refused_in_our_words() -> None:
    condition, x = xp.asarray([True, False]), xp.zeros((2,), dtype=xp.int8)
    for _ in range(2):  # the second time there is a plan
        for given in (5, 200):
            for x1, x2 in ((x, given), (given, x)):
                if given == 5:
                    assert xp.where(condition, x1, x2).dtype is xp.int8
                    continue
                with pytest.raises(OverflowError, match="200 is outside the range"):
                    xp.where(condition, x1, x2)


def test_of_two_integers_each_must_fit() -> None:
    x = xp.zeros((2,), dtype=xp.int8)
    plans = {256 * x.dtype.key + 16 * 14 + 14: (np.clip, xp.int8)}
    assert elementwise(plans, x, -1000, 5) is None
