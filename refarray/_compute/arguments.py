"""Arguments: the checks that functions other than the elementwise ones share.

Next: `indexing.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, TypeAlias

import numpy as np

from refarray._base import dtypes, profile
from refarray._base.devices import Device
from refarray._base.dtypes import DType
from refarray._base.layout import check_shape, shown
from refarray._base.promotion import promote, scalar_dtype
from refarray._compute.engine import NUMPY_DTYPES, Kernel, call, kernels, view
from refarray._compute.pipeline import (
    ANY,
    Category,
    category_error,
    device_error,
    is_scalar,
    operand_error,
    plain_scalar,
    scalar_value,
)
from refarray._memory.native import ArrayBase, allocate

# The axes that a function reduces: one, several, or all.
Axes: TypeAlias = int | tuple[int, ...] | None


def check(name: str, x: object, category: Category = ANY) -> None:
    """Raise TypeError unless `x` is an array of a dtype that the function takes.

    Any dtype of the standard by default: a held one is refused.
    """
    if not isinstance(x, ArrayBase):
        raise operand_error(name, x)
    if x.dtype.key not in category.keys:
        raise category_error(name, category, x.dtype)


def check_device(name: str, *arrays: ArrayBase) -> None:
    """Raise ValueError unless all arrays are on one device."""
    for x in arrays:
        if x.device is not arrays[0].device:
            raise device_error(name, arrays[0].device, x.device)


def check_operands(name: str, category: Category, *operands: Any) -> None:
    """Raise unless all are arrays of a dtype that the function takes, on one device."""
    for x in operands:
        check(name, x, category)
    check_device(name, *operands)


def common(name: str, arrays: Sequence[ArrayBase]) -> tuple[DType, Device]:
    """Return the dtype in which arrays meet, and the device that they share.

    TypeError where their dtypes have no common one, ValueError for two devices.
    """
    dtype, device = arrays[0].dtype, arrays[0].device
    for x in arrays:
        if x.dtype is not dtype:
            dtype = promote(dtype, x.dtype)
        if x.device is not device:
            raise device_error(name, device, x.device)
    return dtype, device


def operands(
    name: str, category: Category, x1: object, x2: object
) -> tuple[Any, Any, DType, Device]:
    """Return what a kernel takes for two operands, one of which may be a scalar.

    Beside views, or a scalar, the dtype in which they meet and the device they share.
    """
    if isinstance(x1, ArrayBase) and isinstance(x2, ArrayBase):
        check(name, x1, category)
        dtype, device = x1.dtype, x1.device
        if x2.dtype is not dtype or x2.device is not device:
            check(name, x2, category)
            dtype, device = common(name, (x1, x2))
        return x1._view, x2._view, dtype, device
    for x in (x1, x2):
        if isinstance(x, ArrayBase):
            check(name, x, category)
        elif not is_scalar(x):
            raise operand_error(name, x)
    if isinstance(x1, ArrayBase):
        dtype = scalar_dtype(type(plain_scalar(x2)), x1.dtype)
        return view(x1), scalar_value(x2, dtype), dtype, x1.device
    if isinstance(x2, ArrayBase):
        dtype = scalar_dtype(type(plain_scalar(x1)), x2.dtype)
        return scalar_value(x1, dtype), view(x2), dtype, x2.device
    raise operand_error(name, x1)


def check_copy(name: str, copy: object) -> None:
    """Raise TypeError unless the argument `copy` is True, False or None."""
    if copy is not None and not isinstance(copy, bool):
        raise TypeError(
            f"copy must be True, False or None, not {shown(copy)} "
            f"(array API 2025.12, {name})"
        )


def number(name: str, what: str, value: Any) -> bool | int | float | complex:
    """Return the argument `what` as a Python scalar of an exact type.

    NumPy scalars and arrays without dimensions are read, since clients pass them.
    """
    if profile.guarded:
        check_python(name, what, value)
    if isinstance(value, np.generic):
        value = value.item()
    elif isinstance(value, ArrayBase) and value.ndim == 0:
        check(name, value)
        array: Any = value
        value = array._item(name)
    if is_scalar(value):
        return plain_scalar(value)
    raise TypeError(
        f"{name} takes a Python scalar as {what}, not {type(value).__name__} "
        f"(array API 2025.12, {name})"
    )


def check_python(name: str, what: str, value: object) -> None:
    """Raise, if the profile wants that, for what stands in for a Python number."""
    if isinstance(value, (np.generic, np.ndarray, ArrayBase)):
        profile.unspecified(
            f"{name} with {type(value).__name__} as {what}",
            f"{name}: a Python scalar",
            "convert it with int(), float() or complex()",
        )


def check_tuple(name: str, given: object) -> None:
    """Raise, if the profile wants that, for what stands in for a tuple."""
    if not isinstance(given, tuple):
        profile.unspecified(
            f"{name} with {type(given).__name__} for a tuple",
            f"{name}: a tuple",
            "write a tuple",
        )


def tuple_of_list(axes: Any) -> Any:
    """Return axes, a list of them as a tuple."""
    if isinstance(axes, list):
        check_tuple("a function of axes", axes)
        return tuple(axes)
    return axes


def shape_tuple(name: str, shape: object) -> tuple[int, ...]:
    """Return a shape where the standard takes no single integer for one."""
    if profile.guarded:
        check_tuple(name, shape)
    return check_shape(shape)


def indices(x: ArrayBase) -> Any:
    """Return an array of integers as a kernel takes indices or counts.

    Beyond the default index dtype a number of uint64 becomes its largest, which is out
    of range everywhere; a cast would make it a negative index, which may be in range.
    """
    values = view(x)
    if x.dtype is dtypes.uint64:
        from refarray._base.limits import IINFO

        largest = IINFO[dtypes.DEFAULT_INDEX].max
        values = kernels(x.device).minimum(values, np.uint64(largest))
    return values.astype(NUMPY_DTYPES[dtypes.DEFAULT_INDEX], copy=False)


def masked(x: ArrayBase, mask: ArrayBase) -> Any:
    """Return a new array of the elements, or slices, of `x` where a mask is true.

    The mask covers the first axes of `x`; IndexError if it has other sizes, but for 0,
    which selects nothing. Its places are counted, then taken: unlike NumPy's own
    `x[mask]`, which looks at each element in turn, that takes no longer where true and
    false change often.

    Source: array API 2025.12, boolean array indexing.
    """
    covered = x._shape[: mask.ndim]
    if len(covered) != mask.ndim or not all(
        n == size or (type(n) is int and n == 0)
        for n, size in zip(mask._shape, covered, strict=True)
    ):
        raise IndexError(
            f"a mask of shape {mask.shape} does not select from axes of sizes "
            f"{x.shape[: mask.ndim]} (array API 2025.12, boolean array indexing)"
        )
    rest = x._shape[mask.ndim :]
    (places,) = mask._view.reshape(-1).nonzero()
    out = allocate(
        (profile.size_from_values(len(places)), *rest), x.dtype, x.device, False
    )
    if mask._shape != covered:
        return out
    values = x._view.reshape((mask._size, *rest))
    # No place is out of range, and only "raise" keeps the kernel from writing directly.
    values.take(places, 0, out._view, "clip")
    return out


def at_indices(x: ArrayBase, kernel: Kernel, *args: Any) -> Any:
    """Call a kernel that takes elements of `x` by indices, or puts them.

    IndexError for one out of range: NumPy's, which names it and the size, unless these
    are not to be known.
    """
    try:
        return call(kernel, *args)
    except IndexError:
        hidden = profile.guarded and profile.active().values == "raise"
        if not hidden and x.size is not None:
            raise
    raise IndexError(
        f"an array of shape {x.shape} has no elements there: an index is out of "
        "bounds, or a mask has another shape (array API 2025.12, indexing)"
    )


def integer(name: str, what: str, value: object) -> int:
    """Return the argument `what` as an int; TypeError for bool and what is no integer.

    Whatever has `__index__` counts as an integer.
    """
    if not isinstance(value, bool):
        try:
            found = index(value)  # type: ignore[arg-type]
        except TypeError:
            if hasattr(type(value), "__index__"):
                raise  # an array, say, which knows best why it is no integer
        else:
            if profile.guarded:
                check_python(name, what, value)
            return found
    raise TypeError(
        f"{name} takes an integer as {what}, not {type(value).__name__} "
        f"(array API 2025.12, {name})"
    )
