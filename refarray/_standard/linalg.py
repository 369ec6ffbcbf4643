"""The linear algebra extension. Source: array API 2025.12, linear algebra extension.

`__all__` lists it in the standard's order. Products, determinants and systems of
equations are here; decompositions in `linalg_decompositions.py`, which also says what
holds for every function of matrices; norms in `linalg_norms.py`. matmul,
matrix_transpose, tensordot and vecdot belong to the main namespace as well:
`linear_algebra_functions.py`.

Next: `fft.py`.
"""

from __future__ import annotations

from math import nan
from types import ModuleType
from typing import Any, NamedTuple

from refarray._base import profile
from refarray._base.dtypes import DType
from refarray._base.layout import broadcast_shapes, from_sizes
from refarray._base.limits import FINFO
from refarray._base.profile import defaults
from refarray._base.promotion import promote
from refarray._compute import pedantic, pedantic_sums
from refarray._compute.arguments import check_operands, check_python, integer
from refarray._compute.array import Array
from refarray._compute.engine import NUMPY_DTYPES, adopt, call, kernels, view
from refarray._compute.indexing import share
from refarray._compute.pipeline import (
    FLOATING,
    NUMERIC,
    REAL_FLOATING,
    check_array,
    component,
)
from refarray._memory.native import allocate
from refarray._standard.linalg_decompositions import (
    check_matrices,
    check_matrix_shape,
    cholesky,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    qr,
    run,
    svd,
    svdvals,
)
from refarray._standard.linalg_norms import matrix_norm, vector_norm
from refarray._standard.linear_algebra_functions import (
    axis_from_the_end,
    matmul,
    matrix_transpose,
    tensordot,
    vecdot,
)
from refarray._standard.statistical_functions import sum

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]


def __dir__() -> list[str]:
    return __all__


# Products and diagonals --------------------------------------------------------------


