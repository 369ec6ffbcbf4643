"""The profile `pedantic` leaves alone what is specified, up to its very limits.

Besides: integer arithmetic, element by element against Python's integers.
"""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import refarray as xp
from refarray import profiles

INF, NAN = math.inf, math.nan


@pytest.fixture(autouse=True)
def pedantic() -> Iterator[None]:
    with profiles.use("pedantic"):
        yield


def values(x: Any) -> Any:
    return np.from_dlpack(x).tolist()


def array(*elements: Any, dtype: Any = None) -> xp.Array:
    return xp.asarray(list(elements), dtype=dtype)


def int8(*elements: int) -> xp.Array:
    return array(*elements, dtype=xp.int8)


def put(x: xp.Array, key: Any, value: Any) -> xp.Array:
    x[key] = value
    return x


def symmetric(n: int) -> xp.Array:
    x = xp.reshape(xp.linspace(0.0, 1.0, n * n), (n, n))
    return x @ x.T + 0.1 * xp.eye(n)


GRID = xp.reshape(xp.arange(6), (2, 3))
COMPLEX = xp.ones((2, 2), dtype=xp.complex128)
FIRST = xp.asarray([0, 1])

# What is computed, and what it must give.
SPECIFIED: list[tuple[Callable[[], Any], Any]] = [
    # Shapes, axes and scalars
    (lambda: xp.zeros((2,)), [0.0, 0.0]),
    (lambda: xp.zeros(2), [0.0, 0.0]),
    (lambda: xp.sum(GRID, axis=(0, 1)), 15),
    (lambda: list(map(int, FIRST)), [0, 1]),
    (lambda: array(1.0, dtype=xp.float32) * 0.1, [np.float32(0.1)]),
    (lambda: array(1.0) + 2**53, [float(2**53)]),
    (lambda: array(1.0) * INF, [INF]),
    (lambda: int8(100) + 27, [127]),
    # Creation and conversion
    (lambda: xp.asarray([], dtype=xp.int8), []),
    (lambda: xp.asarray([1, 2.5, True]), [1.0, 2.5, 1.0]),
    (lambda: xp.asarray([True, 2]), [1, 2]),
    (lambda: xp.asarray([1, 2], dtype=xp.float32), [1.0, 2.0]),
    (lambda: xp.asarray(1.5, dtype=xp.complex64), 1.5),
    (lambda: xp.asarray(-128, dtype=xp.int8), -128),
    (lambda: xp.asarray(INF, dtype=xp.float32), INF),
    (lambda: xp.asarray(np.float32(1.5)), 1.5),
    (lambda: xp.asarray(np.arange(2)), [0, 1]),
    (lambda: xp.asarray(xp.ones(1, dtype=xp.float32), dtype=xp.float64), [1.0]),
    (lambda: xp.asarray(b"ab"), [97, 98]),
    (lambda: xp.full(1, 2, dtype=xp.float32), [2.0]),
    (lambda: xp.full_like(GRID[..., 0], 7), [7, 7]),
    (lambda: xp.full_like(COMPLEX[0, ...], 1.5), [1.5, 1.5]),
    (lambda: xp.arange(0, 1, 0.5), [0.0, 0.5]),
    (lambda: xp.linspace(0, 1, 3), [0.0, 0.5, 1.0]),
    (lambda: xp.eye(2, k=5), [[0.0, 0.0]] * 2),
    (lambda: xp.triu(xp.ones((1, 1)), k=1), [[0.0]]),
    (lambda: xp.astype(array(-0.9, 255.9), xp.uint8), [0, 255]),
    (lambda: xp.astype(array(-128.9, 127.9), xp.int8), [-128, 127]),
    (lambda: xp.astype(array(-(2.0**63)), xp.int64), [-(2**63)]),
    (lambda: xp.astype(array(2**53 + 1), xp.float64), [float(2**53)]),
    (lambda: xp.astype(array(NAN, 0.0), xp.bool), [True, False]),
    (lambda: xp.astype(array(0.1, INF), xp.float32), [np.float32(0.1), INF]),
    (lambda: xp.astype(array(True), xp.int8), [1]),
    (lambda: xp.isdtype(xp.result_type(GRID, xp.int8, 1), xp.int64), True),
    # Elementwise functions
    (lambda: array(1.0, 0.0) / 0.0, [INF, NAN]),
    (lambda: array(1.0, 0.0) // 0.0, [INF, NAN]),
    (lambda: array(INF, 1.0, NAN) // INF, [NAN, 0.0, NAN]),
    (lambda: array(-1.0, 0.0) // -INF, [0.0, -0.0]),
    (lambda: int8(-128) % -1, [0]),
    (lambda: int8(-128) // 1, [-128]),
    (lambda: int8(1, -1) << 7, [-128, -128]),
    (lambda: int8(-128) >> 7, [-1]),
    (lambda: int8(-128, 1) >> 100, [-1, 0]),
    (lambda: xp.negative(array(0, dtype=xp.uint8)), [0]),
    (lambda: int8(-2) ** 7, [-128]),
    (lambda: int8(-1, 0, 1) ** 127, [-1, 0, 1]),
    (lambda: xp.clip(GRID[0, :], 1, 1), [1, 1, 1]),
    (lambda: xp.clip(array(1.0), NAN, 0.0), [NAN]),
    (lambda: xp.clip(int8(1), -128, 127), [1]),
    (lambda: xp.maximum(array(0.0), array(-0.0)) == 0, [True]),
    (lambda: array(2 + 0j) * 3j, [6j]),
    (lambda: xp.sign(array(3j)), [1j]),
    (lambda: xp.isnan(array(complex(NAN, NAN)) * complex(NAN, NAN)), [True]),
    # Manipulation functions
    (lambda: xp.repeat(FIRST, array(1, 2)), [0, 1, 1]),
    (lambda: xp.repeat(FIRST, array(2)), [0, 0, 1, 1]),
    (lambda: xp.concat([FIRST, int8(2)]), [0, 1, 2]),
    (lambda: xp.reshape(GRID, (-1,)), [0, 1, 2, 3, 4, 5]),
    (lambda: xp.tile(FIRST, (2,)), [0, 1, 0, 1]),
    (lambda: xp.roll(FIRST, 1), [1, 0]),
    # Indexing
    (lambda: GRID[1, 2], 5),
    (lambda: GRID[1, ...], [3, 4, 5]),
    (lambda: GRID[..., None, 0], [[0], [3]]),
    (lambda: GRID[FIRST, FIRST], [0, 4]),
    (lambda: GRID[1, FIRST], [3, 4]),
    (lambda: GRID[xp.asarray(1), xp.asarray(2)], 5),
    (lambda: GRID[np.int64(1), 0], 3),
    (lambda: GRID[array(True, False)], [[0, 1, 2]]),
    (lambda: GRID[GRID > 3], [4, 5]),
    (lambda: FIRST[2:], []),
    (lambda: FIRST[-2:2], [0, 1]),
    (lambda: FIRST[::-1], [1, 0]),
    (lambda: FIRST[1:-3:-1], [1, 0]),
    (lambda: FIRST[2:0:-1], [1]),
    (lambda: FIRST[None, ...][..., 0], [0]),
    (lambda: xp.zeros((0,))[0:0], []),
    (lambda: put(xp.zeros(2), 0, 1), [1.0, 0.0]),
    (lambda: put(xp.zeros(2), ..., array(1.0, dtype=xp.float32)), [1.0, 1.0]),
    (lambda: put(xp.zeros(2), array(True, False), 2.0), [2.0, 0.0]),
    (lambda: put(xp.zeros((2, 1)), (slice(0, 1), ...), 2.0), [[2.0], [0.0]]),
    (lambda: xp.take(FIRST, array(-1)), [1]),
    (lambda: xp.take_along_axis(FIRST, array(-1)), [1]),
    # Searching, set and sorting functions
    (lambda: xp.argmax(array(INF, -INF)), 0),
    (lambda: xp.sort(array(INF, -0.0, 0.0, -INF)) == 0, [False, True, True, False]),
    (lambda: xp.searchsorted(array(2.0, 1.0), 1.5, sorter=array(1, 0)), 1),
    (lambda: xp.searchsorted(array(1, 1, 2), array(1), side="right"), [2]),
    (lambda: xp.isin(GRID[0, :], FIRST), [True, True, False]),
    (lambda: xp.unique_values(array(NAN, 1.0)).shape, (2,)),
    (lambda: xp.max(array(NAN, 1.0)), NAN),
    (lambda: xp.where(array(True), array(1.0), 0.0), [1.0]),
    # Linear algebra and Fourier transforms
    (lambda: int8(127, -128) @ int8(1, 0), 127),
    (lambda: xp.linalg.cross(int8(1, 0, 0), int8(0, 127, 0)), [0, 0, 127]),
    (lambda: xp.linalg.cholesky(symmetric(3)).shape, (3, 3)),
    (lambda: xp.linalg.eigvalsh(symmetric(3)).shape, (3,)),
    (lambda: xp.linalg.matrix_norm(xp.ones((2, 2)), ord=1), 2.0),
    (lambda: xp.linalg.vector_norm(xp.ones((0, 2)), axis=1), []),
    (lambda: xp.linalg.diagonal(GRID, offset=9), []),
    (lambda: xp.fft.irfftn(COMPLEX, s=(2, 3), axes=[0, 1]).shape, (2, 3)),
    # Statistical and utility functions
    (lambda: xp.sum(int8(100, 100)), 200),
    (lambda: xp.sum(array(2**62, 2**62, -(2**62))), 2**62),
    (lambda: xp.sum(array(0.5, 0.5), dtype=xp.float32), 1.0),
    (lambda: xp.sum(GRID, dtype=xp.float64), 15.0),
    (lambda: xp.prod(array(2**62, 2**62, 0)), 0),
    (lambda: xp.prod(array(-1, 2**62, 2)), -(2**63)),
    (lambda: xp.cumulative_sum(int8(100, 100)), [100, 200]),
    (lambda: xp.sum(xp.zeros((0, 2), dtype=xp.int8), axis=0), [0, 0]),
    (lambda: xp.diff(FIRST, n=2), []),
    (lambda: xp.diff(FIRST, n=0), [0, 1]),
    (lambda: xp.var(array(1.0, 3.0), correction=1), 2.0),
]


@pytest.mark.parametrize("case", range(len(SPECIFIED)))
def test_what_is_specified(case: int) -> None:
    call, wanted = SPECIFIED[case]
    came = call()
    np.testing.assert_equal(
        values(came) if isinstance(came, xp.Array) else came, wanted
    )


# Integer arithmetic ------------------------------------------------------------------

DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "pow": operator.pow,
}


def numbers(dtype: Any) -> list[int]:
    """Limits, what is near them, near powers of two and their roots, and in between."""
    limits = xp.iinfo(dtype)
    chosen = {limits.min, limits.min + 1, limits.max, limits.max - 1}
    for exponent in range(limits.bits):
        chosen |= {sign * 2**exponent + step for sign in (1, -1) for step in (-1, 0, 1)}
    root = math.isqrt(limits.max)
    chosen |= {root, root + 1, -root, -root - 1, 0, 3, 7, 11, limits.max // 3}
    inside = sorted(n for n in chosen if limits.min <= n <= limits.max)
    return inside if limits.bits < 16 else random.Random(0).sample(inside, 25)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("dtype_name", DTYPES)
def test_an_operation_raises_where_its_result_does_not_fit(
    name: str, dtype_name: str
) -> None:
    dtype = getattr(xp, dtype_name)
    function, limits = getattr(xp, name), xp.iinfo(dtype)
    chosen = {n: xp.asarray(n, dtype=dtype) for n in numbers(dtype)}
    for a, x in chosen.items():
        for b, y in chosen.items():
            if name == "pow" and (b < 0 or b > 200):
                continue
            by_zero = b == 0 and name in ("floor_divide", "remainder")
            right = None if by_zero else OPERATIONS[name](a, b)
            if right is not None and limits.min <= right <= limits.max:
                assert values(function(x, y)) == right, (a, b)
            else:
                with pytest.raises(profiles.UnspecifiedError):
                    function(x, y)


@pytest.mark.parametrize("dtype_name", DTYPES)
def test_sums_raise_where_they_do_not_fit(dtype_name: str) -> None:
    dtype = getattr(xp, dtype_name)
    limits, draw = xp.iinfo(dtype), random.Random(1)
    raised = 0
    for _ in range(60):
        a = [draw.choice(numbers(dtype)) for _ in range(3)]
        b = [draw.choice((0, 1, 2, limits.min // 3)) for _ in range(3)]
        x, y = array(*a, dtype=dtype), array(*b, dtype=dtype)
        for call, right in (
            (lambda x=x: xp.sum(x, dtype=dtype), sum(a)),
            (lambda x=x: xp.prod(x, dtype=dtype), math.prod(a)),
            (lambda x=x, y=y: x @ y, sum(map(operator.mul, a, b))),
        ):
            if limits.min <= right <= limits.max:
                assert values(call()) == right
            else:
                raised += 1
                with pytest.raises(profiles.UnspecifiedError):
                    call()
    assert 10 < raised < 170


def test_what_is_no_key_is_refused_as_ever() -> None:
    """Arrays of another library, however many axes and whatever slices beside them."""
    x = xp.ones((2, 3))
    theirs = np.asarray([0, 1])
    for key in (theirs, (theirs, slice(1), slice(1)), (theirs, slice("a"), ..., 0)):
        for name in ("strict", "pedantic"):
            with profiles.use(name):
                with pytest.raises(TypeError, match="is no index of a refarray array"):
                    x[key]
                with pytest.raises(TypeError, match="is no index of a refarray array"):
                    x[key] = 1.0
