"""Basic indexing, against Python lists (one axis) and NumPy views (many)."""

from __future__ import annotations

import itertools
import random
from types import EllipsisType
from typing import TypeAlias

import numpy as np
import pytest

from refarray import Device, int8
from refarray._base.layout import MAX_NDIM, Shape, Strides, Unknown
from refarray._memory.native import allocate, select, view

Item: TypeAlias = int | slice | EllipsisType | None
Key: TypeAlias = Item | tuple[Item, ...]

HUGE = 10**30


def layout(
    key: object, shape: Shape, strides: Strides
) -> tuple[int, Shape, Strides] | None:
    """Offset, shape and strides of the view that `key` selects; None for no view.

    Of bytes, so that all are in elements. The offset is that of the first element from
    the first one of the whole; 0 for a view without elements.
    """
    reach = [(n - 1) * stride for n, stride in zip(shape, strides, strict=True) if n]
    before = -sum(step for step in reach if step < 0)
    after = sum(step for step in reach if step > 0)
    memory = allocate((before + after + 1,), int8, Device("cpu"), False)
    whole = view(memory, before, shape, strides, False)
    selected = select(whole, key)
    if selected is None:
        return None
    offset = selected._byte_offset - whole._byte_offset if selected._size else 0
    return offset, selected._shape, selected._strides


def basic(key: object, shape: Shape, strides: Strides) -> tuple[int, Shape, Strides]:
    """The same for a key that must be basic."""
    found = layout(key, shape, strides)
    assert found is not None
    return found


# One axis ----------------------------------------------------------------------------


def test_integers_select_as_on_a_list() -> None:
    for size in range(6):
        for stride in (1, 3, -2):
            elements = [i * stride for i in range(size)]
            for i in (*range(-8, 9), HUGE, -HUGE):
                for key in (i, (i,)):
                    try:
                        expected = elements[i]
                    except IndexError:
                        message = f"index {i} is outside axis 0 of size {size}"
                        with pytest.raises(IndexError, match=message):
                            layout(key, (size,), (stride,))
                    else:
                        assert layout(key, (size,), (stride,)) == (expected, (), ())


def test_slices_select_as_on_a_list() -> None:
    ends = (None, *range(-7, 8), HUGE, -HUGE)
    steps = (None, 1, 2, 3, 9, HUGE, -1, -2, -3, -9, -HUGE)
    for size, stride in itertools.product(range(6), (1, -4)):
        elements = [i * stride for i in range(size)]
        for key in itertools.starmap(slice, itertools.product(ends, ends, steps)):
            offset, (n,), (step,) = basic(key, (size,), (stride,))
            assert [offset + i * step for i in range(n)] == elements[key]
            assert (offset, (n,), (step,)) == layout((key,), (size,), (stride,))
            # An empty view points nowhere else, and every stride fits into 64 bits.
            assert offset == 0 or n > 0
            assert abs(step) < 2**63


def test_slice_with_step_zero() -> None:
    for key in (slice(None, None, 0), (slice(1, 2, 0),)):
        with pytest.raises(ValueError, match="step cannot be zero"):
            layout(key, (3,), (1,))


def test_slices_take_integers_only() -> None:
    for end in (1.0, "1"):
        with pytest.raises(TypeError, match="slice indices must be integers"):
            layout(slice(end), (3,), (1,))


# Many axes ---------------------------------------------------------------------------


def random_array(rng: random.Random) -> np.ndarray:
    """An array of bytes, with steps, gaps and negative strides."""
    ndim = rng.randrange(5)
    shape = tuple(rng.choice((0, 1, 2, 3, 4, 5, 6)) for _ in range(ndim))
    array = np.empty(shape, dtype=np.int8)
    array = array.transpose(rng.sample(range(ndim), ndim))
    keys = (slice(None), slice(None, None, 2), slice(None, None, -1), slice(1, None))
    view: np.ndarray = array[(*(rng.choice(keys) for _ in range(ndim)), ...)]
    return view


