"""Statistical and utility functions: what the value suite leaves out.

Right values are the standard's or mathematics.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import refarray as xp

REDUCTIONS = [xp.sum, xp.prod, xp.mean, xp.std, xp.var, xp.max, xp.min, xp.all, xp.any]


def values(x: Any) -> Any:
    return np.from_dlpack(x).tolist()


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_axes_and_shapes(reduction: Callable[..., Any]) -> None:
    x = xp.ones((2, 3, 4))
    assert reduction(x).shape == ()
    assert reduction(x, keepdims=True).shape == (1, 1, 1)
    assert reduction(x, axis=-1).shape == (2, 3)
    assert reduction(x, axis=(0, -1), keepdims=True).shape == (1, 3, 1)
    assert reduction(x, axis=()).shape == (2, 3, 4)
    assert reduction(xp.ones(()), axis=()).shape == ()
    for axis, error in ((3, IndexError), ((0, 0), ValueError), (1.0, TypeError)):
        with pytest.raises(error):
            reduction(x, axis=axis)
    with pytest.raises(TypeError):
        reduction([1.0, 2.0])


@pytest.mark.parametrize(
    "reduction",
    [*REDUCTIONS, xp.count_nonzero, xp.linalg.vector_norm, xp.linalg.matrix_norm],
)
def test_keepdims_is_read_as_true_or_false(reduction: Callable[..., Any]) -> None:
    """In every reduction alike; NumPy's kernels take some of these, and not others."""
    x = xp.ones((2, 3))
    for no in (0, 0.0, "", [], None):
        assert reduction(x, keepdims=no).shape == ()
    for yes in (2, 0.5, "yes", [0], 10**30):
        assert reduction(x, keepdims=yes).shape == (1, 1)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_small_integers_are_summed_in_64_bits(dtype: str) -> None:
    for name, wanted in ((dtype, xp.int64), (f"u{dtype}", xp.uint64)):
        x = xp.full((300,), 127, dtype=getattr(xp, name))
        assert xp.sum(x).dtype is wanted
        assert values(xp.sum(x)) == 300 * 127
        assert xp.cumulative_sum(x).dtype is xp.prod(x).dtype is wanted
        assert xp.sum(x, dtype=x.dtype).dtype is x.dtype


def test_dtype_of_a_sum_is_that_of_its_elements() -> None:
    x = xp.asarray([1.75, 2.75])
    assert values(xp.sum(x, dtype=xp.int32)) == 3
    assert xp.sum(xp.asarray([1, 2]), dtype=xp.float32).dtype is xp.float32
    with pytest.raises(TypeError, match="complex128"):
        xp.sum(xp.asarray([1j]), dtype=xp.float64)
    with pytest.raises(TypeError, match="bool"):
        xp.sum(x, dtype=xp.bool)
    with pytest.raises(TypeError, match="float64"):
        xp.sum(x, dtype="float64")  # type: ignore[arg-type]


def test_parts_of_a_complex_mean_are_means() -> None:
    came = values(xp.mean(xp.asarray([complex(1, math.nan), complex(3, 1)])))
    assert came.real == 2
    assert math.isnan(came.imag)


@pytest.mark.parametrize("correction", [3, 4, 3.5])
def test_no_variance_without_degrees_of_freedom(correction: float) -> None:
    x = xp.asarray([1.0, 2.0, 4.0])
    assert math.isnan(float(xp.var(x, correction=correction)))
    assert math.isnan(float(xp.std(x, correction=correction)))


def test_accumulation_starts_with_the_identity() -> None:
    x = xp.asarray([[1, 2], [3, 4]], dtype=xp.int16)
    assert values(xp.cumulative_sum(x, axis=0, include_initial=True)) == [
        [0, 0],
        [1, 2],
        [4, 6],
    ]
    assert values(xp.cumulative_prod(x, axis=-1, include_initial=True)) == [
        [1, 1, 2],
        [1, 3, 12],
    ]
    with pytest.raises(ValueError, match="axis"):
        xp.cumulative_sum(x)


def test_differences() -> None:
    x = xp.asarray([1, 4, 9, 16])
    assert values(xp.diff(x)) == [3, 5, 7]
    assert values(xp.diff(x, n=2)) == [2, 2]
    assert values(xp.diff(x, prepend=xp.asarray([0]), append=xp.asarray([25]))) == [
        1,
        3,
        5,
        7,
        9,
    ]
    rows = xp.asarray([[1, 2], [4, 8]])
    assert values(xp.diff(rows, axis=0)) == [[3, 6]]
    with pytest.raises(ValueError, match="n from 0 up"):
        xp.diff(x, n=-1)
    with pytest.raises(TypeError):
        xp.diff(x, n=1.0)  # type: ignore[arg-type]
