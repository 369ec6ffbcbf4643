"""Creation functions where the standard leaves a choice.

The table: docs/reference/unspecified.md.
"""

import math
import os
import subprocess
import sys

import numpy as np
import pytest

import refarray as xp
from refarray._base import dtypes


def values(x):
    return np.asarray(memoryview(x)).tolist()


def held():
    return xp.from_dlpack(np.ones(2, "float16"))


def test_lists_and_integer_likes_in_shapes():
    assert xp.zeros([2, 3]).shape == (2, 3)
    assert xp.reshape(xp.arange(4), [2, 2]).shape == (2, 2)
    assert xp.reshape(xp.ones((2, 2)), 4).shape == (4,)
    assert xp.zeros((np.int32(2), xp.asarray(3))).shape == (2, 3)
    for wrong in (True, (2, True), 2.0, (1.0,), xp.asarray(2.0)):
        with pytest.raises(TypeError):
            xp.zeros(wrong)


def test_lists_and_integer_likes_as_axes():
    x = xp.zeros((2, 3, 1))
    assert xp.permute_dims(x, [2, 0, 1]).shape == (1, 2, 3)
    assert xp.squeeze(x, [2]).shape == (2, 3)
    assert xp.expand_dims(x, [0, -1]).shape == (1, 2, 3, 1, 1)
    assert xp.squeeze(x, np.int64(2)).shape == (2, 3)
    assert xp.concat([x, x], axis=xp.asarray(1)).shape == (2, 6, 1)
    for wrong in (True, 1.0, None):
        with pytest.raises(TypeError):
            xp.squeeze(x, wrong)
    with pytest.raises(TypeError, match="list"):
        xp.sum(x, axis=[0])


def test_axes_out_of_range_or_named_twice():
    x = xp.zeros((2, 3))
    for wrong in (2, -3, (0, 2)):
        with pytest.raises(IndexError, match="allowed: -2 to 1"):
            xp.flip(x, axis=wrong)
    for wrong in ((0, 0), (1, -1)):
        with pytest.raises(ValueError, match="twice"):
            xp.flip(x, axis=wrong)
    with pytest.raises(IndexError, match="no axes"):
        xp.sort(xp.asarray(1.0))


def test_iteration():
    with pytest.raises(TypeError, match="no axis to iterate over"):
        list(xp.asarray(5))
    with pytest.raises(TypeError):
        5 in xp.asarray(5)  # noqa: B015
    x = xp.asarray([[1, 2], [3, 4]])
    assert [values(row) for row in x] == [[1, 2], [3, 4]]
    assert list(xp.zeros((0, 2))) == []
    next(iter(x))[0] = 9
    assert values(x) == [[9, 2], [3, 4]]


def test_scalars_outside_the_dtype():
    x = xp.asarray([1, 2], dtype=xp.uint8)
    for refused in (
        lambda: xp.where(x == x, x, 256),
        lambda: xp.searchsorted(x, -1),
        lambda: xp.isin(x, 300),
        lambda: xp.full(2, 256, dtype=xp.uint8),
    ):
        with pytest.raises(OverflowError, match="0 to 255"):
            refused()


def test_no_values_are_float64():
    assert xp.asarray([]).dtype is xp.float64
    x = xp.asarray([[], []])
    assert (x.shape, x.dtype) == ((2, 0), xp.float64)


def test_integers_outside_int64():
    for too_large in (2**63, [2**63, -1], [2**64 - 1], [[1], [-(2**63) - 1]]):
        with pytest.raises(OverflowError, match="outside the range of int64"):
            xp.asarray(too_large)
    assert values(xp.asarray([2**64 - 1], dtype=xp.uint64)) == [2**64 - 1]
    for value, dtype in ((-1, xp.uint64), (128, xp.int8), ([[256]], xp.uint8)):
        with pytest.raises(OverflowError, match=f"outside the range of {dtype}"):
            xp.asarray(value, dtype=dtype)
    assert values(xp.asarray([2**70, 0.5])) == [2.0**70, 0.5]
    for given in ([math.nan, 10**400], [1j, 10**400]):
        with pytest.raises(OverflowError, match="1329 bits is outside the range"):
            xp.asarray(given)


