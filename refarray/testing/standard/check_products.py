"""Products: matmul, vecdot, tensordot, outer, cross, and diagonal and trace.

Entries are small integers, so every product is exact in every dtype and compared
exactly. The oracle is the sum in the definition, in Python. matmul, vecdot and
tensordot are checked under both of their names.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from refarray.testing.standard import arrays
from refarray.testing.standard.arrays import DTYPES, NUMBERS
from refarray.testing.standard.calls import Calls
from refarray.testing.standard.check_statistical import small, sum_dtype
from refarray.testing.standard.runner import Check, Report
from refarray.testing.standard.samples import Values, everywhere

PROMOTED = (
    ("int8", "int32", "int32"), ("uint8", "int8", "int16"),
    ("uint16", "int32", "int32"),
    ("float32", "float64", "float64"), ("float32", "complex64", "complex64"),
    ("complex64", "float64", "complex128"),
)  # fmt: skip


def product(a: Values, b: Values, dtype: str = "") -> Values:
    """The matrix product of the innermost matrices, by its definition."""
    a2 = a[np.newaxis, :] if a.ndim == 1 else a
    b2 = b[:, np.newaxis] if b.ndim == 1 else b
    batch = np.broadcast_shapes(a2.shape[:-2], b2.shape[:-2])
    a2 = np.broadcast_to(a2, batch + a2.shape[-2:])
    b2 = np.broadcast_to(b2, batch + b2.shape[-2:])
    out = np.empty((*batch, a2.shape[-2], b2.shape[-1]), dtype or a.dtype.name)
    for at in np.ndindex(*out.shape):
        *outer, i, j = at
        row, column = a2[(*outer, i)].tolist(), b2[(*outer, slice(None), j)].tolist()
        out[at] = sum(p * q for p, q in zip(row, column, strict=True))
    if b.ndim == 1:
        out = out[..., 0]
    if a.ndim == 1:
        out = out[..., 0, :] if b.ndim > 1 else out[..., 0]
    return np.asarray(out)


MATMUL_SHAPES: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((3,), (3,)), ((2, 3), (3, 4)), ((3,), (3, 4)), ((2, 3), (3,)), ((1, 1), (1, 1)),
    ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)), ((4, 1, 2, 3), (2, 3, 2)),
    ((3,), (4, 3, 2)), ((4, 2, 3), (3,)), ((0,), (0,)), ((2, 0), (0, 3)),
    ((0, 3), (3, 2)), ((2, 3), (3, 0)), ((0, 2, 3), (3, 2)), ((2, 0, 0), (0, 1)),
    ((1, 2, 1, 1, 2, 1, 2, 3), (1, 1, 1, 2, 1, 1, 3, 2)), ((17, 33), (33, 9)),
)  # fmt: skip


def matmul(xp: Any, report: Report) -> None:
    """Vectors, matrices, broadcast stacks, nothing to sum; no conjugation."""
    for name in _names(xp, "matmul"):
        call = Calls(xp, report, name, "matmul: the conventional matrix product")
        for dtype, (one, two) in itertools.product(
            ("float32", "int64", "complex128"), MATMUL_SHAPES
        ):
            a, b = small(one, dtype), np.flip(small(two, dtype)).copy()
            call.gives(product(a, b), a, b, signed_zeros=False)
        for dtype in NUMBERS:
            a, b = small((2, 3), dtype), small((3, 2), dtype)
            call.gives(product(a, b), a, b, signed_zeros=False)
        promotes = "matmul: the dtype follows type promotion"
        for one_dtype, two_dtype, result in PROMOTED:
            a, b = small((2, 3), one_dtype), small((3, 2), two_dtype)
            wanted = product(a, b, result)
            call.gives(wanted, a, b, clause=promotes, signed_zeros=False)
        vector = small((3,), "float64")
        zero_d = "matmul: a zero-dimensional array should raise"
        call.refused(Exception, vector, np.asarray(2.0), clause=zero_d)
        call.refused(Exception, np.asarray(2.0), vector, clause=zero_d)
        unequal = "matmul: different sizes of the summed axes should raise"
        for one, two in (
            ((3,), (2,)),
            ((3,), (2, 3)),
            ((2, 3), (2,)),
            ((2, 3), (2, 3)),
        ):
            a, b = small(one, "float64"), small(two, "float64")
            call.refused(Exception, a, b, clause=unequal)
        a, b = small((2, 1), "float64"), small((3, 2), "float64")
        call.refused(Exception, a, b, clause=unequal)


def at_operator(xp: Any, report: Report) -> None:
    """`x1 @ x2` and `x1 @= x2` are matmul."""
    clause = "x1 @ x2 equals matmul(x1, x2)"
    for dtype in ("int16", "float32", "complex128"):
        for one, two in MATMUL_SHAPES:
            a, b = small(one, dtype), np.flip(small(two, dtype)).copy()
            given = f"shape {one} @ shape {two}"
            with report.case(
                "__matmul__", dtype=dtype, given=given, clause=clause
            ) as case:
                got = arrays.make(xp, a) @ arrays.make(xp, b)
                case.equal(got, product(a, b), signed_zeros=False)
        a, b = small((3, 2, 2), dtype), small((2, 2), dtype)
        given = "x @= a square matrix"
        with report.case(
            "__imatmul__", dtype=dtype, given=given, clause=clause
        ) as case:
            x = arrays.make(xp, a)
            x @= arrays.make(xp, b)
            case.equal(x, product(a, b), signed_zeros=False)
    with report.case("__matmul__", given="x @ 2", clause="x @ scalar raises") as case:
        x = arrays.make(xp, small((2, 2), "float64"))
        case.raises(Exception, lambda: x @ 2)


def _names(xp: Any, name: str) -> list[str]:
    return [name, f"linalg.{name}"] if hasattr(xp, "linalg") else [name]


def vecdot(xp: Any, report: Report) -> None:
    """The first vector is conjugated; other axes broadcast, the summed one never."""
    shapes: tuple[tuple[tuple[int, ...], tuple[int, ...], int], ...] = (
        ((3,), (3,), -1), ((2, 3), (3,), -1), ((2, 3), (2, 3), -2),
        ((4, 1, 3), (2, 3), -1),
        ((3, 1), (3, 2), -2), ((0,), (0,), -1), ((2, 0), (0,), -1), ((0, 3), (3,), -1),
        ((40,), (40,), -1), ((1, 2, 1, 1, 2, 1, 2, 3), (2, 3), -1),
    )  # fmt: skip
    for name in _names(xp, "vecdot"):
        call = Calls(xp, report, name, "vecdot: the sum of conj(x1) * x2 along an axis")
        for dtype in ("float32", "int64", "complex64", "complex128"):
            for one, two, axis in shapes:
                a, b = small(one, dtype), np.flip(small(two, dtype)).copy()
                wanted = _dot(a, b, axis, dtype)
                call.gives(wanted, a, b, axis=axis, signed_zeros=False)
        for dtype in NUMBERS:
            a, b = small((2, 3), dtype), small((2, 3), dtype)
            call.gives(_dot(a, b, -1, dtype), a, b, signed_zeros=False)
        for one_dtype, two_dtype, result in PROMOTED:
            a, b = small((3,), one_dtype), small((3,), two_dtype)
            wanted = _dot(a, b, -1, result)
            promotes = "vecdot: the dtype follows type promotion"
            call.gives(wanted, a, b, clause=promotes, signed_zeros=False)
        unequal = "vecdot: the summed axis is not broadcast; different sizes raise"
        a = small((2, 3), "float64")
        call.refused(Exception, a, small((2, 2), "float64"), clause=unequal)
        call.refused(Exception, a, small((2, 1), "float64"), clause=unequal)


def _dot(a: Values, b: Values, axis: int, dtype: str) -> Values:
    one, two = np.moveaxis(a, axis, -1), np.moveaxis(b, axis, -1)
    shape = np.broadcast_shapes(one.shape[:-1], two.shape[:-1])
    one = np.broadcast_to(one, (*shape, one.shape[-1]))
    two = np.broadcast_to(two, (*shape, two.shape[-1]))
    out = np.empty(shape, dtype)
    for at in np.ndindex(*shape):
        pairs = zip(one[at].tolist(), two[at].tolist(), strict=True)
        out[at] = sum(p.conjugate() * q for p, q in pairs)
    return out


def tensordot(xp: Any, report: Report) -> None:
    """Zero to three summed axes, lists of axes, negative axes; no conjugation."""
    axes: tuple[tuple[tuple[int, ...], tuple[int, ...], Any], ...] = (
        ((2, 3), (4,), 0), ((2, 3), (3, 4), 1), ((2, 3, 4), (3, 4, 2), 2),
        ((2, 3), (2, 3), 2), ((2, 3), (2, 4), ((0,), (0,))),
        ((2, 3, 4), (4, 2), ((2, 0), (0, 1))), ((2, 3, 4), (4, 2), ((-1, -3), (0, -1))),
        ((2, 3), (3, 2), ((), ())), ((2, 0), (0, 3), 1), ((0, 2), (2, 3), 1),
        ((), (2,), 0),
        ((), (), 0), ((3,), (3,), 1), ((2, 1, 2, 3), (1, 2, 3, 2), 3),
    )  # fmt: skip
    for name in _names(xp, "tensordot"):
        call = Calls(xp, report, name, "tensordot: sums over pairs of axes")
        for dtype in ("float32", "int64", "complex128"):
            for one, two, pairs in axes:
                a, b = small(one, dtype), np.flip(small(two, dtype)).copy()
                wanted = _contracted(a, b, pairs, dtype)
                call.gives(wanted, a, b, axes=pairs, signed_zeros=False)
        for dtype in NUMBERS:
            a, b = small((2, 1, 3), dtype), small((1, 3, 2), dtype)
            wanted = _contracted(a, b, 2, dtype)
            two_axes = "tensordot: two axes by default"
            call.gives(wanted, a, b, clause=two_axes, signed_zeros=False)
        for one_dtype, two_dtype, result in PROMOTED:
            a, b = small((2, 3), one_dtype), small((3, 2), two_dtype)
            promotes = "tensordot: the dtype follows type promotion"
            wanted = _contracted(a, b, 1, result)
            call.gives(wanted, a, b, axes=1, clause=promotes, signed_zeros=False)
        a, b = small((2, 3), "float64"), small((2, 3), "float64")
        unequal = "tensordot: summed axes are not broadcast; different sizes raise"
        call.refused(Exception, a, b, axes=1, clause=unequal)
        call.refused(Exception, a, b[:1], axes=((0,), (0,)), clause=unequal)
        invalid = "tensordot: an invalid axis raises"
        call.refused(Exception, a, b, axes=((2,), (0,)), clause=invalid)
        call.refused(Exception, a, b, axes=((0,), (-3,)), clause=invalid)


def _contracted(a: Values, b: Values, axes: Any, dtype: str) -> Values:
    if isinstance(axes, int):
        axes = (range(a.ndim - axes, a.ndim), range(axes))
    one, two = [k % a.ndim for k in axes[0]], [k % b.ndim for k in axes[1]]
    rest_a = [k for k in range(a.ndim) if k not in one]
    rest_b = [k for k in range(b.ndim) if k not in two]
    summed = tuple(a.shape[k] for k in one)
    shape = tuple(a.shape[k] for k in rest_a) + tuple(b.shape[k] for k in rest_b)
    out = np.empty(shape, dtype)
    for at in np.ndindex(*shape):
        total = 0
        for inner in np.ndindex(*summed):
            index_a = dict(
                zip([*rest_a, *one], [*at[: len(rest_a)], *inner], strict=True)
            )
            index_b = dict(
                zip([*rest_b, *two], [*at[len(rest_a) :], *inner], strict=True)
            )
            left = a[tuple(index_a[k] for k in range(a.ndim))].item()
            total += left * b[tuple(index_b[k] for k in range(b.ndim))].item()
        out[at] = total
    return out


def outer(xp: Any, report: Report) -> None:
    """Every pair of two vectors, promoted; no conjugation."""
    call = Calls(xp, report, "linalg.outer", "outer: x1[i] * x2[j]")
    for dtype in NUMBERS:
        a, b = small((3,), dtype), np.flip(small((4,), dtype)).copy()
        call.gives(product(a[:, np.newaxis], b[np.newaxis]), a, b, signed_zeros=False)
    for one_dtype, two_dtype, result in PROMOTED:
        a, b = small((3,), one_dtype), small((2,), two_dtype)
        wanted = product(a[:, np.newaxis], b[np.newaxis], result)
        call.gives(wanted, a, b, signed_zeros=False)
    a = small((0,), "float64")
    call.gives(np.zeros((0, 2)), a, small((2,), "float64"))


def cross(xp: Any, report: Report) -> None:
    """Right-handed, along any axis counted from the end, broadcast."""
    call = Calls(xp, report, "linalg.cross", "cross: the vector product along an axis")
    shapes: tuple[tuple[tuple[int, ...], tuple[int, ...], int], ...] = (
        ((3,), (3,), -1), ((2, 3), (2, 3), -1), ((3, 2), (3, 2), -2),
        ((2, 3), (3,), -1),
        ((4, 1, 3), (2, 3), -1), ((3, 1), (3, 4), -2), ((0, 3), (0, 3), -1),
    )  # fmt: skip
    for dtype in ("float32", "int64", "complex128"):
        for one, two, axis in shapes:
            a, b = small(one, dtype), np.flip(small(two, dtype)).copy()
            wanted = _crossed(a, b, axis)
            call.gives(wanted, a, b, axis=axis, signed_zeros=False)
    for dtype in NUMBERS:
        a, b = np.asarray([2, 5, 7], dtype), np.asarray([1, 2, 4], dtype)
        if not dtype.startswith("u"):
            call.gives(_crossed(a, b, -1), a, b, signed_zeros=False)
    sizes = "cross: an axis of another size than 3 raises"
    three, two_ = small((3,), "float64"), small((2,), "float64")
    for a, b in ((two_, two_), (three, two_), (two_, three), (three, three[:1])):
        call.refused(Exception, a, b, clause=sizes)


def _crossed(a: Values, b: Values, axis: int) -> Values:
    one, two = np.moveaxis(a, axis, 0), np.moveaxis(b, axis, 0)
    parts = [
        one[(i + 1) % 3] * two[(i + 2) % 3] - one[(i + 2) % 3] * two[(i + 1) % 3]
        for i in range(3)
    ]
    return np.stack(parts, axis=axis)


def diagonal(xp: Any, report: Report) -> None:
    """Every dtype and offset, matrices and stacks."""
    call = Calls(
        xp, report, "linalg.diagonal", "diagonal: the elements x[..., i, i + k]"
    )
    for x in everywhere(DTYPES, (3, 4)):
        if x.ndim >= 2:
            for offset in (0, 1, -1, 2, -2, *((-x.shape[-2], x.shape[-1]))):
                call.gives(_diagonal(x, offset), x, offset=offset)
            call.gives(_diagonal(x, 0), x, layouts=("fresh", "strided"))


def _diagonal(x: Values, offset: int) -> Values:
    rows, columns = x.shape[-2:]
    places = [(i, i + offset) for i in range(rows) if 0 <= i + offset < columns]
    out = np.empty((*x.shape[:-2], len(places)), x.dtype)
    for k, (i, j) in enumerate(places):
        out[..., k] = x[..., i, j]
    return out


def trace(xp: Any, report: Report) -> None:
    """Offsets, stacks, the upcast of small integers, dtype=."""
    call = Calls(xp, report, "linalg.trace", "trace: the sum of a diagonal")
    for dtype in NUMBERS:
        result = sum_dtype(xp, dtype)
        shapes = ((3, 3), (2, 4), (2, 3, 2), (0, 0), (0, 3), (2, 0, 3), (1, 2, 1, 3, 3))
        for shape in shapes:
            x = small(shape, dtype)
            for offset in (0, 1, -1, 3):
                wanted = _diagonal(x, offset).astype(result).sum(axis=-1, dtype=result)
                call.gives(np.asarray(wanted), x, offset=offset, signed_zeros=False)
    casts = "trace: small integers are summed up in the default integer dtype"
    for dtype in ("int8", "uint8"):
        x = np.full((3, 3), 120, dtype)
        call.gives(np.asarray(360, sum_dtype(xp, dtype)), x, clause=casts)
    x = np.asarray([[2.0**24, 0], [0, 1]], "float32")
    casts = "trace: dtype= casts before summing"
    call.gives(np.asarray(2.0**24 + 1), x, dtype=np.dtype("float64"), clause=casts)
    x = np.full((3, 3), 120, "int8")
    call.gives(np.asarray(360, "int16"), x, dtype=np.dtype("int16"), clause=casts)


CHECKS = (
    Check("matmul", matmul),
    Check("__matmul__", at_operator),
    Check("vecdot", vecdot),
    Check("tensordot", tensordot),
    Check("linalg.outer", outer),
    Check("linalg.cross", cross),
    Check("linalg.diagonal", diagonal),
    Check("linalg.trace", trace),
)
