"""What raises under the profile `pedantic`, for each row of the table that says so.

The table: docs/reference/unspecified.md. A row is named by its first two columns. What
`strict` does in each case has tests in tests/unspecified.

More than 400 lines: it has the rows of one table, in the table's order.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

import refarray as xp
from refarray import profiles

INF, NAN = math.inf, math.nan
GPU = profiles.place("gpu").name


def array(*values: Any, dtype: Any = None) -> xp.Array:
    return xp.asarray(list(values), dtype=dtype)


def int8(*values: int) -> xp.Array:
    return xp.asarray(list(values), dtype=xp.int8)


def uint8(*values: int) -> xp.Array:
    return xp.asarray(list(values), dtype=xp.uint8)


def put(x: xp.Array, key: Any, value: Any) -> None:
    x[key] = value


GRID = xp.reshape(xp.arange(6), (2, 3))
MATRIX = xp.reshape(xp.arange(4.0), (2, 2))
COMPLEX = xp.ones((2, 2), dtype=xp.complex128)
ZERO = xp.asarray(0)
FIRST = array(0, 1)
MASK = array(True, False)
NOTHING = xp.zeros((2, 0))
NOT_A_NUMBER = array(1.0, NAN)
FLOAT32 = xp.ones(2, dtype=xp.float32)
with profiles.use("gpu"):
    ELSEWHERE = xp.asarray(1.0)
    VECTOR_ELSEWHERE = xp.ones(2)

Case = Callable[[], Any]

CASES: dict[str, tuple[Case, ...]] = {
    # ---- Shapes, axes and scalars ----------------------------------------------------
    "shapes: a list instead of a tuple; one integer for `reshape`": (
        lambda: xp.zeros([2, 3]),
        lambda: xp.broadcast_to(xp.ones(2), [2, 2]),
        lambda: xp.reshape(GRID, [3, 2]),
        lambda: xp.reshape(GRID, 6),
        lambda: xp.broadcast_to(xp.ones(1), 2),
        lambda: xp.broadcast_shapes(2, (1,)),
    ),
    "shapes: NumPy integers, arrays of an integer without dimensions": (
        lambda: xp.zeros(np.int64(2)),
        lambda: xp.zeros((2, np.int32(3))),
        lambda: xp.ones((2, xp.asarray(3))),
        lambda: xp.reshape(GRID, (xp.asarray(3), 2)),
        lambda: xp.eye(np.int64(2)),
    ),
    "axes: a list instead of a tuple": (
        lambda: xp.permute_dims(GRID, [1, 0]),
        lambda: xp.expand_dims(GRID, [0]),
        lambda: xp.squeeze(xp.ones((1, 2)), [0]),
        lambda: xp.flip(GRID, axis=[0]),
        lambda: xp.moveaxis(GRID, [0], [1]),
        lambda: xp.roll(GRID, (1,), axis=[0]),
        lambda: xp.roll(GRID, [1], axis=(0,)),
    ),
    "axes: NumPy integers, arrays of an integer without dimensions": (
        lambda: xp.sum(GRID, axis=np.int64(0)),
        lambda: xp.sum(GRID, axis=(0, np.int64(1))),
        lambda: xp.sort(GRID, axis=ZERO),
        lambda: xp.concat([GRID, GRID], axis=ZERO),
        lambda: xp.take(GRID, FIRST, axis=np.int8(1)),
        lambda: xp.vecdot(MATRIX, MATRIX, axis=np.int64(-1)),
    ),
    "iteration: an array without dimensions; with more than one": (
        lambda: iter(GRID),
        lambda: list(NOTHING),
    ),
    "scalars: a NumPy scalar or an array without dimensions for a Python number: "
    "`fill_value`, `n`, `k`, `ord`, `correction`, `rtol`, `d`": (
        lambda: xp.arange(np.int64(3)),
        lambda: xp.arange(ZERO),
        lambda: xp.linspace(xp.asarray(0.0), 1, 3),
        lambda: xp.linspace(0, 1, np.int64(3)),
        lambda: xp.eye(2, k=np.int64(1)),
        lambda: xp.tril(GRID, k=ZERO),
        lambda: xp.var(xp.ones(2), correction=np.float64(1)),
        lambda: xp.diff(GRID, n=np.int64(1)),
        lambda: xp.roll(GRID, ZERO),
        lambda: xp.linalg.vector_norm(MATRIX, ord=np.float64(1)),
        lambda: xp.linalg.matrix_norm(MATRIX, ord=np.int64(1)),
        lambda: xp.linalg.matrix_rank(MATRIX, rtol=np.float64(0.1)),
        lambda: xp.linalg.matrix_power(MATRIX, np.int64(2)),
        lambda: xp.fft.fftfreq(np.int64(2)),
        lambda: xp.fft.rfftfreq(2, d=np.float64(1)),
    ),
    "scalars: a Python number that the dtype beside it cannot hold exactly or at all: "
    "a large integer, 1e300 for float32": (
        lambda: FLOAT32 + 1e300,
        lambda: xp.ones(2) == 2**53 + 1,
        lambda: xp.asarray([2**53 + 1, 0.5]),
        lambda: xp.asarray(1e300, dtype=xp.float32),
        lambda: xp.asarray(1e300 + 1j, dtype=xp.complex64),
        lambda: xp.full(2, 2.0**1000, dtype=xp.float32),
        lambda: xp.linspace(0, 2**53 + 1, 3),
        lambda: put(xp.ones(2), 0, 2**53 + 1),
    ),
    "`in`: a number, or another array": (
        lambda: 1.0 in xp.ones(2),
        lambda: 1 not in xp.arange(2),
    ),
    "iteration, `bool()`, `int()`, `float()`, `complex()`, `operator.index()`: an "
    "array on another device than the host": (
        lambda: bool(ELSEWHERE),
        lambda: int(ELSEWHERE),
        lambda: float(ELSEWHERE),
        lambda: complex(ELSEWHERE),
        lambda: range(3)[xp.astype(ELSEWHERE, xp.int64)],
        lambda: list(VECTOR_ELSEWHERE),
    ),
    # ---- Creation functions ----------------------------------------------------------
    "`asarray`: no values, as in `[]`": (
        lambda: xp.asarray([]),
        lambda: xp.asarray(((), ())),
    ),
    "`asarray`: NumPy scalars, and arrays without dimensions, in a sequence": (
        lambda: xp.asarray([np.float32(1)]),
        lambda: xp.asarray([np.float64(1)]),
        lambda: xp.asarray([[1, np.int64(1)]]),
        lambda: xp.asarray([np.array(1.0)]),
        lambda: xp.asarray([ZERO, 1]),
    ),
    "`asarray`: a `dtype` to which the values do not promote": (
        lambda: xp.asarray([1.5], dtype=xp.int64),
        lambda: xp.asarray(True, dtype=xp.int8),
        lambda: xp.asarray([0, 1], dtype=xp.bool),
        lambda: xp.asarray(GRID, dtype=xp.float64),
        lambda: xp.asarray(GRID, dtype=xp.int8),
        lambda: xp.asarray(xp.ones(2), dtype=xp.float32),
        lambda: xp.asarray(np.ones(2), dtype=xp.float32),
    ),
    "`asarray`: a `range`, a deque: other sequences than lists and tuples": (
        lambda: xp.asarray(range(3)),
        lambda: xp.asarray([range(3)]),
        lambda: xp.asarray(deque([1.0])),
    ),
    "`full`, `full_like`: a value of another kind than the dtype": (
        lambda: xp.full(2, True, dtype=xp.int8),
        lambda: xp.full(2, 1, dtype=xp.bool),
        lambda: xp.full_like(GRID, True),
        lambda: xp.full_like(MATRIX, 1),
        lambda: xp.full_like(COMPLEX, 1),
    ),
    "`full`, `full_like`: a NumPy scalar, an array without dimensions": (
        lambda: xp.full(2, np.float64(1)),
        lambda: xp.full(2, ZERO),
        lambda: xp.full_like(GRID, np.int64(1)),
    ),
    "`arange`: floats with an integer dtype": (
        lambda: xp.arange(0.0, 3.0, dtype=xp.int64),
        lambda: xp.arange(0, 3, 0.5, dtype=xp.uint8),
    ),
    "`linspace`: an integer dtype": (lambda: xp.linspace(0, 4, 5, dtype=xp.int64),),
    "`linspace`: ends whose difference overflows, or infinite ends": (
        lambda: xp.linspace(-1.7e308, 1.7e308, 3),
        lambda: xp.linspace(0, INF, 3),
        lambda: xp.linspace(0, complex(0, INF), 3),
    ),
    # ---- Data type functions ---------------------------------------------------------
    "`astype`: NaN to an integer dtype": (
        lambda: xp.astype(NOT_A_NUMBER, xp.int64),
        lambda: xp.astype(NOT_A_NUMBER, xp.uint8),
    ),
    "`astype`: infinities, and numbers beyond an integer dtype": (
        lambda: xp.astype(array(INF), xp.int64),
        lambda: xp.astype(array(-INF), xp.int8),
        lambda: xp.astype(array(300.0), xp.uint8),
        lambda: xp.astype(array(-1.0), xp.uint64),
        lambda: xp.astype(array(2.0**63), xp.int64),
        lambda: xp.astype(array(128.0, dtype=xp.float32), xp.int8),
    ),
    "`astype`: an integer beyond an integer dtype": (
        lambda: xp.astype(array(128), xp.int8),
        lambda: xp.astype(array(-1), xp.uint64),
        lambda: xp.astype(array(2**63, dtype=xp.uint64), xp.int64),
    ),
    "`astype`: a number beyond float32": (
        lambda: xp.astype(array(1e300), xp.float32),
        lambda: xp.astype(array(complex(0, -1e300)), xp.complex64),
    ),
    "`result_type`: arrays on different devices": (
        lambda: xp.result_type(MATRIX, ELSEWHERE),
    ),
    # ---- Elementwise functions -------------------------------------------------------
    "all of two operands, operators too: `np.float64`, which is a Python float as well"
    ", and `np.complex128`": (
        lambda: xp.ones(2) + np.float64(1),
        lambda: np.float64(1) * xp.ones(2),
        lambda: COMPLEX == np.complex128(1),
    ),
    "all that take integers: a result beyond the dtype": (
        lambda: int8(127) + int8(1),
        lambda: int8(-128) - 1,
        lambda: int8(64) * 2,
        lambda: int8(-1) * int8(-128),
        lambda: int8(-128) * int8(-1),
        lambda: uint8(255) + uint8(1),
        lambda: uint8(0) - uint8(1),
        lambda: -uint8(1),
        lambda: -int8(-128),
        lambda: abs(int8(-128)),
        lambda: xp.square(int8(12)),
        lambda: int8(2) ** 7,
        lambda: array(2) ** array(10**18),
        lambda: array(2**62) * 2,
        lambda: xp.diff(uint8(1, 0)),
        lambda: int8(100).__iadd__(100),
    ),
    "`floor_divide`, `remainder`: integers divided by zero": (
        lambda: GRID // 0,
        lambda: GRID % xp.zeros_like(GRID),
        lambda: 1 // ZERO,
    ),
    "`floor_divide`, `remainder`: the least integer divided by -1": (
        lambda: int8(-128) // -1,
    ),
    "`floor_divide`: an operand that is infinite": (
        lambda: array(INF) // 2.0,
        lambda: array(-INF) // -2.0,
        lambda: array(1.0) // -INF,
        lambda: array(-1.0) // INF,
    ),
    "`bitwise_left_shift`, `bitwise_right_shift`: by the width of the dtype or more, "
    "or by a negative number": (
        lambda: ZERO << 64,
        lambda: int8(1) >> int8(-8),
        lambda: int8(1) << -1,
        lambda: 1 << uint8(8),
    ),
    "`clip`: `min` greater than `max`": (
        lambda: xp.clip(GRID, 3, 2),
        lambda: xp.clip(MATRIX, xp.asarray(1.0), xp.asarray(0.5)),
    ),
    "`clip`: a Python integer beyond the dtype": (
        lambda: xp.clip(int8(1), -1000, 5),
        lambda: xp.clip(int8(1), max=1000),
    ),
    "`clip`: limits of another dtype": (
        lambda: xp.clip(MATRIX, FLOAT32),
        lambda: xp.clip(GRID, max=int8(1)),
    ),
    "`nextafter`: arrays of two dtypes": (lambda: xp.nextafter(FLOAT32, xp.ones(2)),),
    "`sign`: infinite complex numbers with one finite part": (
        lambda: xp.sign(array(complex(INF, 1))),
        lambda: xp.sign(array(complex(INF, INF))),
    ),
    "`multiply`: infinite complex numbers": (
        lambda: array(complex(INF, 0)) * 2j,
        lambda: COMPLEX * complex(NAN, 0),
        lambda: COMPLEX / complex(0, INF),
    ),
    # ---- Manipulation functions ------------------------------------------------------
    "`repeat`: an array of one integer without dimensions": (
        lambda: xp.repeat(GRID, xp.asarray(2)),
    ),
    "`tile`: an integer": (
        lambda: xp.tile(GRID, 2),
        lambda: xp.tile(GRID, [2]),
        lambda: xp.tile(GRID, (np.int64(2),)),
    ),
    # ---- Indexing --------------------------------------------------------------------
    "`x[key]`: fewer indices than axes": (
        lambda: GRID[0],
        lambda: GRID[:1],
        lambda: GRID[()],
        lambda: GRID[None, 0],
        lambda: GRID[FIRST],
        lambda: put(xp.ones((2, 2)), 0, 1.0),
    ),
    "`x[key]`: a slice that begins or ends beyond its axis": (
        lambda: FIRST[:3],
        lambda: FIRST[3:],
        lambda: FIRST[-3:],
        lambda: FIRST[:-3],
        lambda: FIRST[::-1][2:2:-1],
        lambda: FIRST[:-4:-1],
        lambda: GRID[..., :4],
        lambda: GRID[:, None, :4],
        lambda: put(xp.ones(2), slice(0, 3), 1.0),
    ),
    "`x[key]`: an array of integers beside a slice, `...` or None": (
        lambda: GRID[FIRST, :],
        lambda: GRID[..., FIRST],
        lambda: GRID[FIRST, FIRST, None],
        lambda: GRID[ZERO, :],
    ),
    "`x[key]`: integers of another dtype than the default index dtype": (
        lambda: FIRST[int8(0)],
        lambda: GRID[FIRST, uint8(0, 1)],
    ),
    "`x[key]`: a mask beside anything else": (
        lambda: GRID[MASK, 0],
        lambda: GRID[MASK, ...],
        lambda: FIRST[MASK, None],
        lambda: put(xp.ones((2, 2)), (MASK, 0), 1.0),
    ),
    "`x[key] = value`: an array of integers in the key": (
        lambda: put(xp.ones(2), FIRST, 2.0),
        lambda: put(xp.ones((2, 2)), (0, FIRST), 2.0),
        lambda: put(xp.ones(2), ZERO, 2.0),
    ),
    "`x[key] = value`: None in the key": (
        lambda: put(xp.ones(2), None, 2.0),
        lambda: put(xp.ones(2), (None, 0), 2.0),
    ),
    "`x[key] = value`: a NumPy scalar": (
        lambda: put(xp.ones(2), 0, np.float64(5)),
        lambda: put(xp.arange(2), ..., np.int64(5)),
    ),
    # ---- Searching, set and sorting functions ----------------------------------------
    "`argmax`, `argmin`: NaN": (
        lambda: xp.argmax(NOT_A_NUMBER),
        lambda: xp.argmin(NOT_A_NUMBER, axis=0),
    ),
    "`searchsorted`: NaN": (
        lambda: xp.searchsorted(NOT_A_NUMBER, xp.ones(2)),
        lambda: xp.searchsorted(xp.ones(2), NOT_A_NUMBER),
        lambda: xp.searchsorted(xp.ones(2), NAN),
    ),
    "`searchsorted`: `x1` that is not in ascending order, or not by `sorter`": (
        lambda: xp.searchsorted(array(2, 1), ZERO),
        lambda: xp.searchsorted(array(1, 2), ZERO, sorter=array(1, 0)),
    ),
    "`isin`: another dtype than integer": (
        lambda: xp.isin(xp.ones(2), xp.ones(2)),
        lambda: xp.isin(MASK, True),
    ),
    "`sort`, `argsort`: NaN": (
        lambda: xp.sort(NOT_A_NUMBER),
        lambda: xp.argsort(NOT_A_NUMBER, descending=True),
    ),
    # ---- Linear algebra --------------------------------------------------------------
    "`vecdot`: integers": (
        lambda: xp.vecdot(FIRST, FIRST),
        lambda: xp.linalg.vecdot(FIRST, FIRST),
    ),
    "`matmul`, `tensordot`, `outer`, `cross`, `trace`: integers with a result beyond "
    "the dtype": (
        lambda: int8(100, 100) @ int8(1, 1),
        lambda: xp.asarray([[[127, 1]]]) @ array(1, 2**63 - 127),
        lambda: xp.tensordot(uint8(200), uint8(2), axes=1),
        lambda: xp.linalg.outer(int8(100), int8(2)),
        lambda: xp.linalg.cross(int8(100, 0, 1), int8(0, 2, 1)),
        lambda: xp.linalg.trace(xp.asarray([[2**62, 0], [0, 2**62]])),
    ),
    "`cholesky`, `eigh`, `eigvalsh`: a matrix that is not Hermitian": (
        lambda: xp.linalg.cholesky(xp.asarray([[2.0, 1.0], [0.0, 2.0]])),
        lambda: xp.linalg.eigh(MATRIX),
        lambda: xp.linalg.eigvalsh(COMPLEX * 1j),
    ),
    "`det`, `slogdet`: NaN anywhere in a matrix": (
        lambda: xp.linalg.det(MATRIX * NAN),
        lambda: xp.linalg.slogdet(MATRIX * NAN),
    ),
    "`vector_norm`, `matrix_norm`: no elements": (
        lambda: xp.linalg.vector_norm(NOTHING),
        lambda: xp.linalg.vector_norm(NOTHING, axis=1),
        lambda: xp.linalg.matrix_norm(NOTHING),
    ),
    "`matrix_norm`: `ord=None`": (lambda: xp.linalg.matrix_norm(MATRIX, ord=None),),
    # ---- Fourier transforms ----------------------------------------------------------
    "`fftn`, `ifftn`: no axes": (
        lambda: xp.fft.fftn(COMPLEX, axes=()),
        lambda: xp.fft.ifftn(xp.asarray(1j)),
    ),
    "`irfftn`: -1 for the size of the last axis": (
        lambda: xp.fft.irfftn(COMPLEX, s=(2, -1), axes=(0, 1)),
    ),
    "`fftfreq`, `rfftfreq`: a spacing of zero": (
        lambda: xp.fft.fftfreq(3, d=0.0),
        lambda: xp.fft.rfftfreq(3, d=0),
    ),
    # ---- Statistical and utility functions -------------------------------------------
    "`sum`, `prod`, `cumulative_*`: integers with a result beyond the dtype": (
        lambda: xp.sum(array(2**62, 2**62)),
        lambda: xp.sum(int8(100, 100), dtype=xp.int8),
        lambda: xp.sum(xp.asarray([[1, 2**62], [1, 2**62]]), axis=0),
        lambda: xp.prod(array(2**32, 2**31)),
        lambda: xp.prod(array(*[2] * 1000)),
        lambda: xp.cumulative_sum(array(2**62, 2**62, -(2**62))),
        lambda: xp.cumulative_prod(array(2**32, 2**32, 0)),
    ),
    "`diff`: `n` greater than the number of elements": (lambda: xp.diff(FIRST, n=3),),
    "`diff`: `prepend` or `append` of another dtype": (
        lambda: xp.diff(FIRST, prepend=int8(0)),
        lambda: xp.diff(xp.ones(2), append=FLOAT32),
    ),
}
