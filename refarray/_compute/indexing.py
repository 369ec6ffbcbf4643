"""Indexing: `x[key]` and `x[key] = value`.

A basic key (integers, slices, `...`, None) selects a view: only the layout changes
(`_cffi_build/index.c`). A key with a mask or an array of integers selects by value and
gives a copy.

Next: `text.py`.
"""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from refarray._base import dtypes, profile
from refarray._base.layout import Shape, broadcast_shapes, from_sizes
from refarray._base.promotion import can_cast, scalar_dtype
from refarray._compute import freedom, pedantic_keys
from refarray._compute.arguments import at_indices, indices, masked
from refarray._compute.engine import adopt, call
from refarray._compute.engine import view as kernel_view
from refarray._compute.pipeline import (
    INTEGRAL_OR_BOOL,
    check_writable,
    device_error,
    is_scalar,
    plain_scalar,
    scalar_value,
)
from refarray._memory.host import REFARRAY_DTYPES, host_array
from refarray._memory.native import ArrayBase, select, view

if TYPE_CHECKING:
    # Defined above this file, which makes arrays through `view`.
    from refarray._compute.array import Array


def get(x: Any, key: object) -> Any:
    """Return `x[key]`: a view for a basic key, a copy for a mask or integer arrays.

    Source: array API 2025.12, indexing.
    """
    out = select(x, key)
    if profile.guarded:
        pedantic_keys.check(x, key, assigned=False)
    if out is not None:
        return freedom.apart(out) if profile.guarded else out
    items = _numpy_key(x, key)
    if isinstance(key, ArrayBase) and key.dtype is dtypes.bool:
        if x.device.memory != "device":  # CuPy has a kernel of its own for masks
            return masked(x, key)
    shape = _shape_if_unknown(x, key) if profile.guarded else None
    values = at_indices(x, kernel_view(x).__getitem__, items)
    return adopt(values, x.dtype, x.device, shape)


def share(
    x: Array,
    element_offset: int,
    shape: Shape,
    strides: Shape | None,
    read_only: bool = False,
) -> Array:
    """Return a view of the memory of `x`, the result of a function that moves no data.

    Without strides its elements lie one after another, as those of `x` have to.

    Under a seed perhaps a copy: copies and views are the library's choice.

    Source: array API 2025.12, copy-view behavior and mutability.
    """
    out: Array = view(x, element_offset, shape, strides, read_only)
    return freedom.apart(out) if profile.guarded else out


def put(x: Any, key: object, value: Any) -> None:
    """Assign `x[key] = value`, where the value's dtype promotes to that of `x`.

    Source: array API 2025.12, indexing; array.__setitem__.
    """
    check_writable(x)
    if isinstance(value, np.ndarray) and profile.mixes_with_numpy():
        value = _from_numpy(value)
    if isinstance(value, ArrayBase):
        if not can_cast(value.dtype, x.dtype):
            raise TypeError(
                f"{value.dtype} values cannot be assigned to an array of {x.dtype}: "
                "they promote to another dtype; convert them with astype "
                "(array API 2025.12, array.__setitem__)"
            )
        if value.device is not x.device:
            raise device_error("assignment", x.device, value.device)
        source, sizes = kernel_view(value), value._shape
    else:
        source, sizes = _scalar_source(x, value), ()
    selected = select(x, key)
    if profile.guarded:
        pedantic_keys.check(x, key, assigned=True)
    if selected is not None:
        _check_fits(sizes, selected._shape)
        # NumPy buffers a source that overlaps the target.
        call(np.copyto, kernel_view(selected), source, casting="same_kind")
    else:
        items = _numpy_key(x, key)
        shape = _shape_if_unknown(x, key) if profile.guarded else None
        if shape is not None:
            _check_fits(sizes, shape)
        target = kernel_view(x)
        if isinstance(items, tuple):
            items = tuple([_apart(item, target) for item in items])
        else:
            items = _apart(items, target)
        at_indices(x, target.__setitem__, items, _apart(source, target))


def _apart(values: Any, target: Any) -> Any:
    """Return values that stay as they are while the target is written.

    NumPy sees to that for integer arrays, but not for masks.
    """
    if isinstance(values, np.ndarray) and np.may_share_memory(values, target):
        return values.copy()
    return values


def _scalar_source(x: ArrayBase, value: Any) -> Any:
    if isinstance(value, np.generic):
        # NumPy scalars are what indexing a NumPy array gives; clients assign them.
        profile.unspecified(
            f"assignment of a NumPy scalar, {value!r}",
            "array.__setitem__, value: an array or a Python scalar",
            "convert it with item()",
        )
        value = value.item()
    if not is_scalar(value):
        raise TypeError(
            f"an array or a Python scalar can be assigned, not {type(value).__name__}; "
            "make an array of it with refarray.asarray"
        )
    value = plain_scalar(value)
    if scalar_dtype(type(value), x.dtype) is not x.dtype:
        raise TypeError(
            f"a complex number cannot be assigned to an array of {x.dtype} "
            "(array API 2025.12, array.__setitem__)"
        )
    return scalar_value(value, x.dtype)


