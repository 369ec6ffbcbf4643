"""Linear algebra functions. Source: array API 2025.12, linear algebra functions.

These four belong to the main namespace. The others are an extension: `linalg.py`.

Next: `manipulation_functions.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from refarray._base import profile
from refarray._base.layout import broadcast_shapes, normalize_axes, shown, size_of
from refarray._base.promotion import promote
from refarray._compute import freedom, pedantic_sums
from refarray._compute.arguments import check_operands, integer
from refarray._compute.array import Array
from refarray._compute.engine import call, kernels, view
from refarray._compute.pipeline import INTEGRAL, NUMERIC, check_array
from refarray._memory.native import allocate

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]


def matmul(x1: Array, x2: Array, /) -> Array:
    """Matrix product of `x1` and `x2`, neither of them conjugated.

    Shapes (..., M, K) and (..., K, N) give (..., M, N). A vector of shape (K,) is a row
    on the left and a column on the right, and its axis is absent from the result.
    ValueError for an array without dimensions, and where the two K differ.
    """
    check_operands("matmul", NUMERIC, x1, x2)
    shape1, shape2 = x1._shape, x2._shape
    if not shape1 or not shape2:
        raise ValueError(
            "matmul takes arrays of at least one dimension, got shapes "
            f"{shape1} and {shape2} (array API 2025.12, matmul)"
        )
    summed1, summed2 = shape1[-1], shape2[-2:][0]
    if summed1 != summed2:
        raise ValueError(
            f"matmul sums over axes of one size, got {summed1} and {summed2} in shapes "
            f"{shape1} and {shape2} (array API 2025.12, matmul)"
        )
    # Of a vector, both slices are empty.
    rows, columns = shape1[-2:-1], shape2[1:][-1:]
    shape = broadcast_shapes(shape1[:-2], shape2[:-2]) + rows + columns
    out: Array = allocate(shape, promote(x1.dtype, x2.dtype), x1.device, False)
    v1, v2 = view(x1), view(x2)
    if profile.guarded:
        pedantic_sums.matrix_product("matmul", v1, v2, out.dtype)
        v1, v2 = freedom.paired(v1, -1, v2, v2.ndim - len(shape2[-2:]))
    call(kernels(x1.device).matmul, v1, v2, out=view(out))
    return out


def matrix_transpose(x: Array, /) -> Array:
    """Transpose of the last two axes of `x`, as a view.

    ValueError with fewer than two dimensions.
    """
    check_array("matrix_transpose", x)
    return x.mT


def tensordot(
    x1: Array,
    x2: Array,
    /,
    *,
    axes: int | tuple[Sequence[int], Sequence[int]] = 2,
) -> Array:
    """Sum of products over pairs of axes, neither operand conjugated.

    `axes=N` pairs the last N axes of `x1` with the first N of `x2`; two sequences name
    the pairs one by one. The other axes remain, those of `x1` first. ValueError where
    the sizes of a pair differ or an axis is named twice, IndexError for no such axis.
    """
    check_operands("tensordot", NUMERIC, x1, x2)
    summed1, summed2 = _pairs_of_axes(axes, x1.ndim, x2.ndim)
    sizes = tuple(x1._shape[axis] for axis in summed1)
    if sizes != tuple(x2._shape[axis] for axis in summed2):
        raise ValueError(
            f"tensordot sums over pairs of axes of one size, got axes {summed1} of "
            f"shape {x1._shape} and axes {summed2} of shape {x2._shape} "
            "(array API 2025.12, tensordot)"
        )
    kept1 = tuple(axis for axis in range(x1.ndim) if axis not in summed1)
    kept2 = tuple(axis for axis in range(x2.ndim) if axis not in summed2)
    rows = tuple(x1._shape[axis] for axis in kept1)
    columns = tuple(x2._shape[axis] for axis in kept2)
    out: Array = allocate(rows + columns, promote(x1.dtype, x2.dtype), x1.device, False)
    # One matrix product: the axes that remain make the rows, those summed the columns.
    m, k, n = size_of(rows), size_of(sizes), size_of(columns)
    matrix1 = view(x1).transpose(kept1 + summed1).reshape(m, k)
    matrix2 = view(x2).transpose(summed2 + kept2).reshape(k, n)
    if profile.guarded:
        pedantic_sums.matrix_product("tensordot", matrix1, matrix2, out.dtype)
        matrix1, matrix2 = freedom.paired(matrix1, 1, matrix2, 0)
    call(kernels(x1.device).matmul, matrix1, matrix2, out=view(out).reshape(m, n))
    return out


def _pairs_of_axes(
    axes: Any, ndim1: int, ndim2: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if hasattr(axes, "__index__"):
        n = integer("tensordot", "axes", axes)
        if not 0 <= n <= min(ndim1, ndim2):
            raise ValueError(
                f"tensordot cannot sum over {shown(n)} axes of arrays with {ndim1} and "
                f"{ndim2} dimensions (array API 2025.12, tensordot)"
            )
        return tuple(range(ndim1 - n, ndim1)), tuple(range(n))
    if not _is_sequence(axes) or not all(map(_is_sequence, axes)) or len(axes) != 2:
        raise TypeError(
            f"axes is an integer or two sequences of integers, not {axes!r} "
            "(array API 2025.12, tensordot)"
        )
    axes1, axes2 = axes
    if len(axes1) != len(axes2):
        raise ValueError(
            f"tensordot pairs axes, got {len(axes1)} of x1 and {len(axes2)} of x2 "
            "(array API 2025.12, tensordot)"
        )
    return normalize_axes(tuple(axes1), ndim1), normalize_axes(tuple(axes2), ndim2)


def _is_sequence(obj: object) -> bool:
    return isinstance(obj, Sequence) and not isinstance(obj, str)


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Sum of conj(x1) * x2 along an axis, counted from the last: -1, -2 ...

    The other axes broadcast; the summed one does not. ValueError where its sizes
    differ, IndexError unless both arrays have the axis and it is negative.
    """
    check_operands("vecdot", NUMERIC, x1, x2)
    if profile.guarded and x1.dtype in INTEGRAL.dtypes:
        profile.unspecified(
            "vecdot of integers",
            "vecdot, x1: should be of floating-point numbers",
            "use sum of the products",
        )
    position = axis_from_the_end("vecdot", axis, x1, x2)
    size1, size2 = x1._shape[position], x2._shape[position]
    if size1 != size2:
        raise ValueError(
            f"vecdot sums over an axis of one size, got {size1} and {size2} in shapes "
            f"{x1._shape} and {x2._shape} (array API 2025.12, vecdot)"
        )
    shape = broadcast_shapes(
        shape_without(x1._shape, position), shape_without(x2._shape, position)
    )
    out: Array = allocate(shape, promote(x1.dtype, x2.dtype), x1.device, False)
    v1, v2 = view(x1), view(x2)
    if profile.guarded:
        v1, v2 = freedom.paired(v1, position, v2, position)
    call(kernels(x1.device).vecdot, v1, v2, axis=position, out=view(out))
    return out


def axis_from_the_end(name: str, axis: int, x1: Array, x2: Array) -> int:
    """Return a negative `axis` that both arrays have; IndexError if it is none.

    An axis counted from the first would be another one in each array, once their
    numbers of dimensions differ.
    """
    ndim = min(x1.ndim, x2.ndim)
    position = integer(name, "axis", axis)
    if not -ndim <= position <= -1:
        allowed = f"allowed: {-ndim} to -1" if ndim else "there are no axes"
        raise IndexError(
            f"{name} counts its axis from the last one; {allowed}, got "
            f"{shown(position)} (array API 2025.12, {name})"
        )
    return position


def shape_without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """Return `shape` without the size of a negative `axis`."""
    return shape[:axis] + shape[len(shape) + axis + 1 :]