def test_scalars_with_a_dtype_in_sequences():
    cases = [
        (np.float32(1.5), xp.float32),
        ([np.int8(1), np.int16(2)], xp.int16),
        ([np.float32(1.5), 2.5], xp.float64),
        ([np.uint8(1), True], xp.int64),
        ([np.int64(1), np.float32(2.5)], xp.float64),
        ([np.complex64(1), 2], xp.complex128),
        ([xp.asarray(1, dtype=xp.uint8), np.array(2, "uint8")], xp.uint8),
        ([xp.asarray(1.5), 2], xp.float64),
        ([np.True_, False], xp.bool),
    ]
    for given, dtype in cases:
        x = xp.asarray(given)
        assert x.dtype is dtype, given
        assert values(x) == np.asarray(given).tolist()
    with pytest.raises(OverflowError):
        xp.asarray([np.uint64(2**63), 1])
    with pytest.raises(TypeError, match="float16"):
        xp.asarray([held()[0]])


def test_arrays_with_dimensions_in_sequences():
    for item in (xp.ones(2), np.ones(2), np.ones((1, 1))):
        with pytest.raises(TypeError, match="stack"):
            xp.asarray([item, item])


def test_dtypes_to_which_values_do_not_promote():
    assert values(xp.asarray([1.7, -1.7], dtype=xp.int8)) == [1, -1]
    assert values(xp.asarray([0, 2], dtype=xp.bool)) == [False, True]
    assert values(xp.asarray(xp.asarray([300, -1]), dtype=xp.uint8)) == [44, 255]
    assert values(xp.asarray(np.array([1.7]), dtype=xp.int32)) == [1]
    assert values(xp.asarray([0j, 1j], dtype=xp.bool)) == [False, True]
    for given in (1j, [1, 2j], xp.asarray(1j), np.ones(2, "complex64")):
        for dtype in (xp.float64, xp.int64):
            with pytest.raises(TypeError, match="complex"):
                xp.asarray(given, dtype=dtype)


def test_floats_beyond_an_integer_dtype_convert_as_by_astype():
    given = [math.nan, math.inf, -math.inf, 1e300, -1e300, 300.7, -0.5]
    for dtype in (xp.int8, xp.uint8, xp.int64, xp.uint64):
        least, greatest = xp.iinfo(dtype).min, xp.iinfo(dtype).max
        wanted = [least, greatest, least, greatest, least, min(300, greatest), 0]
        assert values(xp.asarray(given, dtype=dtype)) == wanted
        assert [values(xp.asarray(x, dtype=dtype)) for x in given] == wanted
        assert values(xp.asarray([[x] for x in given], dtype=dtype)) == [
            [x] for x in wanted
        ]


class Count(int):
    """An integer of another type, like those of enum.IntEnum."""


@pytest.mark.parametrize("kind", [int, Count])
def test_integers_beyond_a_dtype_are_named(kind):
    for dtype in (None, xp.int8, xp.uint64):
        for given in (kind(2**70), [kind(2**70), 1], [[1], [kind(2**70)]]):
            with pytest.raises(OverflowError, match=f"^{2**70} is outside the range"):
                xp.asarray(given, dtype=dtype)
    # The one farthest from zero did not fit, whatever its sign.
    for given in ([1, kind(-(2**2000)), kind(2**1500)], [kind(2**2000), -(2**1500)]):
        with pytest.raises(OverflowError, match="an integer of 2001 bits"):
            xp.asarray(given, dtype=xp.float64)


def test_held_dtypes_in_sequences():
    half = np.float16(1.5)
    for given in ([half], [[half, 1.0]], half, [np.array(half)]):
        with pytest.raises(TypeError, match=r"got (float16|ndarray)"):
            xp.asarray(given)
    # An array is memory that is lent, and held as it is.
    assert xp.asarray(np.array(half)).dtype is dtypes.float16


