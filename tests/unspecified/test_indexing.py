"""Indexing, and what Python asks of an array, where the standard leaves a choice.

The table: docs/reference/unspecified.md.
"""

from collections import deque

import numpy as np
import pytest

import refarray as xp
from refarray import profiles


def values(x):
    return np.from_dlpack(x).tolist()


def grid():
    return xp.reshape(xp.arange(6), (2, 3))


FIRST = xp.asarray([0, 1])


# x[key] ------------------------------------------------------------------------------


def test_fewer_indices_than_axes():
    x = grid()
    assert values(x[1]) == values(x[1, :]) == [3, 4, 5]
    assert values(x[:1]) == [[0, 1, 2]]
    assert x[()].shape == x[None].shape[1:] == (2, 3)
    assert values(x[xp.asarray([1, 1])]) == [[3, 4, 5]] * 2


@pytest.mark.parametrize("key", [2, -3, (0, 3), (-3, 0)])
def test_indices_out_of_range(key):
    with pytest.raises(IndexError, match="outside axis"):
        grid()[key]
    with pytest.raises(IndexError):
        grid()[xp.asarray([2]), xp.asarray([0])]


@pytest.mark.parametrize(
    "key", [slice(0, 9), slice(9, None), slice(-9, None), slice(9, -9, -1)]
)
def test_slices_beyond_the_axis_are_cut_to_it(key):
    assert values(xp.arange(4)[key]) == [0, 1, 2, 3][key]


def test_arrays_of_integers_beside_other_items():
    x = grid()
    assert values(x[FIRST, :]) == values(x)
    assert values(x[..., FIRST]) == [[0, 1], [3, 4]]
    assert values(x[FIRST, FIRST, None]) == [[0], [4]]


def test_integers_of_other_dtypes():
    small = xp.asarray([1, 0], dtype=xp.uint8)
    assert values(grid()[small, FIRST]) == [3, 1]


def test_a_mask_beside_other_items():
    x, mask = grid(), xp.asarray([False, True])
    assert values(x[mask, 2]) == [5]
    assert values(x[mask, ...]) == [[3, 4, 5]]


def test_a_list_is_no_index():
    for wrong in ([0], [True, False], ([0], 0)):
        with pytest.raises(TypeError, match="asarray"):
            grid()[wrong]


# x[key] = value ----------------------------------------------------------------------


def test_assignment_at_integers():
    x = xp.zeros(3)
    x[xp.asarray([2, 0, 2])] = xp.asarray([1.0, 2.0, 3.0])
    assert values(x) == [2.0, 0.0, 3.0]


def test_assignment_with_a_new_axis():
    x = xp.zeros(2)
    x[None] = xp.asarray([1.0, 2.0])
    assert values(x) == [1.0, 2.0]


def test_values_that_do_not_promote():
    for x, value in (
        (xp.zeros(2, dtype=xp.int8), xp.asarray(1)),
        (xp.zeros(2, dtype=xp.float32), xp.asarray(1.0)),
        (xp.zeros(2), xp.asarray(1)),
        (xp.arange(2), 1.0),
    ):
        with pytest.raises(TypeError):
            x[0] = value


def test_numpy_scalars_are_assigned():
    x = xp.zeros(2, dtype=xp.float32)
    x[0] = np.float64(1.5)
    x[1] = np.int64(2)
    assert values(x) == [1.5, 2.0]
    with pytest.raises(TypeError):
        xp.arange(2)[0] = np.float64(1)


# Python's own ------------------------------------------------------------------------


def test_the_operator_in():
    x = xp.asarray([1.0, 2.0])
    assert 2.0 in x
    assert 2 in x
    assert xp.asarray(2.0) in x
    assert 3.0 not in x
    with pytest.raises(TypeError):
        2.0 in xp.ones((2, 2))  # noqa: B015


def test_elements_on_another_device():
    with profiles.use("gpu"):
        x = xp.asarray([1.0, 2.0])
        assert [float(element) for element in x] == [1.0, 2.0]
        assert (bool(x[0]), int(x[1]), complex(x[0])) == (True, 2, 1 + 0j)
        assert [5, 6, 7][xp.asarray(1)] == 6


def test_numbers_beyond_the_precision():
    assert values(xp.ones(1, dtype=xp.float32) * 1e300) == [float("inf")]
    assert values(xp.asarray(-1e300, dtype=xp.float32)) == -float("inf")
    assert values(xp.asarray([2**53 + 1, 0.5])) == [2.0**53, 0.5]
    assert values(xp.full(1, 2**53 + 1, dtype=xp.float64)) == [2.0**53]


def test_stand_ins_for_python_numbers():
    assert values(xp.arange(np.int64(2))) == values(xp.arange(xp.asarray(2))) == [0, 1]
    assert values(xp.linspace(xp.asarray(0.0), 1, np.int8(2))) == [0.0, 1.0]
    x = xp.asarray([1.0, 3.0])
    assert float(xp.var(x, correction=np.float64(1))) == 2.0
    assert float(xp.linalg.vector_norm(x, ord=np.float64(1))) == 4.0


def test_other_sequences():
    assert values(xp.asarray(range(3))) == [0, 1, 2]
    assert values(xp.asarray([deque([1.5]), (2,)])) == [[1.5], [2.0]]


def test_result_type_of_two_devices():
    with profiles.use("gpu"):
        x = xp.ones(1)
        y = xp.ones(1, dtype=xp.float32, device=xp.Device("cpu"))
        assert xp.result_type(x, y) is xp.float64
