"""Shapes, axes, strides and broadcasting. Indexing: see `test_indexing.py`."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from refarray._base.layout import (
    MAX_NDIM,
    broadcast_shapes,
    check_shape,
    normalize_axes,
    normalize_axis,
    row_major_strides,
    size_of,
)

SHAPES = [
    shape for ndim in range(4) for shape in itertools.product((0, 1, 2, 3), repeat=ndim)
]


class Index:
    """An integer by `__index__` alone."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


@pytest.mark.parametrize(
    ("given", "shape"),
    [
        (3, (3,)),
        (0, (0,)),
        (Index(3), (3,)),
        (np.int64(3), (3,)),
        (np.asarray(3), (3,)),
        ((), ()),
        ([], ()),
        ((2, 0, 5), (2, 0, 5)),
        ([2, 3], (2, 3)),
        ((Index(2), np.uint8(3)), (2, 3)),
        ((2**62,), (2**62,)),
    ],
)
def test_check_shape(given: object, shape: tuple[int, ...]) -> None:
    result = check_shape(given)
    assert result == shape
    assert type(result) is tuple
    assert all(type(size) is int for size in result)


@pytest.mark.parametrize(
    "given",
    [True, (2, False), 2.0, (2, 3.0), "3", ("3",), b"3", None, (None,), ((2,),), {2}],
)
def test_check_shape_takes_integers_only(given: object) -> None:
    with pytest.raises(TypeError, match="the size of an axis is an integer, not"):
        check_shape(given)


def test_check_shape_limits() -> None:
    with pytest.raises(ValueError, match="size -1 of axis 1 is negative"):
        check_shape((2, -1))
    with pytest.raises(ValueError, match="negative"):
        check_shape(-1)
    assert check_shape((1,) * MAX_NDIM) == (1,) * 64
    with pytest.raises(ValueError, match="at most 64 axes, not 65"):
        check_shape([1] * 65)


def test_size_of() -> None:
    for shape in SHAPES:
        assert size_of(shape) == np.empty(shape).size


def test_normalize_axis_counts_like_a_list() -> None:
    for ndim in range(5):
        axes = list(range(ndim))
        for axis in range(-7, 8):
            try:
                expected = axes[axis]
            except IndexError:
                with pytest.raises(IndexError, match=f"axis {axis} is out of range"):
                    normalize_axis(axis, ndim)
            else:
                assert normalize_axis(axis, ndim) == expected
                assert normalize_axis(Index(axis), ndim) == expected


def test_normalize_axis_says_what_is_allowed() -> None:
    with pytest.raises(IndexError, match="allowed: -2 to 1"):
        normalize_axis(2, 2)
    with pytest.raises(IndexError, match="there are no axes"):
        normalize_axis(0, 0)
    for axis in (True, 1.0, "1", None, (1,)):
        with pytest.raises(TypeError, match="an axis is an integer, not"):
            normalize_axis(axis, 2)


def test_normalize_axes() -> None:
    assert normalize_axes(None, 3) == (0, 1, 2)
    assert normalize_axes(None, 0) == ()
    assert normalize_axes((), 3) == ()
    assert normalize_axes(-1, 3) == (2,)
    assert normalize_axes((-1, 0), 3) == (2, 0)
    with pytest.raises(ValueError, match="name an axis twice"):
        normalize_axes((0, -3), 3)
    with pytest.raises(IndexError):
        normalize_axes((0, 3), 3)
    for axes in ([0, 1], True, 1.0, "01", (True,), (0, None)):
        with pytest.raises(TypeError):
            normalize_axes(axes, 3)


def test_row_major_strides() -> None:
    for shape in SHAPES:
        # The distance between neighbours along an axis is all that lies inside it.
        expected = tuple(
            math.prod(max(n, 1) for n in shape[axis + 1 :])
            for axis in range(len(shape))
        )
        assert row_major_strides(shape) == expected
        if 0 not in shape:
            byte_strides = np.empty(shape, dtype=np.int8).strides
            assert row_major_strides(shape) == byte_strides


# Array API 2025.12, broadcasting, examples.
@pytest.mark.parametrize(
    ("shapes", "result"),
    [
        ([(8, 1, 6, 1), (7, 1, 5)], (8, 7, 6, 5)),
        ([(5, 4), (1,)], (5, 4)),
        ([(5, 4), (4,)], (5, 4)),
        ([(15, 3, 5), (15, 1, 5)], (15, 3, 5)),
        ([(15, 3, 5), (3, 5)], (15, 3, 5)),
        ([(15, 3, 5), (3, 1)], (15, 3, 5)),
        ([], ()),
        ([()], ()),
        ([(2, 3)], (2, 3)),
    ],
)
def test_broadcast_examples(
    shapes: list[tuple[int, ...]], result: tuple[int, ...]
) -> None:
    assert broadcast_shapes(*shapes) == result
    assert broadcast_shapes(*reversed(shapes)) == result


@pytest.mark.parametrize(
    "shapes",
    [[(3,), (4,)], [(2, 1), (8, 4, 3)], [(15, 3, 5), (15, 3)], [(2,), (1,), (3,)]],
)
def test_shapes_that_do_not_broadcast(shapes: list[tuple[int, ...]]) -> None:
    with pytest.raises(ValueError, match="do not broadcast"):
        broadcast_shapes(*shapes)


def test_broadcast_error_names_shapes_sizes_and_axis() -> None:
    with pytest.raises(
        ValueError, match=r"\(2, 1\) and \(8, 4, 3\).* 4 .* 2 .*axis -2"
    ):
        broadcast_shapes((2, 1), (8, 4, 3))


def test_broadcast_pairs_are_numpys() -> None:
    for shape1, shape2 in itertools.product(SHAPES, SHAPES):
        try:
            expected = np.broadcast_shapes(shape1, shape2)
        except ValueError:
            with pytest.raises(ValueError, match="do not broadcast"):
                broadcast_shapes(shape1, shape2)
        else:
            assert broadcast_shapes(shape1, shape2) == expected


def test_broadcast_triples_are_numpys() -> None:
    for shapes in itertools.product(SHAPES[:21], repeat=3):
        try:
            expected = np.broadcast_shapes(*shapes)
        except ValueError:
            with pytest.raises(ValueError, match="do not broadcast"):
                broadcast_shapes(*shapes)
        else:
            assert broadcast_shapes(*shapes) == expected
