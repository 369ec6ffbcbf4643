"""Elementwise functions in C, once they have a plan: against NumPy and Python."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import refarray as xp
from refarray._base.dtypes import BY_NAME
from refarray._base.layout import Unknown
from refarray._compute.pipeline import _ready
from refarray._memory.native import allocate, elementwise

CPU = xp.Device("cpu")


def test_a_plan_stands_where_the_key_of_its_dtype_says() -> None:
    for dtype in BY_NAME.values():
        plans: list[object] = [None] * 256
        plans[dtype.key] = (np.positive, xp.bool)
        x = allocate((2,), dtype, CPU, True)
        assert elementwise([None] * 256, x) is None
        kernel = (lambda _, out: np.copyto(out, True), xp.bool)
        plans[dtype.key] = kernel
        assert xp.all(elementwise(plans, x))  # type: ignore[arg-type]
        for other in BY_NAME.values():
            plans = [None] * 256
            plans[16 * dtype.key + other.key] = (
                lambda _, __, out: np.copyto(out, True),
                xp.bool,
            )
            y = allocate((2,), other, CPU, True)
            assert xp.all(elementwise(plans, x, y))  # type: ignore[arg-type]


SHAPES = [(), (1,), (3,), (2, 1), (2, 3), (1, 3), (0,), (2, 0), (4, 2, 3), (1,) * 9]


@pytest.mark.parametrize(("one", "two"), [*itertools.product(SHAPES, repeat=2)])
def test_shapes_meet_as_numpys_do(one: tuple[int, ...], two: tuple[int, ...]) -> None:
    x, y = xp.ones(one), xp.ones(two)
    xp.add(xp.ones(1), xp.ones(1))
    try:
        wanted = np.broadcast_shapes(one, two)
    except ValueError:
        assert elementwise(_ready["add"], x, y) is None
        with pytest.raises(ValueError, match="do not broadcast"):
            xp.add(x, y)
        return
    out = elementwise(_ready["add"], x, y)
    assert out.shape == wanted
    assert np.array_equal(np.asarray(out), np.full(wanted, 2.0))


def test_what_is_left_to_python() -> None:
    x = xp.ones(3)
    xp.add(x, x)
    plans = _ready["add"]
    unknown = allocate((Unknown(3),), xp.float64, CPU, True)
    for operands in (
        (x, 1),
        (1, x),
        (x, True),
        (x, 1j),
        (x, np.float64(1)),
        (1.0, 1.0),
        (x, xp.ones(3, dtype=xp.float32) if plans[10 * 16 + 9] is None else "x"),
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