def _check_fits(sizes: Shape, shape: Shape) -> None:
    try:
        fits = broadcast_shapes(sizes, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"values of shape {sizes} do not broadcast to the selected shape "
            f"{shape} (array API 2025.12, array.__setitem__)"
        )


def _shape_if_unknown(x: ArrayBase, key: Any) -> Shape | None:
    """Return the shape of `x[key]`, for arrays in `key`; None if NumPy can tell it.

    That is the case if no size is unknown, neither of `x` and the arrays nor, under a
    profile that says so, how many elements a mask selects. IndexError for a mask of a
    size which that of `x` may differ from.
    """
    items = key if isinstance(key, tuple) else (key,)
    arrays = [item for item in items if isinstance(item, (ArrayBase, np.ndarray))]
    depends = profile.active().data_dependent_shapes == "unknown"
    masks = [item for item in arrays if item.dtype == dtypes.bool]
    if not (depends and masks) and all(a.size is not None for a in (x, *arrays)):
        return None
    taken = sum(item.ndim for item in masks) - len(masks)
    taken += sum(item is not None and item is not Ellipsis for item in items)
    if not any(item is Ellipsis for item in items):
        items = (*items, Ellipsis)

    sizes: list[int] = []
    selected: list[Shape] = []  # by arrays and integers, which act as one
    # Where the axes go that these make: to the place of the first, unless other items
    # stand between them; then in front.
    place: int | None = None
    previous = False
    axis = 0
    for item in items:
        selects = not (item is None or item is Ellipsis or isinstance(item, slice))
        if item is None:
            sizes.append(1)
        elif item is Ellipsis:
            end = axis + x.ndim - taken
            sizes += x._shape[axis:end]
            axis = end
        elif isinstance(item, slice):
            size = x._shape[axis]
            sizes.append(from_sizes(len(range(*item.indices(size))), size))
            axis += 1
        elif not isinstance(item, (ArrayBase, np.ndarray)):
            selected.append(())
            axis += 1
        elif item.dtype == dtypes.bool:
            end = axis + item.ndim
            if _sizes(item) != x._shape[axis:end]:
                raise IndexError(
                    f"a mask of shape {_sizes(item)} does not select from axes of "
                    f"sizes {x._shape[axis:end]} (array API 2025.12, boolean array "
                    "indexing)"
                )
            if isinstance(item, ArrayBase):
                count = int(np.count_nonzero(kernel_view(item)))
                selected.append((profile.size_from_values(count),))
            else:
                selected.append((int(np.count_nonzero(item)),))  # NumPy tells
            axis = end
        else:
            selected.append(_sizes(item))
            axis += 1
        if selects and not previous:
            place = len(sizes) if place is None else 0
        previous = selects
    assert place is not None
    return (*sizes[:place], *broadcast_shapes(*selected), *sizes[place:])


def _sizes(key: Any) -> Shape:
    return key._shape if isinstance(key, ArrayBase) else key.shape


def _numpy_key(x: ArrayBase, key: object) -> object:
    if isinstance(key, tuple):
        return tuple(_numpy_item(x, item) for item in key)
    return _numpy_item(x, key)


def _numpy_item(x: ArrayBase, item: Any) -> object:
    if isinstance(item, ArrayBase):
        if item.dtype is dtypes.bool and profile.guarded:
            _check_mask()
        if item.dtype not in INTEGRAL_OR_BOOL.dtypes:
            raise IndexError(
                f"an index array has an integer or boolean dtype, not {item.dtype} "
                "(array API 2025.12, indexing)"
            )
        if item.device is not x.device:
            raise device_error("indexing", x.device, item.device)
        return kernel_view(item) if item.dtype is dtypes.bool else indices(item)
    if isinstance(item, bool):
        raise IndexError(
            "a Python bool is no index; a mask is an array of dtype bool "
            "(array API 2025.12, indexing)"
        )
    if item is None or item is Ellipsis or isinstance(item, slice):
        return item
    if isinstance(item, np.ndarray) and profile.mixes_with_numpy():
        return _numpy_item(x, _from_numpy(item))
    if isinstance(item, np.ndarray) or not hasattr(item, "__index__"):
        raise TypeError(
            f"{type(item).__name__} is no index of a refarray array; convert it with "
            "refarray.asarray"
        )
    return index(item)


def _from_numpy(values: np.ndarray[Any, Any]) -> Any:
    dtype = REFARRAY_DTYPES.get(values.dtype)
    if dtype is None:
        raise TypeError(f"refarray has no dtype for a NumPy array of {values.dtype}")
    return host_array(values, dtype)


def _check_mask() -> None:
    now = profile.active()
    if not now.boolean_indexing:
        raise RuntimeError(
            f"profile {now.name!r} has no boolean indexing, which the standard leaves "
            "optional: use where (array API 2025.12, boolean array indexing)"
        )
    profile.check_data_dependent("boolean indexing")