def random_key(rng: random.Random, shape: Shape) -> tuple[Item, ...]:
    """A key with mostly valid items, at times too many or too few."""
    items: list[Item] = []
    for size in shape:
        kind = rng.random()
        if kind < 0.4 and size:
            items.append(rng.randrange(-size, size))
        elif kind < 0.43:
            items.append(rng.choice((size, -size - 1)))
        else:
            start = rng.choice((None, rng.randint(-size - 1, size + 1)))
            stop = rng.choice((None, rng.randint(-size - 1, size + 1)))
            items.append(slice(start, stop, rng.choice((None, 1, 2, 3, -1, -2))))
    if rng.random() < 0.1:
        items.append(0)
    if rng.random() < 0.5:
        first = rng.randint(0, len(items))
        items[first : first + rng.randrange(3)] = [...]
    elif rng.random() < 0.4:
        del items[rng.randint(0, len(items)) :]
    for _ in range(rng.choice((0, 0, 1, 2))):
        items.insert(rng.randint(0, len(items)), None)
    return tuple(items)


def test_views_are_numpys() -> None:
    rng = random.Random(20252)
    views = errors = 0
    for _ in range(5000):
        array = random_array(rng)
        key = random_key(rng, array.shape)
        # With an ellipsis NumPy gives a 0-d array where it would give a scalar.
        numpy_key = key if ... in key else (*key, ...)
        try:
            expected = array[numpy_key]
        except IndexError:
            with pytest.raises(IndexError):
                layout(key, array.shape, array.strides)
            errors += 1
            continue
        offset, shape, strides = basic(key, array.shape, array.strides)
        assert shape == expected.shape
        if expected.size:
            assert offset == expected.ctypes.data - array.ctypes.data
            for size, stride, wanted in zip(
                shape, strides, expected.strides, strict=True
            ):
                assert stride == wanted or size == 1
        else:
            assert offset == 0
        views += 1
        if len(key) == 1:
            assert layout(key[0], array.shape, array.strides) == (
                offset,
                shape,
                strides,
            )
    assert views > 3000
    assert errors > 300


@pytest.mark.parametrize("key", [(), ..., (...,), (slice(None),), slice(None)])
def test_keys_that_select_everything(key: object) -> None:
    assert layout(key, (2, 3), (7, -2)) == (0, (2, 3), (7, -2))
    if key in ((), ..., (...,)):
        assert layout(key, (), ()) == (0, (), ())


def test_none_adds_an_axis() -> None:
    assert layout(None, (), ()) == (0, (1,), (1,))
    key = (None, 1, None, slice(1, None), None)
    assert layout(key, (2, 3), (3, 1)) == (4, (1, 1, 2, 1), (2, 2, 1, 1))


class Index:
    """An integer by `__index__` alone."""

    def __index__(self) -> int:
        return 2


def test_an_integer_is_what_has_an_index() -> None:
    for i in (Index(), np.int64(2), np.uint8(2)):
        assert layout(i, (3,), (5,)) == (10, (), ())
        assert layout((slice(None), i), (3, 3), (3, 1)) == (2, (3,), (3,))
        assert layout(slice(i), (3,), (5,)) == (0, (2,), (5,))
        # It takes its axis, as an int does.
        assert layout((i, ..., 0), (3, 4, 5), (20, 5, 1)) == (40, (4,), (5,))
        with pytest.raises(IndexError, match="too many indices: 2"):
            layout((i, i), (3,), (1,))


@pytest.mark.parametrize(
    "key", [slice(None), slice(1), slice(9, None), slice(None, None, -1), ..., (), None]
)
def test_an_unknown_size_stays_unknown(key: object) -> None:
    for shape in (Unknown(3),), (Unknown(3), 2):
        selected = select(allocate(shape, int8, Device("cpu"), False), key)
        sizes = [n for n in selected._shape if type(n) is Unknown]
        assert sizes == [Unknown(len(range(3)[key]) if isinstance(key, slice) else 3)]
        assert selected.shape.count(None) == 1
        assert selected.size is None


# What is no basic key ----------------------------------------------------------------


