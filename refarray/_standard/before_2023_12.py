"""Functions as they were before version 2023.12.

Sums and products of float32 and complex64 were returned in the default dtypes, float64
and complex128, and the axis of vecdot and cross could be counted from the first one.

Source: array API 2022.12, the functions of these names.

Next folder: `testing/`.
"""

from __future__ import annotations

from refarray._base.dtypes import KINDS, DType
from refarray._base.profile import defaults
from refarray._compute.arguments import Axes
from refarray._compute.array import Array
from refarray._compute.pipeline import check_array
from refarray._standard import (
    linalg,
    linear_algebra_functions,
    statistical_functions,
)

__all__ = ["cross", "prod", "sum", "trace", "vecdot"]


def prod(
    x: Array,
    /,
    *,
    axis: Axes = None,
    dtype: DType | None = None,
    keepdims: bool = False,
) -> Array:
    """Product of the elements; by default in the default dtype of their kind."""
    dtype = _sum_dtype("prod", x, dtype)
    return statistical_functions.prod(x, axis=axis, dtype=dtype, keepdims=keepdims)


def sum(
    x: Array,
    /,
    *,
    axis: Axes = None,
    dtype: DType | None = None,
    keepdims: bool = False,
) -> Array:
    """Sum of the elements; by default in the default dtype of their kind."""
    dtype = _sum_dtype("sum", x, dtype)
    return statistical_functions.sum(x, axis=axis, dtype=dtype, keepdims=keepdims)


def trace(x: Array, /, *, offset: int = 0, dtype: DType | None = None) -> Array:
    """Sum of a diagonal of each matrix; by default in the default dtype of its kind."""
    dtype = _sum_dtype("linalg.trace", x, dtype)
    return linalg.trace(x, offset=offset, dtype=dtype)


def _sum_dtype(name: str, x: Array, dtype: DType | None) -> DType | None:
    check_array(name, x)
    if dtype is None and x.dtype in KINDS["real floating"]:
        return defaults(x.device).real
    if dtype is None and x.dtype in KINDS["complex floating"]:
        return defaults(x.device).complex
    return dtype


def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Vector product along an axis of size 3 of the broadcast shape."""
    return linalg.cross(x1, x2, axis=_axis_from_the_end("cross", x1, x2, axis))


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Sum of conj(x1) * x2 along an axis of the broadcast shape."""
    axis = _axis_from_the_end("vecdot", x1, x2, axis)
    return linear_algebra_functions.vecdot(x1, x2, axis=axis)


def _axis_from_the_end(name: str, x1: Array, x2: Array, axis: int) -> int:
    check_array(name, x1)
    check_array(name, x2)
    ndim = max(x1.ndim, x2.ndim)
    return axis - ndim if 0 <= axis < ndim else axis
