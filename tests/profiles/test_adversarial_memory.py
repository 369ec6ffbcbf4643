"""Profile `adversarial`: memory is shared or not, poisoned, strided at will."""

from __future__ import annotations

import numpy as np
import pytest

import refarray as xp
from refarray import profiles
from refarray.profiles import use

CALLS = 60


def values(x):
    return np.asarray(x)


def shares(x, y):
    return np.shares_memory(values(x), values(y))


def matrix():
    return xp.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


# What moves no data, beside what NumPy makes of it: a view, or a copy.
MOVES_NOTHING = {
    "basic index": (lambda x: x[1:, ::-1], lambda a: a[1:, ::-1]),
    "new axis": (lambda x: x[None, ...], lambda a: a[None]),
    "row": (lambda x: x[0, :], lambda a: a[0]),
    "iteration": (lambda x: next(iter(x)), lambda a: a[0]),
    "T": (lambda x: x.T, lambda a: a.T),
    "mT": (lambda x: x.mT, lambda a: a.T),
    "matrix_transpose": (xp.matrix_transpose, lambda a: a.T),
    "reshape": (lambda x: xp.reshape(x, (3, 2)), lambda a: a.reshape(3, 2)),
    "permute_dims": (lambda x: xp.permute_dims(x, (1, 0)), lambda a: a.T),
    "expand_dims": (lambda x: xp.expand_dims(x, 1), lambda a: a[:, None]),
    "squeeze": (lambda x: xp.squeeze(x[None, ...], 0), lambda a: a),
    "flip": (lambda x: xp.flip(x, axis=1), lambda a: a[:, ::-1]),
    "moveaxis": (lambda x: xp.moveaxis(x, 0, 1), lambda a: a.T),
    "broadcast_to": (
        lambda x: xp.broadcast_to(x, (2, 2, 3)),
        lambda a: np.broadcast_to(a, (2, 2, 3)),
    ),
    "broadcast_arrays": (lambda x: xp.broadcast_arrays(x, x)[1], lambda a: a),
    "unstack": (lambda x: xp.unstack(x)[1], lambda a: a[1]),
    "diagonal": (xp.linalg.diagonal, np.diagonal),
    "from_dlpack": (xp.from_dlpack, lambda a: a),
    "to_device": (lambda x: x.to_device(x.device), lambda a: a),
}
# What leaves every element as it is: a copy, or a view.
CHANGES_NOTHING = {
    "positive": (matrix, xp.positive),
    "+x": (matrix, lambda x: +x),
    "conj": (matrix, xp.conj),
    "real": (matrix, xp.real),
    "clip": (matrix, xp.clip),
    "tile": (matrix, lambda x: xp.tile(x, (1, 1))),
    "repeat": (matrix, lambda x: xp.repeat(x, 1, axis=0)),
    "roll": (matrix, lambda x: xp.roll(x, 3, axis=1)),
    "concat": (matrix, lambda x: xp.concat([x])),
    "stack": (matrix, lambda x: xp.stack([x])[0, ...]),
    "diff": (matrix, lambda x: xp.diff(x, n=0)),
    "meshgrid": (lambda: xp.asarray([1.0, 2.0]), lambda x: xp.meshgrid(x)[0]),
    "abs": (lambda: xp.asarray([1, 2], dtype=xp.uint8), xp.abs),
    "ceil": (lambda: xp.asarray([1, -2]), xp.ceil),
    "floor": (lambda: xp.asarray([1, -2]), xp.floor),
    "round": (lambda: xp.asarray([1, -2]), xp.round),
    "trunc": (lambda: xp.asarray([1, -2]), xp.trunc),
}


@pytest.mark.parametrize("name", MOVES_NOTHING)
def test_a_view_or_a_copy(name):
    function, numpys = MOVES_NOTHING[name]
    found = set()
    with use("adversarial", seed=1):
        for _ in range(CALLS):
            x = matrix()
            out = function(x)
            assert values(out).tolist() == numpys(values(matrix())).tolist()
            found.add(shares(x, out))
    assert found == {True, False}
    x = matrix()
    assert shares(x, function(x))