@pytest.mark.parametrize(
    "item", [True, False, np.asarray([0]), np.asarray(0), np.asarray([True, False])]
)
def test_masks_and_arrays_are_left_to_the_caller(item: object) -> None:
    for key in (item, (item,), (0, item), (..., item), (slice(None), item, None)):
        assert layout(key, (2, 2), (2, 1)) is None


@pytest.mark.parametrize("item", [[0], [], [True], [[0, 1]]])
def test_a_list_is_no_index(item: object) -> None:
    for key in (item, (item,), (0, item)):
        with pytest.raises(TypeError, match=r"a list is no index: .* asarray"):
            layout(key, (2, 2), (2, 1))


def test_a_tuple_in_a_tuple_is_no_index() -> None:
    with pytest.raises(TypeError, match="a tuple is no index"):
        layout((0, (0, 1)), (2, 2), (2, 1))


@pytest.mark.parametrize("item", [1.0, 1j, "a", b"a", {0}, object(), np.float64(1)])
def test_anything_else_is_an_index_error(item: object) -> None:
    for key in (item, (item,), (0, item)):
        with pytest.raises(IndexError, match=f"{type(item).__name__} is no index"):
            layout(key, (2, 2), (2, 1))


@pytest.mark.parametrize(
    ("key", "shape"),
    [(0, ()), (slice(None), ()), ((0, 0), (1,)), ((0, ..., 0), (1,))],
)
def test_more_indices_than_axes(key: object, shape: Shape) -> None:
    with pytest.raises(IndexError, match=rf"too many indices: .* {len(shape)} dim"):
        layout(key, shape, shape)


@pytest.mark.parametrize("key", [(..., ...), (0, ..., 0, ...), (..., None, ...)])
def test_more_than_one_ellipsis(key: object) -> None:
    with pytest.raises(IndexError, match=r"at most one ellipsis \(\.\.\.\), not 2"):
        layout(key, (2, 2), (2, 1))


def test_more_axes_than_an_array_can_have() -> None:
    assert layout((None,) * MAX_NDIM, (), ()) == (0, (1,) * 64, (1,) * 64)
    with pytest.raises(IndexError, match="at most 64 axes, not 65"):
        layout((None,) * 65, (), ())


def test_the_longest_index() -> None:
    whole = (1,) * MAX_NDIM
    longest = (0,) * MAX_NDIM + (None,) * MAX_NDIM + (...,)
    assert layout(longest, whole, whole) == (0, (1,) * 64, (1,) * 64)
    with pytest.raises(IndexError, match="at most 129 items, not 130"):
        layout((*longest, None), whole, whole)


def test_error_names_index_axis_and_size() -> None:
    with pytest.raises(IndexError, match="index -4 is outside axis 1 of size 3"):
        layout((0, -4), (2, 3), (3, 1))
    with pytest.raises(IndexError, match="index 9 is outside axis 2 of size 4"):
        layout((..., 9), (2, 3, 4), (12, 4, 1))


def test_an_index_too_long_to_be_written_is_outside_too() -> None:
    for i in (10**5000, -(10**5000)):  # Python writes 4300 digits at most
        with pytest.raises(IndexError, match="outside axis 0 of size 3"):
            select(allocate((3,), int8, Device("cpu"), True), i)


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, ValueError])
def test_what_a_metaclass_raises_arrives(error):
    """Whether an index is an array is a question that a type can answer by raising."""

    class Meta(type):
        def __getattribute__(cls, name: str) -> object:
            if name == "__dlpack__":
                raise error("from the metaclass")
            return super().__getattribute__(name)

    class Index(metaclass=Meta):
        def __index__(self) -> int:
            return 1

    x = allocate((3,), int8, Device("cpu"), True)
    for key in (Index(), (Index(),), (..., Index())):
        with pytest.raises(error, match="from the metaclass"):
            x[key]
    with pytest.raises(error, match="from the metaclass"):
        x[Index()] = 1


def test_an_index_without_dlpack_is_an_integer():
    class Index:
        def __index__(self) -> int:
            return 1

    x = allocate((3,), int8, Device("cpu"), True)
    assert x[Index()].shape == ()
