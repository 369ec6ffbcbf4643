"""Elementwise functions where the standard leaves a choice.

The table: docs/reference/unspecified.md.
"""

import math

import numpy as np
import pytest

import refarray as xp

SIGNED = (xp.int8, xp.int16, xp.int32, xp.int64)
UNSIGNED = (xp.uint8, xp.uint16, xp.uint32, xp.uint64)
INF, NAN = math.inf, math.nan


def values(x):
    return np.from_dlpack(x).tolist()


@pytest.mark.parametrize("dtype", [xp.float64, xp.complex128])
@pytest.mark.parametrize("scalar", [np.float64(2.5), np.complex128(2.5j)])
def test_numpy_scalars_that_are_python_scalars(dtype, scalar):
    x = xp.asarray([2.0, -1.0], dtype=dtype)
    expected = np.asarray(values(x)) * scalar
    for came in (x * scalar, scalar * x, xp.multiply(x, scalar)):
        assert isinstance(came, xp.Array)
        assert str(came.dtype) == str(expected.dtype)
        assert values(came) == expected.tolist()


# The first two would widen in NumPy, and do not by the standard's rule.
@pytest.mark.parametrize(
    ("dtype", "scalar"),
    [
        (xp.float32, np.float64(2)),
        (xp.complex64, np.float64(2)),
        (xp.float64, np.float32(2)),
        (xp.int64, np.int64(2)),
        (xp.bool, np.bool(True)),
    ],
)
def test_other_numpy_scalars_are_refused(dtype, scalar):
    x = xp.ones((2,), dtype=dtype)
    for call in (lambda: x == scalar, lambda: scalar == x, lambda: xp.equal(x, scalar)):
        with pytest.raises(TypeError, match=r"item\(\)"):
            call()


@pytest.mark.parametrize("dtype", SIGNED + UNSIGNED)
def test_integers_wrap_around(dtype):
    limits = xp.iinfo(dtype)
    least, greatest = (
        xp.asarray([limits.min], dtype=dtype),
        xp.asarray([limits.max], dtype=dtype),
    )
    assert values(greatest + 1) == [limits.min]
    assert values(least - 1) == [limits.max]
    assert values(greatest * 2) == [-2 if dtype in SIGNED else limits.max - 1]
    assert values(xp.square(greatest)) == values(greatest**2) == [1]
    if dtype in SIGNED:
        assert values(-least) == values(abs(least)) == [limits.min]
    else:
        assert values(-(least + 1)) == [limits.max]


