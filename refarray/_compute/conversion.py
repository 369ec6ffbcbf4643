"""Conversion: what `asarray` makes of scalars, sequences, buffers and arrays.

The dtype of Python values follows from their types alone, never from their size: an
integer that int64 cannot hold is an error, not a uint64 or a float.

Next: `summation.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import chain
from typing import Any

import numpy as np

from refarray._base import dtypes, profile
from refarray._base.devices import CPU, Device, as_device
from refarray._base.dtypes import KINDS, DType, as_dtype
from refarray._base.formats import dtype_of_format
from refarray._base.layout import MAX_NDIM
from refarray._base.limits import check_int_range, too_large_error
from refarray._base.profile import defaults, holds
from refarray._base.promotion import (
    SCALAR_PROMOTION,
    can_cast,
    held_error,
    promote,
)
from refarray._compute import freedom, pedantic
from refarray._compute.arguments import check_copy
from refarray._compute.array import Array, transfer
from refarray._compute.casting import cast, check_cast, convert
from refarray._compute.engine import call
from refarray._compute.pipeline import SCALARS
from refarray._memory import host
from refarray._memory.host import REFARRAY_DTYPES
from refarray._memory.native import allocate, wrap
from refarray.dlpack.consumer import from_dlpack

_PLAIN = frozenset(SCALARS)
_LISTS = frozenset({list, tuple})


def python_dtype(kind: type, device: Device) -> DType:
    """Return the dtype that an array of Python scalars has by default."""
    if kind is bool:
        return dtypes.bool
    default = defaults(device)
    if kind is int:
        return default.integral
    return default.real if kind is float else default.complex


def as_array(
    obj: Any, dtype: DType | None, device: Device | None, copy: bool | None
) -> Array:
    """Return the array that `asarray(obj)` means; see there.

    Source: array API 2025.12, creation functions, asarray.
    """
    check_copy("asarray", copy)
    if dtype is not None:
        dtype = as_dtype(dtype, held=True)
    if isinstance(obj, Array):
        x = _from_array(obj, dtype, device, copy)
        return freedom.another(x) if profile.guarded and x is obj else x
    if not isinstance(obj, (list, tuple, bool, int, float, complex, np.generic)):
        lent = _lend(obj)
        if lent is not None:
            return _from_buffer(obj, lent, dtype, as_device(device), copy)
        if hasattr(obj, "__dlpack__"):
            x = from_dlpack(obj, device=device, copy=copy)
            return _from_array(x, dtype, None, False if copy is False else None)
    if copy is False:
        raise ValueError(
            f"copy=False, but the values of a {type(obj).__name__} must be copied into "
            "an array (array API 2025.12, asarray)"
        )
    target = as_device(device)
    x = _from_values(obj, dtype, target)
    return x if x.device is target else x.to_device(target)


# Arrays ------------------------------------------------------------------------------


def _from_array(
    x: Array, dtype: DType | None, device: Device | None, copy: bool | None
) -> Array:
    target = x.device if device is None else as_device(device)
    new_dtype = dtype is not None and dtype is not x.dtype
    if copy is False and (new_dtype or target is not x.device):
        raise ValueError(
            f"copy=False, but {x.dtype} on {x.device!r} must be copied to become "
            f"{dtype or x.dtype} on {target!r} (array API 2025.12, asarray)"
        )
    if profile.guarded and dtype is not None and not can_cast(x.dtype, dtype):
        _raise_conversion(str(x.dtype), dtype)
    return moved("asarray", x, dtype or x.dtype, target, bool(copy))


def _raise_conversion(given: str, dtype: DType) -> None:
    profile.unspecified(
        f"asarray of {given} with dtype={dtype}, to which it does not promote",
        "asarray, notes",
        "convert the array with astype",
    )


def moved(function: str, x: Array, dtype: DType, target: Device, copy: bool) -> Array:
    """Return `x` in a dtype and on a device; `x` itself if it is so, unless `copy`."""
    if target is not x.device and not holds(x.device, dtype):
        x, copy = transfer(function, x, target), False
    if dtype is not x.dtype:
        x, copy = cast(x, dtype), False
    if target is not x.device:
        return transfer(function, x, target)
    return host.copy(x) if copy else x


# Memory lent through the buffer protocol ---------------------------------------------


def _lend(obj: Any) -> memoryview | None:
    try:
        return memoryview(obj)
    except TypeError:
        return None
    except (BufferError, ValueError) as error:
        # The protocol is there, but not for these elements or this place.
        if hasattr(obj, "__dlpack__") and not isinstance(obj, np.ndarray):
            return None
        raise TypeError(
            f"asarray cannot read this {type(obj).__name__}: {error}"
        ) from error


def _from_buffer(
    obj: Any,
    lent: memoryview,
    dtype: DType | None,
    device: Device,
    copy: bool | None,
) -> Array:
    own = dtype_of_format(lent.format, lent.itemsize)
    if profile.guarded and dtype is not None and not holds(CPU, own):
        return _converted(lent, own, dtype, device, copy)
    if copy is True:
        x = host.host_array(np.asarray(lent), own)
        return _from_array(x, dtype, device, None)
    try:
        # Not through the memoryview, which the collector of CPython before 3.13 may not
        # see while an array uses it.
        x = wrap(obj, own, lent.format)
        # A component of a complex number is what must be aligned.
        align = own.bits // (16 if own.family == "complex floating" else 8)
        if (x._buffer.address + x._byte_offset) % align:
            raise BufferError(f"its memory is not aligned to {align} bytes")
    except BufferError as error:
        if copy is False:
            raise ValueError(
                f"copy=False, but this {type(obj).__name__} cannot be shared: {error} "
                "(array API 2025.12, asarray)"
            ) from error
        x = host.host_array(np.asarray(lent), own)
    if profile.guarded and copy is None:
        x = freedom.apart(x)
    return _from_array(x, dtype, device, copy)


def _converted(
    lent: memoryview, own: DType, dtype: DType, device: Device, copy: bool | None
) -> Array:
    """Return elements of a dtype which no device has here, in one that there is."""
    if copy is False:
        raise ValueError(
            f"copy=False, but {own} must be copied to become {dtype} "
            "(array API 2025.12, asarray)"
        )
    if not can_cast(own, dtype):
        _raise_conversion(str(own), dtype)
    check_cast(own, dtype)
    values = np.asarray(lent)
    pedantic.conversion(values, own, dtype)
    out: Array = allocate(values.shape, dtype, CPU, False)
    convert(values, own, out)
    return moved("asarray", out, dtype, device, False)


# Python values -----------------------------------------------------------------------


def _from_values(obj: Any, dtype: DType | None, device: Device) -> Array:
    shape, leaves, kinds = _flatten(obj)
    if kinds <= _PLAIN:
        natural = _common_dtype(kinds, device)
    else:
        leaves, natural = _typed_leaves(leaves, device, nested=leaves[0] is not obj)
    if profile.guarded:
        _check_specified(leaves, kinds, dtype or natural, natural, dtype is None)
    target = natural
    if dtype is not None:
        check_cast(natural, dtype)
        # Floats become integers the way of arrays, by a cast.
        if dtype not in KINDS["integral"] or natural not in KINDS["real floating"]:
            target = dtype
    place = device if device.pretend else CPU
    out: Array = allocate(shape, target, place, False)
    elements = (
        out._view_to_fill
    )  # the view can be reused: it never leaves this function
    if len(shape) != 1:
        elements = elements.reshape(-1)
    try:
        if target is natural and not profile.guarded:
            elements[...] = leaves  # in a dtype that holds them: no warning to keep in
        else:
            call(elements.__setitem__, ..., leaves)
    except OverflowError:
        for leaf in leaves:
            if type(leaf) is int:
                check_int_range(leaf, out.dtype)
        # In a floating-point dtype it is the largest one that did not fit.
        largest = max((x for x in leaves if type(x) is int), key=abs)
        raise too_large_error(largest, out.dtype) from None
    return out if dtype is None or dtype is target else cast(out, dtype)


def _check_specified(
    leaves: list[Any], kinds: set[type], dtype: DType, natural: DType, inferred: bool
) -> None:
    """Raise, if the profile wants that, for values of which asarray may do anything."""
    if inferred and not leaves:
        profile.unspecified(
            "asarray of no values, without a dtype",
            "asarray, dtype: inferred from the values",
            "say the dtype",
        )
    kind = _PYTHON_KINDS[natural.family]
    if leaves and SCALAR_PROMOTION.get((kind, dtype)) is not dtype:
        _raise_conversion(f"Python values of type {kind.__name__}", dtype)
    for leaf in leaves:
        pedantic.scalar(leaf, dtype)


def _flatten(obj: Any) -> tuple[tuple[int, ...], list[Any], set[type]]:
    """Return the shape of nested sequences, their elements, and the types of these.

    The elements in row-major order. ValueError unless the sequences at each depth have
    one length.
    """
    shape: list[int] = []
    leaves = [obj]
    kinds = {type(obj)}
    ancestors = set()
    while not kinds <= _PLAIN:
        nested = kinds if kinds <= _LISTS else set(filter(_is_sequence, kinds))
        if not nested:
            break
        if profile.guarded:
            _check_sequences(nested)
        sizes = set(map(len, leaves)) if nested == kinds else set()
        if len(sizes) != 1:
            what = f"lengths {sorted(sizes)}" if sizes else "numbers beside sequences"
            raise ValueError(
                f"asarray takes nested sequences of one length at each depth, got "
                f"{what} at depth {len(shape)} (array API 2025.12, asarray)"
            )
        if id(leaves[0]) in ancestors or len(shape) == MAX_NDIM:
            raise ValueError(
                f"asarray takes at most {MAX_NDIM} levels of nested sequences, as an "
                "array has axes"
            )
        ancestors.add(id(leaves[0]))
        (size,) = sizes
        promised = len(leaves) * size
        leaves = list(chain.from_iterable(leaves))
        if len(leaves) != promised:
            raise ValueError(
                f"asarray found {len(leaves)} elements in sequences whose lengths "
                f"promised {promised}"
            )
        shape.append(size)
        kinds = set(map(type, leaves))
    return tuple(shape), leaves, kinds


def _check_sequences(kinds: set[type]) -> None:
    for kind in kinds:
        if not issubclass(kind, (list, tuple)):
            profile.unspecified(
                f"asarray of a {kind.__name__}",
                "asarray, obj: a sequence, of no type in particular",
                "make a list of it, or use arange",
            )


def _is_sequence(kind: type) -> bool:
    return issubclass(kind, (list, tuple)) or (
        issubclass(kind, Sequence)
        and not issubclass(kind, (str, bytes, bytearray, memoryview))
    )


def _common_dtype(kinds: set[type], device: Device) -> DType:
    """Return the dtype of Python scalars of these types; that of float if none.

    Source: array API 2025.12, asarray, dtype: in order of precedence.
    """
    for kind in (complex, float, int, bool):
        if kind in kinds:
            return python_dtype(kind, device)
    return python_dtype(float, device)


def _typed_leaves(
    leaves: list[Any], device: Device, nested: bool
) -> tuple[list[Any], DType]:
    """Return plain Python scalars for elements of other types, and their dtype.

    NumPy scalars and arrays without dimensions bring a dtype of their own.
    """
    values, found = [], set()
    for leaf in leaves:
        if profile.guarded and (nested or isinstance(leaf, Array)):
            _check_leaf(leaf)
        value, dtype = _leaf(leaf, device)
        values.append(value)
        found.add(dtype)
    return values, _widest(found, device)


def _check_leaf(leaf: Any) -> None:
    if isinstance(leaf, (np.generic, np.ndarray, Array)):
        profile.unspecified(
            f"asarray of a sequence with {type(leaf).__name__} in it",
            "asarray, notes: sequences with arrays",
            "convert it with item(), float() or int(), or join arrays with stack",
        )


def _leaf(leaf: Any, device: Device) -> tuple[Any, DType]:
    if isinstance(leaf, (np.generic, np.ndarray)) and leaf.ndim == 0:
        dtype = REFARRAY_DTYPES.get(leaf.dtype)
        if dtype is not None and dtype.family != "held":
            return leaf.item(), dtype
    elif isinstance(leaf, Array) and leaf.ndim == 0:
        if leaf.dtype.family == "held":
            raise held_error(leaf.dtype)
        return leaf._item("asarray"), leaf.dtype
    elif not isinstance(leaf, np.generic):
        for kind in SCALARS:
            if isinstance(leaf, kind):
                return kind(leaf), python_dtype(kind, device)
    if isinstance(leaf, (np.ndarray, Array)) and leaf.ndim:
        raise TypeError(
            "asarray takes no sequence of arrays with dimensions: join them with stack "
            "(array API 2025.12, asarray)"
        )
    raise TypeError(
        "asarray takes Python scalars, nested sequences of them, arrays, and objects "
        f"with the buffer protocol or __dlpack__; got {type(leaf).__name__} "
        "(array API 2025.12, asarray)"
    )


def _widest(found: set[DType], device: Device) -> DType:
    """Return the dtype in which elements meet.

    Where promotion defines none, that of Python scalars of these kinds.
    """
    try:
        return reduce(promote, found)
    except TypeError:
        return _common_dtype({_PYTHON_KINDS[dtype.family] for dtype in found}, device)


_PYTHON_KINDS: dict[str, type] = {
    "bool": bool,
    "signed integer": int,
    "unsigned integer": int,
    "real floating": float,
    "complex floating": complex,
}
