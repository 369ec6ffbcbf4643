"""Sizes that depend on values: None in the shape, and true in memory.

Under `data_dependent_shapes="unknown"`, which profile `dask` has.
"""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from unknown_sizes.cases import CASES, Case
from unknown_sizes.operands import Operands
from unknown_sizes.refusals import REFUSALS, Refusal

import refarray as xp
from refarray import profiles

SIGNATURES = Path(__file__).parents[1] / "data" / "signatures.json"
UNKNOWN = {"data_dependent_shapes": "unknown"}

# These take no array, or tell no shape.
WITHOUT_SHAPES = {
    "arange", "empty", "eye", "full", "linspace", "ones", "zeros", "from_dlpack",
    "can_cast", "finfo", "iinfo", "isdtype", "result_type", "broadcast_shapes",
    "broadcast_to", "fft.fftfreq", "fft.rfftfreq", "__array_namespace_info__",
}  # fmt: skip


def results(case: Case) -> list[xp.Array]:
    out = case.call(xp, Operands(xp))
    return list(out) if isinstance(out, tuple) else [out]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_result(case: Case) -> None:
    known = results(case)
    with profiles.use("dask"):
        unknown = results(case)
        assert [x.shape for x in unknown] == case.shapes
        assert [x.size for x in unknown] == [
            None if None in shape else int(np.prod(shape)) for shape in case.shapes
        ]
    # Values can be had again here, and with them the sizes.
    for x, y in zip(unknown, known, strict=True):
        assert x.dtype is y.dtype
        assert None not in y.shape
        np.testing.assert_array_equal(np.asarray(x), np.asarray(y), strict=True)


def test_every_function_of_the_standard_has_a_case() -> None:
    standard = json.loads(SIGNATURES.read_text())["2025.12"]
    names = set()
    for category, contents in standard.items():
        if category in ("array_object", "constants", "data_types", "info"):
            continue
        prefix = f"{category}." if category in ("linalg", "fft") else ""
        names |= {prefix + name for name in contents["functions"]}
    # These are the functions of the main namespace again.
    names -= {
        f"linalg.{name}"
        for name in ("matmul", "matrix_transpose", "tensordot", "vecdot")
    }
    assert names - {case.function for case in CASES} <= WITHOUT_SHAPES


@pytest.mark.parametrize("refusal", REFUSALS, ids=str)
def test_a_refusal(refusal: Refusal) -> None:
    with profiles.use("dask"):
        arrays = Operands(xp)
        with pytest.raises(refusal.error, match=refusal.message):
            refusal.call(xp, arrays)


# ---- Assignment ----------------------------------------------------------------------


def test_assignment_through_a_mask() -> None:
    x = xp.asarray([1.0, 5, 2, 6])
    with profiles.use("dask"):
        x[x > 4] = 0
        assert x.shape == (4,)
        y = x[x > 0]
        y[y > 1] = 7
        y[:1] = 3
        y[0:5] = y
        x[x > 0] = y
        x += 1
        y += y
        assert y.shape == (None,)
    assert list(map(float, x)) == [4, 1, 8, 1]
    assert np.asarray(y).tolist() == [6, 14]


# ---- Two unknown sizes ---------------------------------------------------------------


def test_sizes_that_differ_are_found_at_once() -> None:
    # A library that computes later would raise then.
    x = xp.asarray([1.0, 2, 3, 4])
    with profiles.use("dask"):
        two, three = x[x > 2], x[x > 1]
        for operation in (
            lambda: two + three,
            lambda: xp.stack([two, three]),
            lambda: xp.vecdot(two, three),
            lambda: two[three > 0],
        ):
            with pytest.raises((ValueError, IndexError), match="None"):
                operation()


def test_a_size_that_turns_out_to_be_one_broadcasts() -> None:
    x = xp.asarray([1.0, 2, 3, 4])
    with profiles.use("dask"):
        one, three = x[x > 3], x[x > 1]
        out = [one + three, three + one, one + one, *xp.broadcast_arrays(one, three)]
        with pytest.raises(ValueError, match="may differ"):
            one + x
        assert all(y.shape == (None,) for y in out)
    values = [np.asarray(y).tolist() for y in out]
    assert values == [[6, 7, 8], [6, 7, 8], [8], [4, 4, 4], [2, 3, 4]]


@pytest.mark.parametrize("limit", [0.0, 9.0])
def test_nothing_and_everything_selected(limit: float) -> None:
    x = xp.asarray([1.0, 2, 3])
    with profiles.use("dask"):
        y = x[x < limit]
        out = [
            y[1:],
            y[::-1],
            xp.flip(y),
            xp.roll(y, 1),
            xp.concat([y, x]),
            xp.reshape(y, (-1, 1)),
            xp.sort(y),
            xp.cumulative_sum(y, include_initial=True),
            xp.unique_values(y),
            xp.broadcast_arrays(y, xp.ones((2, 1)))[0],
        ]
        total = xp.sum(y)
        assert all(None in z.shape and z.size is None for z in out)
        assert total.shape == ()
        with pytest.raises(ValueError, match="dask" if limit else "at least one"):
            xp.max(y) if not limit else xp.unstack(y)
    values = np.asarray([v for v in (1.0, 2, 3) if v < limit])
    assert float(total) == values.sum()
    assert np.asarray(out[1]).tolist() == values[::-1].tolist()
    assert out[4].__array__().tolist() == [*values, 1, 2, 3]
    assert out[5].__array__().shape == (len(values), 1)
    assert out[7].__array__().tolist() == [0, *values.cumsum()]
    assert out[9].__array__().shape == (2, len(values))