def test_python_values_cannot_be_shared():
    for given in (1, [1.0], (), np.float64(1), range(3)):
        with pytest.raises(ValueError, match="copy=False"):
            xp.asarray(given, copy=False)


def test_ragged_sequences():
    loop = []
    loop.append(loop)
    for ragged in ([[1], [1, 2]], [1, [2]], [[1], 2], [[[1]], [[1], [2]]], loop):
        with pytest.raises(ValueError, match="nested sequences"):
            xp.asarray(ragged)

    class Liar(list):
        def __len__(self):
            return 3

    with pytest.raises(ValueError, match="promised 3"):
        xp.asarray(Liar([7]))


def nested(depth):
    x = 1.0
    for _ in range(depth):
        x = [x]
    return x


def test_sequences_nest_as_deep_as_an_array_has_axes():
    assert xp.asarray(nested(64)).shape == (1,) * 64
    with pytest.raises(ValueError, match="at most 64 levels of nested sequences"):
        xp.asarray(nested(65))


@pytest.mark.needs("RLIMIT_AS")
def test_a_sequence_that_contains_itself_twice():
    # Unfolded to 64 levels it would have 2**64 elements.
    code = """
import resource, refarray
resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
loop = []
loop += [loop, loop]
try:
    refarray.asarray(loop)
except ValueError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert "at most 64 levels of nested sequences" in done.stdout


def test_what_is_no_number():
    others = ("1", ["a"], None, [None, 1], {1}, {1: 2}, object(), [b"1"], np.str_("1"))
    arrays = (
        np.array(["a"]),
        np.array([None]),
        np.ones(2, ">f8"),
        np.ones(2, ">i2"),
        np.ones(2, [("a", "i4")]),
        np.ones(2, "M8[s]"),
        np.ones(2, "g"),
    )
    for other in (*others, *arrays):
        with pytest.raises(TypeError, match=r"asarray|buffer"):
            xp.asarray(other)


def test_read_only_buffers():
    for lent, wanted in ((b"ab", [97, 98]), (np.broadcast_to(1.5, 2), [1.5, 1.5])):
        x = xp.asarray(lent)
        assert values(x) == wanted
        with pytest.raises(ValueError, match="read-only"):
            x[0] = 0
        y = xp.asarray(lent, copy=True)
        y[0] = 0
        assert values(x) == wanted


def test_memory_that_cannot_be_shared():
    unaligned = np.frombuffer(bytearray(17), "float64", 2, 1)
    odd = np.zeros(2, [("a", "i1"), ("b", "f8")])["b"]
    for lent in (unaligned, odd):
        x = xp.asarray(lent)
        x[0] = 5.0
        assert lent[0] == 0
        with pytest.raises(ValueError, match="copy=False"):
            xp.asarray(lent, copy=False)


def test_fill_values_of_another_kind():
    assert values(xp.full(1, True, dtype=xp.int8)) == [1]
    assert values(xp.full(1, 2, dtype=xp.float32)) == [2.0]
    assert values(xp.full(1, 2, dtype=xp.bool)) == [True]
    assert values(xp.full(1, 2.5, dtype=xp.complex64)) == [2.5]
    like = xp.zeros(1, dtype=xp.int8)
    for value, dtype in ((1.0, xp.int8), (math.nan, xp.int64), (1j, xp.float64)):
        with pytest.raises(TypeError, match="does not fill"):
            xp.full(1, value, dtype=dtype)
        with pytest.raises(TypeError, match="does not fill"):
            xp.full_like(like, value, dtype=dtype)


def test_fill_values_with_a_dtype():
    for value in (np.float32(1.5), xp.asarray(1.5, dtype=xp.float32)):
        x = xp.full(2, value)
        assert (x.dtype, values(x)) == (xp.float64, [1.5, 1.5])
    with pytest.raises(TypeError, match="Python scalar"):
        xp.full(2, xp.ones(2))


def test_held_dtypes_are_not_made():
    for refused in (xp.empty_like, xp.zeros_like, xp.ones_like, xp.tril, xp.meshgrid):
        with pytest.raises(TypeError, match="float16"):
            refused(held())
    with pytest.raises(TypeError, match="float16"):
        xp.zeros(2, dtype=dtypes.float16)
    with pytest.raises(TypeError, match="float16"):
        xp.asarray([1.0], dtype=dtypes.float16)
    half = held()
    assert xp.asarray(half, dtype=half.dtype) is half
    assert values(xp.asarray(half, dtype=xp.float32)) == [1, 1]


def test_arange_without_end():
    for start, stop, step in (
        (0, 1, 0),
        (0.0, 1.0, -0.0),
        (0, math.inf, 1),
        (math.nan, 1, 1),
        (0, 1, math.inf),
        (-1e308, 1e308, 1e307),
        (0, 1, 5e-324),
    ):
        with pytest.raises(ValueError, match="step"):
            xp.arange(start, stop, step)


def test_arange_in_other_dtypes():
    with pytest.raises(TypeError, match="bool"):
        xp.arange(2, dtype=xp.bool)
    assert values(xp.arange(0, 2, 0.75, dtype=xp.int32)) == [0, 0, 1]
    assert values(xp.arange(-1.5, 1.0, dtype=xp.int8)) == [-1, 0, 0]
    for bounds, dtype in (
        ((0, 257), xp.uint8),
        ((-1, 1), xp.uint64),
        ((2**63, 2**63 + 1), None),
    ):
        with pytest.raises(OverflowError, match="outside the range"):
            xp.arange(*bounds, dtype=dtype)


def test_linspace_in_other_dtypes():
    for stop, dtype in ((1, xp.bool), (1j, xp.float64), (1j, xp.int64)):
        with pytest.raises(TypeError, match="linspace"):
            xp.linspace(0, stop, 3, dtype=dtype)
    for dtype in (xp.int8, xp.int64, xp.float32):
        x = xp.linspace(0, 6, 3, dtype=dtype)
        assert x.dtype is dtype
        assert values(x) == [0, 3, 6]
    # As NumPy rounds, and as astype converts what is out of range.
    assert values(xp.linspace(-1, 1, 5, dtype=xp.int8)) == [-1, -1, 0, 0, 1]
    assert values(xp.linspace(0, 400, 3, dtype=xp.uint8)) == [0, 200, 255]


def test_linspace_between_extreme_ends():
    largest = xp.finfo(xp.float64).max
    x = values(xp.linspace(-largest, largest, 5))
    assert x == pytest.approx([-largest, -largest / 2, 0, largest / 2, largest])
    assert (x[0], x[4]) == (-largest, largest)
    x = values(xp.linspace(0, math.inf, 3))
    assert (x[0], x[2]) == (0, math.inf)


def test_diagonals_outside_the_matrix():
    x = xp.ones((2, 3))
    for k in (3, 9, 10**30):
        assert values(xp.eye(2, 3, k=k)) == [[0] * 3] * 2
        assert values(xp.eye(2, 3, k=-k)) == [[0] * 3] * 2
        assert values(xp.tril(x, k=k)) == values(xp.triu(x, k=-k)) == values(x)
        assert values(xp.triu(x, k=k)) == values(xp.tril(x, k=-k)) == [[0] * 3] * 2


def test_meshgrid_of_other_arrays():
    x = xp.ones(2)
    for wrong in (xp.asarray(1.0), xp.ones((2, 2))):
        with pytest.raises(ValueError, match="one-dimensional"):
            xp.meshgrid(x, wrong)
    with pytest.raises(TypeError, match="one dtype"):
        xp.meshgrid(x, xp.ones(2, dtype=xp.float32))


def test_meshgrid_makes_new_arrays():
    x = xp.ones(2)
    one, two = xp.meshgrid(x, x)
    one[0, 0] = 5
    assert values(x) == [1, 1]
    assert values(two) == [[1, 1], [1, 1]]
    assert values(one) == [[5, 1], [1, 1]]


def test_triangles_of_no_matrix():
    for function in (xp.tril, xp.triu):
        for x in (xp.ones(2), xp.asarray(1.0)):
            with pytest.raises(ValueError, match="matrices"):
                function(x)
