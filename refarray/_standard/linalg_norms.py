"""Norms of the linear algebra extension.

Source: array API 2025.12, linear algebra extension.

The largest of no magnitudes is 0 and the smallest infinity, so that a norm of no
elements follows from its definition: 0 for orders from 0 up, infinity below.

Next: `linalg.py`, the rest of the extension.
"""

from __future__ import annotations

from math import inf
from types import ModuleType
from typing import Any, Literal

from refarray._base import profile
from refarray._base.layout import normalize_axes
from refarray._compute.arguments import check, check_python
from refarray._compute.array import Array
from refarray._compute.engine import adopt, call, kernels, view
from refarray._compute.pipeline import FLOATING, component
from refarray._compute.reductions import reduced, reduced_shape
from refarray._compute.summation import sum_kernel
from refarray._memory.native import allocate
from refarray._standard.linalg_decompositions import check_matrices, run


def matrix_norm(
    x: Array,
    /,
    *,
    keepdims: bool = False,
    ord: int | float | Literal["fro", "nuc"] | None = "fro",
) -> Array:
    """Norm of each matrix: 'fro' (and None), 'nuc', 1, -1, 2, -2, inf or -inf.

    Real, in the precision of `x`. ValueError for any other order, and where singular
    values of NaN are asked for.
    """
    name = "linalg.matrix_norm"
    check_matrices(name, x)
    if profile.guarded:
        check_python(name, "ord", ord)
        _check_elements(name, x)
    if ord is None:
        profile.unspecified(
            f"{name} with ord=None", f"{name}, ord: without a meaning", "write 'fro'"
        )
    order = "fro" if ord is None else ord
    if order not in ("fro", "nuc", 1, -1, 2, -2, inf, -inf):
        raise ValueError(
            f"ord is 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, not {ord!r} "
            f"(array API 2025.12, {name})"
        )
    keepdims = bool(keepdims)  # kernels read it as a number
    values = run(name, _matrix_norm, kernels(x.device), view(x), order, keepdims)
    shape = reduced_shape(x._shape, normalize_axes((-2, -1), x.ndim), keepdims)
    out: Array = adopt(values, component(x.dtype), x.device, shape)
    return out


def _matrix_norm(xp: ModuleType, x: Any, order: float | str, keepdims: bool) -> Any:
    if order == "fro":
        return _vector_norm(xp, x, 2, (-2, -1), keepdims)
    if order in ("nuc", 2, -2):
        terms = xp.linalg.svd(x, compute_uv=False)[..., None]
    else:
        summed = -2 if order in (1, -1) else -1
        terms = sum_kernel(xp)(xp.abs(x), (summed,), keepdims=True)
    if order == "nuc":
        return sum_kernel(xp)(terms, (-2, -1), keepdims=keepdims)
    return _extreme(xp, terms, order, (-2, -1), keepdims)


def vector_norm(
    x: Array,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    ord: int | float = 2,
) -> Array:
    """Norm over an axis, several (a tuple) or all of them (None), of any order.

    sum(abs(x)**ord)**(1/ord); the largest or smallest magnitude for inf and -inf, the
    number of nonzero elements for 0. Real, in the precision of `x`.
    """
    name = "linalg.vector_norm"
    check(name, x, FLOATING)
    keepdims = bool(keepdims)  # as above
    axes, shape = reduced(x._shape, axis, keepdims)
    if isinstance(ord, bool) or not isinstance(ord, (int, float)):
        raise TypeError(
            f"ord is an integer or a float, not {ord!r} (array API 2025.12, {name})"
        )
    if profile.guarded:
        check_python(name, "ord", ord)
        _check_elements(name, x, axes)
    out: Array = allocate(shape, component(x.dtype), x.device, False)
    k, values, order = kernels(x.device), x._view, float(ord)
    norm = call(_vector_norm, k, values, order, axes, keepdims)
    out._view[...] = norm
    return out


def _vector_norm(
    xp: ModuleType, x: Any, order: float, axes: tuple[int, ...] | None, keepdims: bool
) -> Any:
    if order == 2:
        return xp.sqrt(_sum_of_squares(xp, x, axes, keepdims))
    magnitude = xp.abs(x)
    if order in (inf, -inf):
        return _extreme(xp, magnitude, order, axes, keepdims)
    if order == 0:
        terms = magnitude != 0
    elif order == 1:
        terms = magnitude
    else:
        terms = magnitude**order
    total = sum_kernel(xp)(terms, axes, keepdims=keepdims)
    return total if order in (0, 1) else total ** (1 / order)


def _sum_of_squares(
    xp: ModuleType, x: Any, axes: tuple[int, ...] | None, keepdims: bool
) -> Any:
    if axes is None:
        return xp.vdot(x, x).real  # reads the elements once and writes none
    squares = x * x if x.dtype.kind == "f" else x.real * x.real + x.imag * x.imag
    return sum_kernel(xp)(squares, axes, keepdims=keepdims)


def _check_elements(
    name: str, x: Array, axes: tuple[int, ...] | None = (-2, -1)
) -> None:
    shape = x._shape
    if 0 in (shape if axes is None else [shape[axis] for axis in axes]):
        profile.unspecified(
            f"{name} of no elements", f"{name}: not mentioned", "treat that case apart"
        )


def _extreme(
    xp: ModuleType,
    values: Any,
    order: Any,
    axes: tuple[int, ...] | None,
    keepdims: bool,
) -> Any:
    if order > 0:
        return xp.maximum.reduce(values, axis=axes, keepdims=keepdims, initial=0)
    return xp.minimum.reduce(values, axis=axes, keepdims=keepdims, initial=inf)
