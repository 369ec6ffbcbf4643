"""Reductions: many elements along some axes become one, and running sums and products.

A reduction is a ufunc's own `reduce`, written into memory of ours; the functions that
NumPy has for it (`np.sum` and the like) take longer to start than most sums.

Next: `ordering.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from refarray._base import dtypes, profile
from refarray._base.dtypes import IINFO, DType, as_dtype
from refarray._base.layout import normalize_axes, normalize_axis, size_of
from refarray._base.profile import defaults, holds
from refarray._base.promotion import can_cast
from refarray._compute import freedom, pedantic_sums
from refarray._compute.arguments import check
from refarray._compute.casting import cast
from refarray._compute.engine import NUMPY_DTYPES, call, kernels, view
from refarray._compute.pipeline import (
    COMPLEX,
    NUMERIC,
    category_error,
    component,
)
from refarray._memory.native import allocate

if TYPE_CHECKING:
    from refarray._compute.array import Array

Axes = int | tuple[int, ...] | None


def reduce(ufunc: str, x: Array, axis: Axes, keepdims: bool, dtype: DType) -> Array:
    """Reduce `x` along `axis` with a ufunc of the engine, to elements of `dtype`."""
    shape: tuple[int, ...] = ()
    axes: tuple[int, ...] | None = None
    if axis is not None or keepdims:
        axes = normalize_axes(axis, x.ndim)
        shape = reduced_shape(x._shape, axes, keepdims)
    out: Array = allocate(shape, dtype, x.device, False)
    if profile.guarded and ufunc in ("add", "multiply"):
        pedantic_sums.reduction(ufunc, view(x), axes, dtype)
    kernel = getattr(kernels(x.device), ufunc).reduce
    values = freedom.regrouped(view(x), axes) if profile.guarded else view(x)
    call(kernel, values, axes, None, view(out), keepdims)
    return out


def reduced_shape(
    shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool
) -> tuple[int, ...]:
    """Return `shape` without the axes reduced, or with size one for each."""
    if keepdims:
        return tuple([1 if a in axes else n for a, n in enumerate(shape)])
    return tuple([n for a, n in enumerate(shape) if a not in axes])


def count(x: Array, axis: Axes) -> int:
    """Return how many elements a reduction along `axis` makes one of."""
    if axis is None:
        return int(x._size)
    return int(size_of(tuple(x._shape[a] for a in normalize_axes(axis, x.ndim))))


def in_sum_dtype(name: str, x: Array, dtype: DType | None) -> tuple[Array, DType]:
    """Return `x`, and the dtype for a sum or product of its elements.

    Integers smaller than the default integer dtype are summed in that, or in the
    unsigned dtype of its size. `x` is converted unless it promotes to the dtype.

    Source: array API 2025.12, sum, `dtype`.
    """
    check(name, x, NUMERIC)
    if dtype is not None:
        result = as_dtype(dtype)
        if result not in NUMERIC.dtypes:
            raise category_error(name, NUMERIC, result)
    elif x.dtype in IINFO and x.dtype.bits < defaults(x.device).integral.bits:
        result = defaults(x.device).integral
        if x.dtype.family == "unsigned integer":
            unsigned = dtypes.BY_NAME[f"u{result}"]
            # As torch does, which had no unsigned dtype of that size for long.
            result = unsigned if holds(x.device, unsigned) else result
    else:
        return x, x.dtype
    return (x if can_cast(x.dtype, result) else cast(x, result)), result


def accumulate(
    name: str,
    ufunc: str,
    x: Array,
    axis: int | None,
    dtype: DType | None,
    initial: int | None,
) -> Array:
    """Return running results of a ufunc along `axis`, after `initial` unless None."""
    x, result = in_sum_dtype(name, x, dtype)
    if x.ndim == 0 or (axis is None and x.ndim != 1):
        raise ValueError(
            f"{name} takes an array with one axis, or `axis` to say which; this array "
            f"has {x.ndim} axes (array API 2025.12, {name})"
        )
    along = 0 if axis is None else normalize_axis(axis, x.ndim)
    shape, first = list(x._shape), 0 if initial is None else 1
    shape[along] += first
    out: Array = allocate(tuple(shape), result, x.device, False)
    if profile.guarded:
        pedantic_sums.accumulation(name, view(x), along, result)
    target = view(out)
    if initial is not None:
        steps = target.swapaxes(0, along)
        steps[0] = initial
        target = steps[1:].swapaxes(0, along)
    kernel = getattr(kernels(x.device), ufunc).accumulate
    call(kernel, view(x), along, NUMPY_DTYPES[result], target)
    return out


def divide_in_place(x: Array, divisor: float) -> None:
    """Divide the elements of a new array by a real number.

    Complex ones part by part: in a complex quotient NaN spreads to both parts.
    """
    parts: Any = view(x)
    if x.dtype in COMPLEX.dtypes:
        parts = parts.reshape(-1).view(NUMPY_DTYPES[component(x.dtype)])
    call(kernels(x.device).divide, parts, divisor, out=parts)