@pytest.mark.parametrize("name", CHANGES_NOTHING)
def test_a_copy_or_a_view(name):
    make, function = CHANGES_NOTHING[name]
    found = set()
    with use("adversarial", seed=1):
        for _ in range(CALLS):
            x = make()
            out = function(x)
            assert values(out).tolist() == values(x).tolist()
            found.add(shares(x, out))
    assert found == {True, False}
    x = make()
    assert name == "stack" or not shares(x, function(x))


@pytest.mark.parametrize(("part", "other"), [("real", "imag"), ("imag", "real")])
def test_parts_of_complex_numbers(part, other):
    found = set()
    with use("adversarial", seed=1):
        for _ in range(CALLS):
            x = xp.asarray([1 + 2j, 3 + 4j])
            out = getattr(xp, part)(x)
            wanted = getattr(values(x), part).tolist()
            untouched = getattr(values(x), other).tolist()
            assert values(out).tolist() == wanted
            out += 1
            assert getattr(values(x), other).tolist() == untouched
            found.add(getattr(values(x), part).tolist() == wanted)
    assert found == {True, False}


def test_what_cannot_be_written_to_is_no_result():
    z = xp.broadcast_to(xp.asarray([1 + 2j]), (3,))
    with use("adversarial", seed=1):
        for _ in range(CALLS):
            a = np.ones(3)
            a.flags.writeable = False
            x = xp.asarray(a, copy=False)
            y = xp.positive(x)
            y += 1
            assert values(x).tolist() == [1.0] * 3
            for part in (xp.real, xp.imag):
                y = part(z)
                y += 1
            assert values(z).tolist() == [1 + 2j] * 3


def test_foreign_memory():
    found = set()
    with use("adversarial", seed=1):
        for _ in range(CALLS):
            a = np.arange(3.0)
            for out in (xp.asarray(a), xp.from_dlpack(a)):
                assert values(out).tolist() == [0, 1, 2]
                found.add(shares(a, out))
    assert found == {True, False}


def test_copy_is_obeyed():
    with use("adversarial", seed=1):
        for _ in range(CALLS):
            x, a = matrix(), np.arange(3.0)
            for given in (x, a):
                assert shares(given, xp.asarray(given, copy=False))
                assert shares(given, xp.from_dlpack(given, copy=False))
                assert not shares(given, xp.asarray(given, copy=True))
                assert not shares(given, xp.from_dlpack(given, copy=True))
            assert shares(x, xp.asarray(x))
            assert shares(x, xp.reshape(x, (6,), copy=False))
            assert not shares(x, xp.reshape(x, (6,), copy=True))
            assert xp.astype(x, xp.float64, copy=False) is x
            assert not shares(x, xp.astype(x, xp.float64))


def test_asarray_returns_the_array_or_another_over_its_memory():
    x = matrix()
    with use("adversarial", seed=1):
        assert {xp.asarray(x) is x for _ in range(CALLS)} == {True, False}


def test_assignment_always_arrives():
    with use("adversarial", seed=1):
        for _ in range(CALLS):
            x = matrix()
            x[0, 1:] = xp.asarray([8.0, 9.0])
            x[1, ...] += 1
            x *= 2
            assert values(x).tolist() == [[2, 16, 18], [10, 12, 14]]
            assert values(xp.eye(2)).tolist() == [[1, 0], [0, 1]]


def test_copies_lie_in_memory_in_any_order():
    with use("adversarial", seed=1):
        x = xp.ones((2, 3, 4))
        found = {values(x[...]).strides for _ in range(CALLS)}
    assert len(found) == 6
    assert {sum(steps) for steps in found} > {96 + 32 + 8}


def test_what_is_large_is_not_copied():
    x = xp.zeros(1 << 22)  # 32 MiB
    with use("adversarial", seed=1):
        for _ in range(5):
            assert shares(x, x[1:])
            assert shares(x, xp.from_dlpack(x))
            assert shares(x, xp.broadcast_to(x, (1 << 10, 1 << 22)))


