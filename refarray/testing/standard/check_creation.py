"""Creation functions: values and inferred dtypes.

from_dlpack is in `check_dlpack.py`; copy= is in `check_aliasing.py`, device= in
`check_devices.py`.
"""

from __future__ import annotations

import array
import functools
import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np

from refarray.testing.standard.arrays import (
    COMPLEX,
    DTYPES,
    FLOATS,
    INTEGERS,
    NUMBERS,
    REALS,
)
from refarray.testing.standard.calls import Calls, default_dtype
from refarray.testing.standard.layouts import FRESH, LAYOUTS
from refarray.testing.standard.runner import Case, Check, Report
from refarray.testing.standard.samples import (
    SHAPES,
    Values,
    everywhere,
    extremes,
    filled,
    gathered,
)

NAN, INF = math.nan, math.inf


def _defaults(xp: Any) -> dict[str, str]:
    return {
        "bool": "bool",
        "int": default_dtype(xp, "integral"),
        "float": default_dtype(xp, "real floating"),
        "complex": default_dtype(xp, "complex floating"),
    }


def arange(xp: Any, report: Report) -> None:
    """One to three numbers, negative and fractional steps, large integers."""
    clause = "arange: start + i * step, ceil((stop - start) / step) elements"
    call = Calls(xp, report, "arange", clause)
    dtypes = _defaults(xp)
    for args in (
        (0,), (1,), (5,), (-3,), (2, 7), (7, 2), (-4, 3), (0, 10, 3), (0, 9, 3),
        (10, 0, -1), (10, 0, -4), (0, 10, -1), (3, 3), (-1, -8, -3),
        (2**53, 2**53 + 3), (-(2**62), -(2**62) + 5, 2),
        (5.0,), (0.5, 3.0), (0.0, 2.0, 0.25), (1, 2, 0.5), (2.0, -1.0, -0.75),
        (0, 1.1), (1.0, 0.0), (-0.5, 0.5, 1),
    ):  # fmt: skip
        start, stop, step = _interval(args)
        length = max(0, math.ceil(Fraction(stop - start) / Fraction(step)))
        exact = [start + i * step for i in range(length)]
        integral = all(isinstance(a, int) for a in args)
        dtype = dtypes["int" if integral else "float"]
        call.gives(np.asarray(exact, dtype), *args, tolerance=0, layouts=FRESH)
        fits = all(abs(v) < 100 for v in exact)
        for other in (*INTEGERS, *REALS) if fits else ():
            whole = other in REALS or integral
            if whole and (not other.startswith("u") or min(exact, default=0) >= 0):
                wanted = np.asarray(exact, other)
                typed = "arange: dtype= gives the dtype"
                to = np.dtype(other)
                call.gives(
                    wanted, *args, dtype=to, tolerance=0, layouts=FRESH, clause=typed
                )
    named = "arange: stop and step may be passed by name"
    wanted = np.asarray([1, 3], dtypes["int"])
    call.gives(wanted, 1, stop=5, step=2, layouts=FRESH, clause=named)