# ---- Where values can be had ---------------------------------------------------------


def test_values_tell_the_size() -> None:
    x = xp.asarray([1.0, 2, 3])
    with profiles.use(**UNKNOWN):
        y = x[x > 1]
        assert y.shape == (None,)
        assert memoryview(y).shape == (2,)
        assert np.from_dlpack(y).shape == (2,)
        assert repr(y) == "Array([2., 3.], dtype=refarray.float64)"
        again = pickle.loads(pickle.dumps(y))
        assert again.shape == (2,)
        assert np.asarray(again).tolist() == [2, 3]


def test_only_where_a_size_depends_on_values() -> None:
    with profiles.use(**UNKNOWN):
        x = xp.asarray([[1, 2], [3, 4]])
        assert x[xp.asarray([0, 1, 1])].shape == (3, 2)
        assert xp.concat([x, x]).shape == (4, 2)
        assert xp.repeat(x, 2).shape == (8,)
        assert xp.unique_all(x).inverse_indices.shape == (2, 2)
        assert xp.nonzero(x)[0].shape == (None,)
    assert xp.nonzero(x)[0].shape == (4,)


def test_an_array_keeps_its_unknown_size() -> None:
    x = xp.asarray([1.0, 2, 3])
    with profiles.use("dask"):
        y = x[x > 1]
    assert y.shape == (None,)
    assert (y + y).shape == (None,)
    assert float(xp.sum(y)) == 5
    with pytest.raises(ValueError, match="profile 'dask'"):
        xp.reshape(y, (2,))


@pytest.mark.parametrize("ndim", [1, 3, 4, 5, 9])
def test_many_axes(ndim: int) -> None:
    x = xp.reshape(xp.arange(2.0 * 3), (2, 3, *(1,) * (ndim - 2)) if ndim > 1 else (6,))
    with profiles.use("dask"):
        y = x[xp.ones(x.shape[0], dtype=xp.bool)]
        assert y.shape == (None, *x.shape[1:])
        assert (y + 1).shape == y.shape
        assert xp.flip(y).shape == y.shape
    np.testing.assert_array_equal(np.asarray(y), np.asarray(x), strict=True)


def test_no_message_tells_a_size() -> None:
    x = xp.ones(14159)
    with profiles.use("dask"):
        y = x[x > 0]
        operations: list[Any] = [
            lambda: xp.reshape(y, (2, 2)),
            lambda: xp.reshape(y, (-1, 2)),
            lambda: xp.matmul(y, xp.ones(3)),
            lambda: xp.vecdot(y, xp.ones(3)),
            lambda: xp.concat([y[None, :], xp.ones((1, 3))]),
            lambda: xp.stack([y, xp.ones(3)]),
            lambda: xp.squeeze(y, axis=0),
            lambda: xp.linalg.inv(y[None, :]),
            lambda: xp.linalg.cross(y, y),
            lambda: xp.take(xp.ones((2, 2)), y),
            lambda: xp.repeat(y, xp.asarray([1, 2])),
            lambda: xp.searchsorted(y[None, :], y),
            lambda: y[20000],
            lambda: y[xp.asarray(20000)],
            lambda: y[xp.asarray([20000])],
            lambda: y.__setitem__(xp.asarray([20000]), 1.0),
            lambda: xp.take(y, xp.asarray([20000])),
            lambda: xp.take_along_axis(y, xp.asarray([20000])),
            lambda: y + 1j * xp.ones(3),
            lambda: y.__setitem__(slice(None), xp.ones(3)),
            lambda: y.__setitem__(xp.ones(3, dtype=xp.bool), 1.0),
            lambda: y[xp.ones(3, dtype=xp.bool)],
            lambda: bool(y),
        ]
        for operation in operations:
            with pytest.raises((ValueError, IndexError, TypeError)) as caught:
                operation()
            assert "14159" not in str(caught.value)


def test_what_numpy_interop_adds_tells_no_size() -> None:
    x = xp.asarray([[1.0], [2.0], [3.0]])
    with profiles.use("numpy_interop", **UNKNOWN):
        y = x[x[:, 0] > 1]
        assert y.nbytes is None
        with pytest.raises(ValueError, match=r"len\(\) needs a size"):
            len(y)
        assert len(y.T) == 1
        assert (x.nbytes, xp.zeros(0).nbytes) == (24, 0)


def test_indices_of_numpy_tell_sizes_of_their_own() -> None:
    x = xp.reshape(xp.arange(12), (3, 4))
    columns = np.asarray([True, False, True, False])
    with profiles.use("numpy_interop", **UNKNOWN):
        y = x[x[:, 0] != 4]
        for selected, shape, expected in (
            (y[np.asarray([0, 1, 1])], (3, 4), [[0, 1, 2, 3], *[[8, 9, 10, 11]] * 2]),
            (y[np.asarray([[1], [0]]), 2], (2, 1), [[10], [2]]),
            (y[:, columns], (None, 2), [[0, 2], [8, 10]]),
        ):
            assert selected.shape == shape
            np.testing.assert_array_equal(np.asarray(selected), expected)
        y[:, columns] = 7
        np.testing.assert_array_equal(np.asarray(y[0]), [7, 1, 7, 3])
        with pytest.raises(IndexError, match=r"mask of shape \(2,\)"):
            y[np.asarray([True, False])]


@pytest.mark.parametrize("seed", range(1, 5))
def test_a_seed_changes_no_shape(seed: int) -> None:
    with profiles.use("dask+adversarial", seed=seed):
        for case in CASES:
            assert [x.shape for x in results(case)] == case.shapes