# New memory --------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [xp.float32, xp.float64, xp.complex64])
def test_empty_holds_nan_and_infinities(dtype):
    with use("adversarial", seed=1):
        first, second = xp.empty((50, 2), dtype=dtype), xp.empty((50, 2), dtype=dtype)
        assert xp.any(xp.isnan(first)) and xp.any(xp.isinf(first))
        assert values(first).tobytes() != values(second).tobytes()
        assert xp.any(xp.isnan(xp.empty_like(first)))


@pytest.mark.parametrize("dtype", [xp.int8, xp.int64, xp.uint8, xp.uint64])
def test_empty_holds_large_integers(dtype):
    with use("adversarial", seed=1):
        x = values(xp.empty(100, dtype=dtype))
    limits = np.iinfo(x.dtype)
    assert x.max() > limits.max // 2
    assert x.min() < (limits.min // 2 if limits.min else limits.max // 2)


def test_empty_holds_both_truth_values():
    with use("adversarial", seed=1):
        x = values(xp.empty(100, dtype=xp.bool))
    assert set(x.view(np.uint8).tolist()) == {0, 1}


def test_what_is_made_on_new_memory_is_complete():
    with use("adversarial", seed=1):
        assert values(xp.zeros(3)).tolist() == [0, 0, 0]
        assert values(xp.ones(3)).tolist() == [1, 1, 1]
        assert values(xp.full(2, 7)).tolist() == [7, 7]
        assert values(xp.arange(3)).tolist() == [0, 1, 2]
        assert values(xp.linspace(0, 1, 3)).tolist() == [0, 0.5, 1]


# Strides without a meaning -----------------------------------------------------------


def test_strides_of_single_and_empty_axes():
    one, empty = xp.ones((1, 3, 1)), xp.ones((2, 0))
    found = set()
    for seed in range(1, 6):
        with use("adversarial", seed=seed):
            lent = memoryview(one)
            assert lent.strides[1] == 8
            found.add((lent.strides[0], lent.strides[2], memoryview(empty).strides))
    assert len(found) == 5


def test_numpy_does_not_mind_them():
    for seed in range(1, 6):
        with use("adversarial", seed=seed):
            for x in (xp.ones((1, 3, 1)), xp.ones((1, 1)), xp.ones((2, 0, 3))):
                for a in (np.asarray(x), np.from_dlpack(x)):
                    assert a.shape == x.shape
                    assert a.tolist() == np.ones(x.shape).tolist()
                    assert (a + 1).ravel().tolist() == [2.0] * x.size
                    back = xp.from_dlpack(a)
                    assert values(back).tolist() == a.tolist()


# The seed ----------------------------------------------------------------------------


def program():
    x = xp.empty((3, 3))
    y = xp.linalg.eigh(xp.eye(3) + 1.0)
    z = xp.unique_values(xp.asarray([3, 1, 2, 3, 5, 8]))
    views = [shares(x, x[1:]) for _ in range(20)]
    return [values(a).tobytes() for a in (x, *y, z, xp.exp(y[1]))], views


def test_a_seed_repeats_itself():
    results = []
    for seed in (1, 1, 2):
        with use("adversarial", seed=seed):
            results.append(program())
    assert results[0] == results[1]
    assert results[0][1] != results[2][1]
    assert all(a != b for a, b in zip(results[0][0], results[2][0], strict=True))


def test_each_use_begins_anew():
    chosen = profiles.profile("adversarial", seed=5)
    results = []
    for _ in range(2):
        with use(chosen):
            results.append(program())
    assert results[0] == results[1]


def test_a_restart_makes_a_test_independent_of_those_before():
    results = {}
    with use("adversarial", seed=5):
        for label in ("one", "two", "one"):
            profiles.restart(label)
            result = program()
            assert results.setdefault(label, result) == result
    assert results["one"] != results["two"]
    profiles.restart("without a seed nothing happens")


def test_strict_inside_is_strict():
    with use("adversarial", seed=1), use("strict"):
        # Without what `empty` found in memory: strict leaves that to chance too.
        (_, *first), views = program()
        (_, *second), views_again = program()
        assert (first, views) == (second, views_again)
        x = matrix()
        assert all(shares(x, x[1:]) for _ in range(20))