def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Vector product along an axis of size 3, counted from the last: -1, -2 ...

    The other axes broadcast. ValueError for another size, IndexError unless both arrays
    have the axis and it is negative.
    """
    name = "linalg.cross"
    check_operands(name, NUMERIC, x1, x2)
    position = axis_from_the_end(name, axis, x1, x2)
    if x1._shape[position] != 3 or x2._shape[position] != 3:
        raise ValueError(
            f"{name} takes vectors of 3 elements, got {x1._shape[position]} and "
            f"{x2._shape[position]} along axis {position} (array API 2025.12, {name})"
        )
    shape = broadcast_shapes(x1._shape, x2._shape)
    out: Array = allocate(shape, promote(x1.dtype, x2.dtype), x1.device, False)
    if profile.guarded:
        pedantic_sums.vector_product(name, view(x1), view(x2), position, out.dtype)
    call(_cross, kernels(x1.device), view(x1), view(x2), position, view(out))
    return out


def _cross(xp: ModuleType, x1: Any, x2: Any, axis: int, out: Any) -> None:
    a, b, c = (values.swapaxes(axis, -1) for values in (x1, x2, out))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        left, right = a[..., j] * b[..., k], a[..., k] * b[..., j]
        xp.subtract(left, right, out=c[..., i])


def outer(x1: Array, x2: Array, /) -> Array:
    """Products x1[i] * x2[j] of two vectors, shape (N, M), neither conjugated.

    ValueError unless both have one dimension.
    """
    name = "linalg.outer"
    check_operands(name, NUMERIC, x1, x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(
            f"{name} takes two vectors, got shapes {x1._shape} and {x2._shape} "
            f"(array API 2025.12, {name})"
        )
    shape = x1._shape + x2._shape
    out: Array = allocate(shape, promote(x1.dtype, x2.dtype), x1.device, False)
    if profile.guarded:
        pedantic.binary("multiply", out.dtype, view(x1)[:, None], view(x2))
    call(kernels(x1.device).multiply.outer, view(x1), view(x2), out=view(out))
    return out


def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """Elements x[..., i, i + offset], as a view.

    A positive offset means a diagonal above the main one. Outside the matrix the result
    is empty.
    """
    check_array("linalg.diagonal", x)
    check_matrix_shape("linalg.diagonal", x)
    (*batch, rows, columns), (*steps, down, right) = x._shape, x._strides
    k = integer("linalg.diagonal", "offset", offset)
    size = max(0, min(rows, columns - k) if k >= 0 else min(rows + k, columns))
    size = from_sizes(size, rows, columns)
    first = (k * right if k >= 0 else -k * down) if size else 0
    return share(x, first, (*batch, size), (*steps, down + right))


def trace(x: Array, /, *, offset: int = 0, dtype: DType | None = None) -> Array:
    """Sum of a diagonal of each matrix.

    The dtype is that of `sum`: small integers are summed up in the default one.
    """
    check_operands("linalg.trace", NUMERIC, x)
    return sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


# Determinants and systems of equations -----------------------------------------------


class SlogdetResult(NamedTuple):
    """Determinant as sign * exp(logabsdet); `sign` has absolute value 1, or is 0."""

    sign: Array
    logabsdet: Array


def det(x: Array, /) -> Array:
    """Determinant of each square matrix; that of an empty matrix is 1."""
    check_matrices("linalg.det", x, square=True)
    if profile.guarded:
        pedantic.no_nan("linalg.det", "det: not mentioned", view(x))
    values = run("linalg.det", _det, kernels(x.device), view(x))
    out: Array = adopt(values, x.dtype, x.device, x._shape[:-2])
    return out


def slogdet(x: Array, /) -> SlogdetResult:
    """Sign and logarithm of the determinant, also where `det` would overflow.

    A determinant of zero has sign 0 and logarithm -infinity.
    """
    check_matrices("linalg.slogdet", x, square=True)
    if profile.guarded:
        pedantic.no_nan("linalg.slogdet", "slogdet: not mentioned", view(x))
    sign, logarithm = run("linalg.slogdet", _slogdet, kernels(x.device), view(x))
    shape = x._shape[:-2]
    return SlogdetResult(
        adopt(sign, x.dtype, x.device, shape),
        adopt(logarithm, component(x.dtype), x.device, shape),
    )


# A NaN in the way of the elimination looks like a column of zeros to LAPACK, which then
# finds the matrix singular. Its determinant is unknown, not 0.


def _det(xp: ModuleType, x: Any) -> Any:
    unknown = xp.isnan(x).any(axis=(-2, -1))
    return xp.where(unknown, x.dtype.type(nan), xp.linalg.det(x))


def _slogdet(xp: ModuleType, x: Any) -> Any:
    unknown = xp.isnan(x).any(axis=(-2, -1))
    return [
        xp.where(unknown, part.dtype.type(nan), part) for part in xp.linalg.slogdet(x)
    ]


def inv(x: Array, /) -> Array:
    """Inverse of each square matrix. ValueError for a singular one."""
    check_matrices("linalg.inv", x, square=True)
    values = run("linalg.inv", kernels(x.device).linalg.inv, view(x))
    out: Array = adopt(values, x.dtype, x.device, x._shape)
    return out


def solve(x1: Array, x2: Array, /) -> Array:
    """Solution X of x1 @ X = x2, where `x1` has shape (..., M, M).

    `x2` is one vector, shape (M,), for every system, or has shape (..., M, K).
    ValueError for a singular `x1` and for shapes that do not fit.
    """
    name = "linalg.solve"
    check_operands(name, FLOATING, x1, x2)
    check_matrix_shape(name, x1, square=True)
    vector = x2.ndim == 1
    shape = x1._shape[:-1]
    if not vector:
        check_matrix_shape(name, x2)
        stack = broadcast_shapes(x1._shape[:-2], x2._shape[:-2])
        shape = stack + x2._shape[-2:]
    if x2._shape[-2:][0] != x1._shape[-1]:
        raise ValueError(
            f"{name} takes one right-hand value for each unknown, got shapes "
            f"{x1._shape} and {x2._shape} (array API 2025.12, {name})"
        )
    # One column in every case, so that no kernel has to guess what a vector means.
    columns = view(x2)[:, None] if vector else view(x2)
    values = run(name, kernels(x1.device).linalg.solve, view(x1), columns)
    if vector:
        values = values[..., 0]
    out: Array = adopt(values, promote(x1.dtype, x2.dtype), x1.device, shape)
    return out


def matrix_power(x: Array, n: int, /) -> Array:
    """Square matrices to the power `n`: products, the identity for 0, inverses below.

    ValueError for a singular matrix and a negative `n`.
    """
    name = "linalg.matrix_power"
    check_matrices(name, x, square=True)
    n = integer(name, "the exponent", n)
    values = run(name, kernels(x.device).linalg.matrix_power, view(x), n)
    out: Array = adopt(values, x.dtype, x.device, x._shape)
    return out


def pinv(x: Array, /, *, rtol: float | Array | None = None) -> Array:
    """Moore-Penrose inverse, shape (..., N, M), of matrices of shape (..., M, N).

    Singular values up to `rtol` times the largest count as zero; `rtol` broadcasts to
    the stack, and is max(M, N) * eps by default. ValueError for NaN.
    """
    name = "linalg.pinv"
    check_matrices(name, x)
    tolerance = _relative_tolerance(name, x, rtol)
    values = run(name, kernels(x.device).linalg.pinv, view(x), tolerance)
    *batch, rows, columns = x._shape
    out: Array = adopt(values, x.dtype, x.device, (*batch, columns, rows))
    return out


def matrix_rank(x: Array, /, *, rtol: float | Array | None = None) -> Array:
    """Number of singular values above `rtol` times the largest, shape (...).

    `rtol` broadcasts to the stack, and is max(M, N) * eps by default. ValueError for
    NaN.
    """
    name = "linalg.matrix_rank"
    check_matrices(name, x)
    tolerance = _relative_tolerance(name, x, rtol)
    counts = run(name, _count_singular_values, kernels(x.device), view(x), tolerance)
    index = defaults(x.device).indexing
    out: Array = adopt(counts, index, x.device, x._shape[:-2])
    return out


def _count_singular_values(xp: ModuleType, x: Any, tolerance: Any) -> Any:
    values = xp.linalg.svd(x, compute_uv=False)
    largest = values[..., :1]
    above = values > tolerance[..., None] * largest
    return xp.add.reduce(above, axis=-1)


def _relative_tolerance(name: str, x: Array, rtol: Any) -> Any:
    """Return `rtol` as a kernel's array that broadcasts to the stack of matrices."""
    real = component(x.dtype)
    if isinstance(rtol, Array):
        check_operands(name, REAL_FLOATING, rtol)
        check_operands(name, FLOATING, x, rtol)  # on one device
        batch = x._shape[:-2]
        if broadcast_shapes(rtol._shape, batch) != batch:
            raise ValueError(
                f"rtol of shape {rtol._shape} does not broadcast to the stack of shape "
                f"{batch} (array API 2025.12, {name})"
            )
        return view(rtol)
    if profile.guarded:
        check_python(name, "rtol", rtol)
    if rtol is None:
        rtol = max(x._shape[-2:]) * FINFO[real].eps
    if isinstance(rtol, bool) or not isinstance(rtol, (int, float)):
        raise TypeError(
            f"rtol is a float, an array or None, not {type(rtol).__name__} "
            f"(array API 2025.12, {name})"
        )
    return call(kernels(x.device).asarray, rtol, NUMPY_DTYPES[real])
