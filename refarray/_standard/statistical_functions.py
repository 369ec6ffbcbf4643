"""Statistical functions: sums, products, extremes and moments along axes.

`axis` is an axis, a tuple of axes, or None for all; the axes reduced stay, with size
one, where `keepdims` says so. TypeError for what is no array of refarray and for a
dtype that the function does not take, IndexError for an axis that does not exist,
ValueError for an axis named twice.

Source: array API 2025.12, statistical functions.

Next: `utility_functions.py`.
"""

from __future__ import annotations

from refarray._base import profile
from refarray._base.dtypes import DType
from refarray._compute import reductions
from refarray._compute.arguments import Axes, check, check_python
from refarray._compute.array import Array
from refarray._compute.engine import call, kernels, view
from refarray._compute.pipeline import FLOATING, REAL, REAL_FLOATING
from refarray._memory.native import allocate


def cumulative_prod(
    x: Array,
    /,
    *,
    axis: int | None = None,
    dtype: DType | None = None,
    include_initial: bool = False,
) -> Array:
    """Products of the elements up to each along `axis`, after 1 if `include_initial`.

    ValueError if there is more than one axis and none is given, or no axis at all.
    """
    initial = 1 if include_initial else None
    return reductions.accumulate("cumulative_prod", "multiply", x, axis, dtype, initial)


def cumulative_sum(
    x: Array,
    /,
    *,
    axis: int | None = None,
    dtype: DType | None = None,
    include_initial: bool = False,
) -> Array:
    """Sums of the elements up to each along `axis`, after 0 if `include_initial`.

    ValueError if there is more than one axis and none is given, or no axis at all.
    """
    initial = 0 if include_initial else None
    return reductions.accumulate("cumulative_sum", "add", x, axis, dtype, initial)


def max(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Greatest of the real elements; NaN if one is NaN. ValueError if there is none."""
    return _extreme("max", "maximum", x, axis, keepdims)


def mean(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Arithmetic mean of floating-point elements; NaN if there is none."""
    check("mean", x, FLOATING)
    return reductions.mean(x, axis, keepdims, reductions.count(x, axis))


def min(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Least of the real elements; NaN if one is NaN. ValueError if there is none."""
    return _extreme("min", "minimum", x, axis, keepdims)


def prod(
    x: Array,
    /,
    *,
    axis: Axes = None,
    dtype: DType | None = None,
    keepdims: bool = False,
) -> Array:
    """Product of the elements, in `dtype`; 1 if there is none.

    With `dtype=None`, that of `x`; for integers below 64 bits, int64 or uint64.
    """
    x, result = reductions.in_sum_dtype("prod", x, dtype)
    return reductions.reduce("multiply", x, axis, keepdims, result)


def std(
    x: Array,
    /,
    *,
    axis: Axes = None,
    correction: float = 0.0,
    keepdims: bool = False,
) -> Array:
    """Standard deviation of real floating-point elements: the square root of `var`."""
    out = _variance("std", x, axis, correction, keepdims)
    call(kernels(out.device).sqrt, view(out), out=view(out))
    return out


def sum(
    x: Array,
    /,
    *,
    axis: Axes = None,
    dtype: DType | None = None,
    keepdims: bool = False,
) -> Array:
    """Sum of the elements, in `dtype`; 0 if there is none.

    With `dtype=None`, that of `x`; for integers below 64 bits, int64 or uint64.
    """
    x, result = reductions.in_sum_dtype("sum", x, dtype)
    return reductions.reduce("add", x, axis, keepdims, result)


def var(
    x: Array,
    /,
    *,
    axis: Axes = None,
    correction: float = 0.0,
    keepdims: bool = False,
) -> Array:
    """Variance of real floating-point elements.

    The mean square distance to the mean, with M - `correction` in place of the number M
    of elements; NaN if that is not positive.
    """
    return _variance("var", x, axis, correction, keepdims)


def _extreme(name: str, ufunc: str, x: Array, axis: Axes, keepdims: bool) -> Array:
    check(name, x, REAL)
    if not x._size and not reductions.count(x, axis):
        raise ValueError(
            f"{name} takes at least one element, got shape {x._shape}, "
            f"axis={axis} (array API 2025.12, {name})"
        )
    return reductions.reduce(ufunc, x, axis, keepdims, x.dtype)


def _variance(
    name: str, x: Array, axis: Axes, correction: float, keepdims: bool
) -> Array:
    check(name, x, REAL_FLOATING)
    if not isinstance(correction, (int, float)):
        raise TypeError(
            f"correction is a Python number, not {type(correction).__name__} "
            f"(array API 2025.12, {name})"
        )
    if profile.guarded:
        check_python(name, "correction", correction)
    elements = reductions.count(x, axis)
    center = reductions.mean(x, axis, True, elements)
    squares: Array = allocate(x._shape, x.dtype, x.device, False)
    kernel = kernels(x.device)
    call(kernel.subtract, view(x), view(center), out=view(squares))
    call(kernel.square, view(squares), out=view(squares))
    degrees = elements - correction
    return reductions.mean(
        squares, axis, keepdims, degrees if degrees > 0 else float("nan")
    )