def _interval(args: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    start, stop = (0, args[0]) if len(args) == 1 else args[:2]
    return start, stop, args[2] if len(args) == 3 else 1


def asarray(xp: Any, report: Report) -> None:
    """Scalars, nested sequences, inferred dtypes, buffers, arrays."""
    call = Calls(xp, report, "asarray")
    dtypes = _defaults(xp)
    infers = "asarray: the dtype is inferred from the Python scalars"
    for obj, kind in (
        (True, "bool"), (0, "int"), (-7, "int"), (2**62, "int"), (1.5, "float"),
        (NAN, "float"), (-0.0, "float"), (-INF, "float"), (5e-30, "float"),
        (1j, "complex"),
        (complex(NAN, -0.0), "complex"), ([True, False], "bool"), ([1, 2], "int"),
        ([True, 2], "int"), ([1, 2.5], "float"), ([True, 1.5], "float"),
        ([1, 2j], "complex"),
        ([1.5, True, 2j], "complex"), ((1, 2), "int"), ([[1], [2]], "int"),
        ([(1, 2), (3, 4)], "int"), (([1.0], [2]), "float"), ([[[True]]], "bool"),
        ([-0.0, INF, NAN, -INF], "float"), ([[[[[[[[1, 2]]]]]]]], "int"),
    ):  # fmt: skip
        wanted = np.asarray(obj, dtypes[kind])
        call.gives(wanted, obj, layouts=FRESH, clause=infers)
    typed = "asarray: dtype= gives the dtype"
    for dtype in DTYPES:
        values = extremes(dtype)
        wanted = np.asarray(values, dtype)
        to = np.dtype(dtype)
        call.gives(wanted, values, dtype=to, layouts=FRESH, clause=typed)
        call.gives(wanted[0], values[0], dtype=to, layouts=FRESH, clause=typed)
        nested = [values[:2], values[:2][::-1]]
        call.gives(
            np.asarray(nested, dtype), nested, dtype=to, layouts=FRESH, clause=typed
        )
    for dtype in FLOATS:
        call.gives(
            np.asarray([1, 2], dtype), [1, 2], dtype=np.dtype(dtype), clause=typed
        )
    same = "asarray: an array keeps its values and dtype"
    for x in everywhere(DTYPES, (2, 3)):
        call.gives(x, x, clause=same)
    promotes = "asarray: dtype= converts an array by type promotion"
    for one, two in (("int8", "int32"), ("uint8", "int16"), ("float32", "float64")):
        x = filled((2, 3), one)
        call.gives(x.astype(two), x, dtype=np.dtype(two), clause=promotes)
    buffers = "asarray: an object with the buffer protocol"
    for code, dtype in (
        ("d", "float64"),
        ("f", "float32"),
        ("b", "int8"),
        ("H", "uint16"),
    ):
        values = [1, 0, 3]
        held = array.array(code, values)
        call.gives(np.asarray(values, dtype), held, layouts=FRESH, clause=buffers)
        view = memoryview(held)
        call.gives(np.asarray(values, dtype), view, layouts=FRESH, clause=buffers)
    call.gives(np.asarray([7, 255], "uint8"), bytearray(b"\x07\xff"), clause=buffers)
    square = memoryview(bytearray(range(6))).cast("B", (2, 3))
    call.gives(np.arange(6, dtype="uint8").reshape(2, 3), square, clause=buffers)


def filled_arrays(xp: Any, report: Report, name: str, value: int) -> None:
    """`zeros` and `ones`: shapes, dtypes, the default dtype."""
    call = Calls(xp, report, name, f"{name}: an array of the shape and dtype given")
    default = default_dtype(xp, "real floating")
    shapes: tuple[Any, ...] = (*SHAPES, 3, 0)
    for shape in shapes:
        wanted = np.full(shape, value, default)
        call.gives(wanted, shape, layouts=FRESH)
        call.gives(wanted, shape=shape, layouts=FRESH)
    for dtype in DTYPES:
        wanted = np.full((2, 3), value, dtype)
        call.gives(wanted, (2, 3), dtype=np.dtype(dtype), layouts=FRESH)


def zeros(xp: Any, report: Report) -> None:
    """Shapes, dtypes, the default dtype; memory used before."""
    filled_arrays(xp, report, "zeros", 0)
    reused = "zeros: zero also in memory that held other values"
    for _ in range(3):
        with report.case("zeros", given="after full", clause=reused) as case:
            used = xp.full((64, 64), 7.0)
            del used
            default = default_dtype(xp, "real floating")
            case.equal(xp.zeros((64, 64)), np.zeros((64, 64), default))


def ones(xp: Any, report: Report) -> None:
    """Shapes, dtypes, the default dtype."""
    filled_arrays(xp, report, "ones", 1)


def zeros_like(xp: Any, report: Report) -> None:
    """Shape and dtype of the array, or the dtype given."""
    _like(xp, report, "zeros_like", 0)


def ones_like(xp: Any, report: Report) -> None:
    """Shape and dtype of the array, or the dtype given."""
    _like(xp, report, "ones_like", 1)


def _like(xp: Any, report: Report, name: str, value: int) -> None:
    call = Calls(xp, report, name, f"{name}: the shape of x; its dtype, or dtype=")
    for x in everywhere(DTYPES, (2, 3)):
        call.gives(np.full(x.shape, value, x.dtype), x)
        for dtype in ("bool", "uint8", "complex64"):
            to = np.dtype(dtype)
            call.gives(np.full(x.shape, value, dtype), x, dtype=to, layouts=FRESH)


def empty(xp: Any, report: Report) -> None:
    """Only shape and dtype: the values are not defined."""
    clause = "empty: an array of the shape and dtype given"
    default = default_dtype(xp, "real floating")
    shapes: tuple[Any, ...] = (*SHAPES, 4)
    for shape, dtype in itertools.product(shapes, (None, *DTYPES)):
        given = f"empty({shape}, dtype={dtype})"
        with report.case("empty", given=given, clause=clause) as case:
            named = {} if dtype is None else {"dtype": getattr(xp, dtype)}
            size = (shape,) if isinstance(shape, int) else shape
            case.is_array(xp.empty(shape, **named), dtype or default, size)


def empty_like(xp: Any, report: Report) -> None:
    """Only shape and dtype: the values are not defined."""
    clause = "empty_like: the shape of x; its dtype, or dtype="
    call = Calls(xp, report, "empty_like", clause)

    def judge(case: Case, got: Any, dtype: str, shape: tuple[int, ...]) -> None:
        case.is_array(got, dtype, shape)

    for x in everywhere(DTYPES, (2, 3)):
        same = functools.partial(judge, dtype=x.dtype.name, shape=x.shape)
        call.judged(same, x)
        other = functools.partial(judge, dtype="int8", shape=x.shape)
        call.judged(other, x, dtype=np.dtype("int8"))


def full(xp: Any, report: Report) -> None:
    """The dtype inferred from the value, and extremes of every dtype."""
    call = Calls(xp, report, "full", "full: every element is the fill value")
    infers = "full: the dtype is inferred from the fill value"
    samples: tuple[Any, ...] = (True, 3, 2.5, 1 - 2j)
    shapes: tuple[Any, ...] = (*SHAPES, 4)
    for value, dtype in zip(samples, _defaults(xp).values(), strict=True):
        for shape in shapes:
            wanted = np.full(shape, value, dtype)
            call.gives(wanted, shape, value, layouts=FRESH, clause=infers)
    for dtype in DTYPES:
        for value in extremes(dtype):
            wanted = np.full((2, 2), value, dtype)
            call.gives(wanted, (2, 2), value, dtype=np.dtype(dtype), layouts=FRESH)
    for dtype in FLOATS:
        wanted = np.full((2,), 3, dtype)
        call.gives(wanted, 2, 3, dtype=np.dtype(dtype), layouts=FRESH)


def full_like(xp: Any, report: Report) -> None:
    """Extremes of every dtype, and another dtype."""
    clause = "full_like: the shape of x; its dtype, or dtype="
    call = Calls(xp, report, "full_like", clause)
    for x in everywhere(DTYPES, (2, 3)):
        for value in extremes(x.dtype.name):
            wanted = np.full(x.shape, value, x.dtype)
            call.gives(wanted, x, value, layouts=("fresh", "strided"))
        wanted = np.full(x.shape, 2.5, "float32")
        call.gives(wanted, x, 2.5, dtype=np.dtype("float32"), layouts=FRESH)


def eye(xp: Any, report: Report) -> None:
    """Rows, columns, diagonals beyond the array, every dtype."""
    call = Calls(xp, report, "eye", "eye: ones on the k-th diagonal, zeros elsewhere")
    default = default_dtype(xp, "real floating")
    for rows, columns, k in itertools.product((0, 1, 3), (None, 0, 2, 5), range(-4, 6)):
        shape = (rows, rows if columns is None else columns)
        wanted = np.zeros(shape, default)
        for i, j in np.ndindex(*shape):
            wanted[i, j] = j - i == k
        args = (rows,) if columns is None else (rows, columns)
        call.gives(wanted, *args, k=k, layouts=FRESH)
        for dtype in DTYPES if (rows, columns) == (3, 5) and k in (0, 1) else ():
            to = np.dtype(dtype)
            call.gives(wanted.astype(dtype), *args, k=k, dtype=to, layouts=FRESH)
    call.gives(np.identity(2, default), 2, layouts=FRESH)


def linspace(xp: Any, report: Report) -> None:
    """With and without the end, one number and none, real and complex."""
    clause = "linspace: num numbers from start to stop, evenly spaced"
    dtypes = _defaults(xp)
    intervals: tuple[tuple[Any, Any], ...] = (
        (0, 1), (0.0, 1.0), (-2, 3), (5.5, -1.25), (1, 1), (0.1, 0.7), (1e10, 1e10 + 8),
        (-1e-30, 1e-30), (1j, 2 + 3j), (1, 1 - 2j), (-1 - 1j, 2.5),
    )  # fmt: skip
    for (start, stop), num, endpoint in itertools.product(
        intervals, (0, 1, 2, 5, 12, 50), (True, False)
    ):
        call = Calls(xp, report, "linspace", f"{clause}, endpoint={endpoint}")
        kind = "complex" if isinstance(start + stop, complex) else "float"
        exact = _evenly(start, stop, num, endpoint)
        allowed = ("complex64", "complex128") if kind == "complex" else FLOATS
        size = max(abs(start), abs(stop))
        for dtype in (None, *allowed):
            name = dtype or dtypes[kind]
            values = np.asarray(exact, "complex128")
            wanted = (values if name in COMPLEX else np.real(values)).astype(name)
            bound = 8 * float(np.finfo(name).eps) * size
            keywords: dict[str, Any] = {} if endpoint else {"endpoint": False}
            if dtype is not None:
                keywords["dtype"] = np.dtype(dtype)
            call.gives(
                wanted,
                start,
                stop,
                num,
                tolerance=bound,
                layouts=FRESH,
                **keywords,
            )


def _evenly(start: Any, stop: Any, num: int, endpoint: bool) -> list[complex]:
    steps = num - 1 if endpoint else num

    def at(a: float, b: float, i: int) -> float:
        if steps == 0:
            return a
        return float(Fraction(a) + (Fraction(b) - Fraction(a)) * i / steps)

    a, b = complex(start), complex(stop)
    return [complex(at(a.real, b.real, i), at(a.imag, b.imag, i)) for i in range(num)]


def meshgrid(xp: Any, report: Report) -> None:
    """Zero to four vectors, both indexings, every dtype."""
    clause = "meshgrid: a tuple (2025.12) of arrays of the grid's shape"
    call = Calls(xp, report, "meshgrid", clause)
    sizes = (3, 2, 4, 2)
    for count, dtype in itertools.product(range(5), ("float32", "int64")):
        vectors = [filled((n,), dtype, n) for n in sizes[:count]]
        call.gives(_grid(vectors, "xy"), *vectors)
        for indexing in ("xy", "ij"):
            call.gives(_grid(vectors, indexing), *vectors, indexing=indexing)
    for dtype in NUMBERS:
        vectors = [filled((3,), dtype), filled((2,), dtype, 1)]
        call.gives(_grid(vectors, "xy"), *vectors)
    vectors = [filled((0,), "int8"), filled((2,), "int8")]
    call.gives(_grid(vectors, "ij"), *vectors, indexing="ij")


def _grid(vectors: list[Values], indexing: str) -> tuple[Values, ...]:
    axes = list(range(len(vectors)))
    if indexing == "xy" and len(vectors) > 1:
        axes[:2] = [1, 0]
    shape = tuple(vectors[a].shape[0] for a in axes)

    def along(vector: Values, axis: int) -> Values:
        return gathered(vector, shape, lambda *at: at[axes.index(axis)])

    return tuple(along(vector, axis) for axis, vector in enumerate(vectors))


def tril(xp: Any, report: Report) -> None:
    """Every diagonal and dtype; NaN and infinities above it become zero."""
    _triangle(xp, report, "tril", lambda i, j, k: j - i <= k)


def triu(xp: Any, report: Report) -> None:
    """Every diagonal and dtype; NaN and infinities below it become zero."""
    _triangle(xp, report, "triu", lambda i, j, k: j - i >= k)


def _triangle(xp: Any, report: Report, name: str, kept: Any) -> None:
    call = Calls(xp, report, name, f"{name}: the triangle, exact zeros elsewhere")
    for x in everywhere(DTYPES, (3, 4)):
        if x.ndim < 2:
            continue
        for k in (None, *range(-x.shape[-2] - 1, x.shape[-1] + 2)):
            wanted = np.zeros_like(x)
            for at in np.ndindex(*x.shape):
                if kept(*at[-2:], k or 0):
                    wanted[at] = x[at]
            keywords: dict[str, Any] = {} if k is None else {"k": k}
            some = LAYOUTS if k in (None, -1, 2) else FRESH
            call.gives(wanted, x, signed_zeros=False, layouts=some, **keywords)


CHECKS = tuple(
    Check(check.__name__, check)
    for check in (
        arange, asarray, empty, empty_like, eye, full, full_like, linspace, meshgrid,
        ones, ones_like, tril, triu, zeros, zeros_like,
    )
)  # fmt: skip
