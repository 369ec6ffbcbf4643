"""Reductions: many elements along some axes become one, and running sums and products.

A reduction is a ufunc's own `reduce`, written into memory of ours; the functions that
NumPy has for it (`np.sum` and the like) take longer to start than most sums. The sums
of many elements are in `summation.py`.

Next: `ordering.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from refarray._base import dtypes, profile
from refarray._base.dtypes import DType, as_dtype
from refarray._base.layout import (
    normalize_axes,
    normalize_axis,
    remembered,
    size_of,
)
from refarray._base.limits import IINFO
from refarray._base.profile import defaults, holds
from refarray._base.promotion import can_cast
from refarray._compute import freedom, pedantic_sums
from refarray._compute.arguments import Axes, check
from refarray._compute.casting import cast
from refarray._compute.engine import Kernel, call, compute, kernels
from refarray._compute.pipeline import NUMERIC, category_error
from refarray._compute.summation import FEW, sum_kernel
from refarray._memory.native import ArrayBase, allocate, view

if TYPE_CHECKING:
    from refarray._compute.array import Array


def reduce(ufunc: str, x: Array, axis: Axes, keepdims: bool, dtype: DType) -> Array:
    """Reduce `x` along `axis` with a ufunc of the engine, to elements of `dtype`."""
    axes: tuple[int, ...] | None = None
    shape: tuple[int, ...] = ()
    if axis is not None:
        axes, shape = reduced(x._shape, axis, False)
    values: Any = x
    if profile.guarded:
        if ufunc in ("add", "multiply"):
            pedantic_sums.reduction(ufunc, x._view, axes, dtype)
        values = freedom.regrouped(x._view, axes)
    k = kernels(x.device)
    kernel = getattr(k, ufunc).reduce
    if x._size > FEW and ufunc == "add":
        kernel = sum_kernel(k)
    out: Array = compute(kernel, shape, dtype, x.device, values, axes, None)
    if keepdims:
        _, shape = reduced(x._shape, axis, True)
        out = view(out, 0, shape, None, False)
    return out


def mean(x: Array, axis: Axes, keepdims: bool, divisor: float) -> Array:
    """Return the sum of floating-point elements along `axis`, divided by a number."""
    keepdims = bool(keepdims)  # some kernels read it as a number
    axes, shape = reduced(x._shape, axis, keepdims)
    out: Array = allocate(shape, x.dtype, x.device, False)
    values = x._view
    if profile.guarded:
        values = freedom.regrouped(values, axes)
    k = kernels(x.device)
    kernel = k.add.reduce if x._size <= FEW else sum_kernel(k)
    call(_mean, kernel, values, axes, keepdims, divisor, out._view)
    return out


def _mean(
    kernel: Kernel, x: Any, axes: Any, keepdims: bool, divisor: float, out: Any
) -> None:
    total = kernel(x, axes, None, None, keepdims)
    if total.dtype.kind == "c":
        # Part by part: in a complex quotient NaN spreads to both parts.
        out.real[...] = total.real / divisor
        out.imag[...] = total.imag / divisor
    else:
        # A single number is divided as such, several times faster than an array of one.
        out[...] = total / divisor


def reduced(
    shape: tuple[int, ...], axis: Axes, keepdims: bool
) -> tuple[tuple[int, ...] | None, tuple[int, ...]]:
    """Return the axes that `axis` means, and what is left of a shape without them.

    For all axes, None may stand, which a kernel takes as well.
    """
    if axis is None and not keepdims:
        return None, ()
    axes = normalize_axes(axis, len(shape))
    return axes, reduced_shape(shape, axes, keepdims)


@remembered
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
    if dtype is None and isinstance(x, ArrayBase):
        if x.dtype.key in _SUMMED_AS_THEY_ARE:
            return x, x.dtype
    check(name, x, NUMERIC)
    if dtype is not None:
        result = as_dtype(dtype)
        if result not in NUMERIC.dtypes:
            raise category_error(name, NUMERIC, result)
        return (x if can_cast(x.dtype, result) else cast(x, result)), result
    default = defaults(x.device).integral
    if x.dtype.bits >= default.bits:
        return x, x.dtype
    if x.dtype.family == "unsigned integer":
        unsigned = dtypes.BY_NAME[f"u{default}"]
        # As torch does, which had no unsigned dtype of that size for long.
        return x, unsigned if holds(x.device, unsigned) else default
    return x, default


# By key. No default integer dtype has more than 64 bits.
_SUMMED_AS_THEY_ARE = frozenset(
    dtype.key for dtype in NUMERIC.dtypes if dtype not in IINFO or dtype.bits == 64
)


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
    if profile.guarded:
        pedantic_sums.accumulation(name, x._view, along, result)
    kernel = getattr(kernels(x.device), ufunc).accumulate
    shape = x._shape
    if initial is None:
        out: Array = compute(kernel, shape, result, x.device, x, along, None)
        return out
    shape = (*shape[:along], shape[along] + 1, *shape[along + 1 :])
    out = allocate(shape, result, x.device, False)
    steps = out._view.swapaxes(0, along)
    steps[0] = initial
    call(kernel, x._view, along, None, steps[1:].swapaxes(0, along))
    return out