@pytest.mark.parametrize("dtype", SIGNED + UNSIGNED)
def test_integers_divided_by_zero_give_zero(dtype):
    x = xp.asarray([0, 1, xp.iinfo(dtype).max, xp.iinfo(dtype).min], dtype=dtype)
    assert values(x // 0) == values(x // xp.zeros_like(x)) == [0] * 4
    assert values(x % 0) == values(x % xp.zeros_like(x)) == [0] * 4


@pytest.mark.parametrize("dtype", SIGNED)
def test_the_least_integer_divided_by_minus_one(dtype):
    least = xp.asarray([xp.iinfo(dtype).min], dtype=dtype)
    assert values(least // -1) == [xp.iinfo(dtype).min]
    assert values(least % -1) == [0]


@pytest.mark.parametrize("dtype", SIGNED)
def test_shifts_beyond_the_width(dtype):
    x = xp.asarray([5, -5], dtype=dtype)
    for places in (dtype.bits, 100, -1, -100):
        by = xp.full((2,), places, dtype=dtype)
        assert values(x << by) == values(x << places) == [0, 0]
        assert values(x >> by) == values(x >> places) == [0, -1]


@pytest.mark.parametrize("dtype", UNSIGNED)
def test_unsigned_shifts_beyond_the_width(dtype):
    x = xp.asarray([5, 255], dtype=dtype)
    for places in (dtype.bits, 100):
        assert values(x << places) == values(x >> places) == [0, 0]


@pytest.mark.parametrize("dtype", SIGNED)
def test_integers_to_negative_powers(dtype):
    x = xp.asarray([1, 2], dtype=dtype)
    for power in (-1, xp.asarray([3, -1], dtype=dtype)):
        with pytest.raises(ValueError, match="negative"):
            x**power


FLOATING = (
    "acos acosh asin asinh atan atanh cos cosh exp expm1 log log10 log1p log2 "
    "reciprocal sin sinh sqrt tan tanh"
).split()


@pytest.mark.parametrize("name", FLOATING)
def test_floating_point_functions_refuse_integers(name):
    with pytest.raises(TypeError, match="floating-point"):
        getattr(xp, name)(xp.asarray([1]))


def test_division_refuses_integers():
    x = xp.asarray([4])
    for call in (lambda: x / x, lambda: x / 2, lambda: 2 / x, lambda: xp.divide(x, x)):
        with pytest.raises(TypeError, match="divide"):
            call()


def test_kinds_do_not_mix():
    x, y = xp.asarray([1]), xp.asarray([1.0])
    for call in (lambda: x + y, lambda: x == y, lambda: x + 1.0, lambda: x < True):
        with pytest.raises(TypeError, match="promotion"):
            call()
    with pytest.raises(TypeError, match="promotion"):
        xp.less(xp.asarray([1], dtype=xp.uint64), x)


def test_complex_numbers_have_no_order():
    z = xp.asarray([1j])
    for name in (
        "less",
        "less_equal",
        "greater",
        "greater_equal",
        "maximum",
        "minimum",
    ):
        with pytest.raises(TypeError, match=name):
            getattr(xp, name)(z, z)


def test_floor_division_by_infinity_rounds_the_quotient():
    came = values(xp.asarray([-3.0, INF]) // xp.asarray([INF, 3.0]))
    assert came == [0.0, INF]
    assert math.copysign(1, came[0]) == -1


def test_clip_between_limits_in_the_wrong_order():
    assert values(xp.clip(xp.asarray([1, 5, 9]), 7, 3)) == [3, 3, 3]


def test_clip_with_integers_beyond_the_dtype():
    x = xp.asarray([-100, 100], dtype=xp.int8)
    assert values(xp.clip(x, -1000, 1000)) == [-100, 100]
    for limits in ((1000, None), (None, -1000)):
        with pytest.raises(OverflowError, match="int8"):
            xp.clip(x, *limits)


def test_clip_with_limits_of_another_dtype():
    x = xp.asarray([-100, 100], dtype=xp.int16)
    assert values(xp.clip(x, xp.asarray(-5, dtype=xp.int8))) == [-5, 100]
    with pytest.raises(TypeError, match="clip"):
        xp.clip(x, xp.asarray(-5, dtype=xp.int32))


def test_one_of_two_zeros():
    for f in (xp.maximum, xp.minimum):
        assert values(f(xp.asarray([-0.0]), xp.asarray([0.0]))) == [0.0]


def test_nextafter_in_the_dtype_of_promotion():
    came = xp.nextafter(xp.ones(1, dtype=xp.float32), xp.zeros(1))
    assert came.dtype is xp.float64
    assert values(came) == [1 - 2.0**-53]


def test_infinite_complex_numbers():
    assert values(xp.sign(xp.asarray([complex(-INF, 3), complex(2, INF)]))) == [-1, 1j]
    product = values(xp.asarray([complex(INF, 1)]) * xp.asarray([complex(2, 0)]))[0]
    assert product.real == INF
    assert math.isnan(product.imag)


def test_results_share_no_memory():
    x = xp.ones((2,))
    for f in (xp.real, xp.conj, xp.positive, xp.clip):
        y = f(x)
        y[...] = 7.0
        assert values(x) == [1.0, 1.0]
