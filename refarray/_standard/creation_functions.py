"""Creation functions. Source: array API 2025.12, creation functions.

`dtype=None` means the default: float64, or int64 and complex128 where values say so.
`device=None` means the CPU, or the device of the array given. TypeError for a dtype or
device that is none, ValueError for a negative size, MemoryError with the size asked.

More than 400 lines: the files of this folder are the chapters of the standard, whole.

Next: `data_type_functions.py`.
"""

from __future__ import annotations

import math
from typing import Any, Literal

from refarray._base import dtypes, profile
from refarray._base.devices import Device, as_device
from refarray._base.dtypes import DType, as_dtype
from refarray._base.layout import check_shape, shown
from refarray._base.profile import defaults
from refarray._compute import casting, conversion, freedom, pedantic
from refarray._compute.arguments import check, integer, number
from refarray._compute.array import Array
from refarray._compute.engine import NUMPY_DTYPES, call, kernels
from refarray._compute.engine import view as kernel_view
from refarray._compute.pipeline import scalar_value
from refarray._memory.native import allocate, view
from refarray.dlpack.consumer import from_dlpack

__all__ = [
    "arange",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "full",
    "full_like",
    "linspace",
    "meshgrid",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]


def asarray(
    obj: Any,
    /,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
    copy: bool | None = None,
) -> Array:
    """Array of a scalar, of nested sequences of scalars, or over the memory of `obj`.

    Arrays and objects with the buffer protocol or `__dlpack__` share their memory where
    dtype and device allow it, unless `copy=True`; with `copy=False`, ValueError where
    they do not. Python values have the default dtype of their kind. OverflowError for
    an integer outside the dtype, ValueError for ragged sequences, TypeError for complex
    to real and for whatever is no number.
    """
    return conversion.as_array(obj, dtype, device, copy)


# A shape and a value -----------------------------------------------------------------


def empty(
    shape: int | tuple[int, ...],
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array:
    """Array whose elements are whatever the memory held."""
    out = _new(shape, dtype, device, zeroed=False)
    return freedom.poison(out) if profile.guarded else out


def zeros(
    shape: int | tuple[int, ...],
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array:
    """Array of zeros."""
    return _new(shape, dtype, device, zeroed=True)


def ones(
    shape: int | tuple[int, ...],
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array:
    """Array of ones."""
    return _filled(_new(shape, dtype, device), 1)


def full(
    shape: int | tuple[int, ...],
    fill_value: bool | int | float | complex,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array:
    """Array of one value, in the default dtype of its kind.

    TypeError for a float in an integer dtype or a complex number in a real one,
    OverflowError for an integer outside the dtype.
    """
    value = number("full", "fill_value", fill_value)
    if dtype is None:
        dtype = conversion.python_dtype(type(value), as_device(device))
    out = _new(shape, dtype, device)
    if profile.guarded:
        pedantic.fill("full", value, out.dtype)
    return _filled(out, value)


def empty_like(
    x: Array, /, *, dtype: DType | None = None, device: Device | None = None
) -> Array:
    """Array of the shape of `x` whose elements are whatever the memory held."""
    out = _new_like("empty_like", x, dtype, device)
    return freedom.poison(out) if profile.guarded else out


def zeros_like(
    x: Array, /, *, dtype: DType | None = None, device: Device | None = None
) -> Array:
    """Array of the shape of `x`, of zeros."""
    return _new_like("zeros_like", x, dtype, device, zeroed=True)


def ones_like(
    x: Array, /, *, dtype: DType | None = None, device: Device | None = None
) -> Array:
    """Array of the shape of `x`, of ones."""
    return _filled(_new_like("ones_like", x, dtype, device), 1)


def full_like(
    x: Array,
    /,
    fill_value: bool | int | float | complex,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array:
    """Array of the shape of `x`, of one value; errors as in `full`."""
    value = number("full_like", "fill_value", fill_value)
    out = _new_like("full_like", x, dtype, device)
    if profile.guarded:
        pedantic.fill("full_like", value, out.dtype)
    return _filled(out, value)


def _new(shape: object, dtype: object, device: object, zeroed: bool = False) -> Array:
    place = as_device(device)
    target = as_dtype(dtype, defaults(place).real)
    return allocate(  # type: ignore[no-any-return]
        check_shape(shape), target, place, zeroed
    )


def _new_like(
    name: str, x: Array, dtype: object, device: object, zeroed: bool = False
) -> Array:
    check(name, x)
    # That of `x` need not be one of the profile in force: arrays may be from elsewhere.
    place = x.device if device is None else as_device(device)
    out: Array = allocate(x._shape, as_dtype(dtype, x.dtype), place, zeroed)
    return out


def _filled(out: Array, value: bool | int | float | complex) -> Array:
    kind = type(value)
    if (kind is complex and out.dtype not in _COMPLEX) or (
        kind is float and out.dtype in dtypes.KINDS["integral"]
    ):
        raise TypeError(
            f"{value!r} does not fill an array of {out.dtype}; convert it first "
            "(array API 2025.12, full: the kind of fill_value is that of the dtype)"
        )
    call(kernel_view(out).fill, scalar_value(value, out.dtype))
    return out


_COMPLEX = dtypes.KINDS["complex floating"] | dtypes.KINDS["bool"]


# Ranges ------------------------------------------------------------------------------


def arange(
    start: int | float,
    /,
    stop: int | float | None = None,
    step: int | float = 1,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array:
    """Numbers from `start` in steps of `step`, `ceil((stop - start) / step)` of them.

    int64 if all three are integers, otherwise float64. ValueError for a step of zero,
    OverflowError for an element outside an integer dtype.
    """
    first, end = (0, start) if stop is None else (start, stop)
    bounds = [number("arange", "a bound", v) for v in (first, end, step)]
    if any(type(v) not in (int, float) for v in bounds):
        raise TypeError(
            f"arange takes integers and floats, got {shown(bounds)} "
            "(array API 2025.12, arange)"
        )
    a, b, s = (v for v in bounds if not isinstance(v, complex))
    integers = all(type(v) is int for v in bounds)
    place = as_device(device)
    target = as_dtype(dtype, conversion.python_dtype(int if integers else float, place))
    if target is dtypes.bool:
        raise TypeError(
            "arange takes a numeric dtype, got bool (array API 2025.12, arange)"
        )
    n = _steps(a, b, s)
    out = _new(n, target, place)
    values, k = kernel_view(out), kernels(place)
    if integers:
        a, s = int(a), int(s)
        ends = (a, a + (n - 1) * s) if n else ()
        exact = _integer_dtype(target, *ends)
        if exact is not None:
            values[...] = call(k.arange, a, a + n * s, s, dtype=NUMPY_DTYPES[exact])
            return out
    if target in dtypes.KINDS["integral"]:
        profile.unspecified(
            f"arange of floats with dtype={target}",
            "type promotion: mixed kinds",
            "convert the result with astype",
        )
    if target is not dtypes.float64:
        values = k.empty(n, dtype=NUMPY_DTYPES[dtypes.float64])
    values[...] = k.arange(n)
    call(k.multiply, values, float(s), out=values)
    call(k.add, values, float(a), out=values)
    if target is not dtypes.float64:
        casting.convert(values, dtypes.float64, out)
    return out


def _integer_dtype(target: DType, *ends: int) -> DType | None:
    """Return the dtype in which to count integers exactly; None if there is none.

    OverflowError for an end outside `target`, if that is an integer dtype.
    """
    from refarray._base.limits import IINFO, check_int_range

    if target in IINFO:
        for end in ends:
            check_int_range(end, target)
        return target
    for dtype in (dtypes.int64, dtypes.uint64):
        if all(IINFO[dtype].min <= end <= IINFO[dtype].max for end in ends):
            return dtype
    return None


def _steps(start: int | float, stop: int | float, step: int | float) -> int:
    if step == 0:
        raise ValueError("arange takes a step other than 0 (array API 2025.12, arange)")
    if not all(map(math.isfinite, (start, stop, step))):
        raise ValueError(
            f"arange takes finite bounds and a finite step, got {start}, {stop} and "
            f"{step} (array API 2025.12, arange)"
        )
    if isinstance(start, int) and isinstance(stop, int) and isinstance(step, int):
        return max(0, -((start - stop) // step))
    steps = (stop - start) / step
    if math.isinf(steps):
        raise ValueError(
            f"arange cannot count steps of {step} from {start} to {stop} "
            "(array API 2025.12, arange)"
        )
    return max(0, math.ceil(steps))


def linspace(
    start: int | float | complex,
    stop: int | float | complex,
    /,
    num: int,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
    endpoint: bool = True,
) -> Array:
    """`num` numbers from `start` to `stop`, evenly spaced; `endpoint` includes `stop`.

    float64, or complex128 if either end is complex; rounded down to an integer dtype,
    exactly so between ends that are whole numbers.
    TypeError for dtype bool and for a real one between complex ends, ValueError for a
    negative `num`.
    """
    a = number("linspace", "an end", start)
    b = number("linspace", "an end", stop)
    is_complex = complex in (type(a), type(b))
    place = as_device(device)
    natural = conversion.python_dtype(complex if is_complex else float, place)
    target = as_dtype(dtype, natural)
    complexes = dtypes.KINDS["complex floating"]
    if target is dtypes.bool or (is_complex and target not in complexes):
        raise TypeError(
            f"linspace from {shown(a)} to {shown(b)} makes {natural.family} numbers, "
            f"not {target} (array API 2025.12, linspace: a floating-point dtype)"
        )
    if profile.guarded:
        pedantic.ends(a, b, target)
    n = integer("linspace", "num", num)
    if n < 0:
        raise ValueError(
            f"linspace takes num from 0 up, got {shown(n)} "
            "(array API 2025.12, linspace)"
        )
    steps = n - 1 if endpoint else n
    out = _new(n, target, place)
    integral = target in dtypes.KINDS["integral"]
    first, last = _whole(a), _whole(b)
    if integral and first is not None and last is not None:
        _whole_line(out, first, last, max(steps, 1))
        return out
    values = kernel_view(out)
    k = kernels(place)
    if target in complexes:
        a, b = complex(a), complex(b)
        call(values.real.__setitem__, ..., _line(k, a.real, b.real, n, steps))
        call(values.imag.__setitem__, ..., _line(k, a.imag, b.imag, n, steps))
    else:
        assert not isinstance(a, complex) and not isinstance(b, complex)
        line = _line(k, float(a), float(b), n, steps)
        if integral:
            line = call(k.floor, line)
        casting.convert(line, dtypes.float64, out)
    return out


def _whole(end: bool | int | float | complex) -> int | None:
    if isinstance(end, complex) or (isinstance(end, float) and not end.is_integer()):
        return None
    return int(end)


# Elements that are computed at a time: their memory stays in the processor's caches.
_BLOCK = 1 << 14


def _whole_line(out: Array, start: int, stop: int, steps: int) -> None:
    """Write floor(start + i * (stop - start) / steps) as element i of integers.

    Integer arithmetic, because float64 would round. Numbers beyond the dtype become its
    nearest limit.
    """
    from bisect import bisect_left, bisect_right

    from refarray._base.limits import IINFO

    def exact(i: int) -> int:
        return start + i * (stop - start) // steps

    values, k, limits = kernel_view(out), kernels(out.device), IINFO[out.dtype]
    sign = 1 if start <= stop else -1
    low, high = (limits.min, limits.max)[::sign]
    places = range(out._size)
    # The elements from `first` to before `end` are inside the dtype.
    first = bisect_left(places, sign * low, key=lambda i: sign * exact(i))
    end = bisect_right(places, sign * high, key=lambda i: sign * exact(i))
    for beyond, limit in ((values[:first], low), (values[end:], high)):
        beyond[...] = scalar_value(limit, out.dtype)
        if profile.guarded:
            freedom.fill(beyond, out.dtype, beyond == beyond)
    # uint64 computes modulo 2**64, which is enough for a result inside the dtype. Only
    # a dividend must not wrap: a block is too short for that.
    unsigned = NUMPY_DTYPES[dtypes.uint64].type
    whole, part = divmod(stop - start, steps)
    for place in range(first, end, _BLOCK):
        n = min(_BLOCK, end - place)
        i = k.arange(n, dtype=unsigned)
        rest = place * part % steps
        block = (i * unsigned(part) + unsigned(rest)) // unsigned(steps)
        block += i * unsigned(whole % 2**64) + unsigned(exact(place) % 2**64)
        values[place : place + n] = block


def _line(k: Any, start: float, stop: float, n: int, steps: int) -> Any:
    """Return n of the numbers from start to stop in `steps` steps, both ends exact."""
    values = k.arange(n, dtype=NUMPY_DTYPES[dtypes.float64])
    if steps and math.isinf(stop - start):
        # The difference of two finite ends may exceed the largest number.
        values /= steps
        values = call(lambda t: (1 - t) * start + t * stop, values)
    elif steps:
        call(k.multiply, values, (stop - start) / steps, out=values)
        call(k.add, values, start, out=values)
    values[:1] = start
    if steps:
        values[steps:] = stop
    return values


# Matrices ----------------------------------------------------------------------------


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array:
    """Matrix with ones on diagonal `k` (above the main one if positive), else zeros."""
    rows, cols = check_shape((n_rows, n_rows if n_cols is None else n_cols))
    k = integer("eye", "k", k)
    out = _new((rows, cols), dtype, device, zeroed=True)
    ones = min(rows, cols - k) if k >= 0 else min(rows + k, cols)
    if ones > 0:
        first = k if k >= 0 else -k * cols
        _filled(view(out, first, (ones,), (cols + 1,), False), 1)
    return out


def meshgrid(*arrays: Array, indexing: Literal["xy", "ij"] = "xy") -> tuple[Array, ...]:
    """Coordinates of the points of a grid, one array for each of the vectors given.

    The first two axes are exchanged for "xy". ValueError for any other `indexing` and
    for arrays that are no vectors, TypeError for different dtypes.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(
            f"indexing is 'xy' or 'ij', not {indexing!r} (array API 2025.12, meshgrid)"
        )
    for x in arrays:
        check("meshgrid", x)
        if x.ndim != 1:
            raise ValueError(
                f"meshgrid takes one-dimensional arrays, got shape {x._shape} "
                "(array API 2025.12, meshgrid)"
            )
        if x.dtype is not arrays[0].dtype:
            raise TypeError(
                f"meshgrid takes arrays of one dtype, got {arrays[0].dtype} and "
                f"{x.dtype} (array API 2025.12, meshgrid)"
            )
    order = list(range(len(arrays)))
    if indexing == "xy" and len(arrays) > 1:
        order[:2] = [1, 0]
    shape = tuple(arrays[i]._size for i in order)
    grids = []
    for position, x in enumerate(arrays):
        ones = [1] * len(arrays)
        ones[order.index(position)] = x._size
        if profile.guarded and profile.coin():
            # As torch's: views of the vectors, which are read-only if spread.
            steps = tuple(x._strides[0] if n > 1 else 0 for n in ones)
            grids.append(view(x, 0, shape, steps, shape != x._shape))
            continue
        out: Array = allocate(shape, x.dtype, x.device, False)
        kernel_view(out)[...] = kernel_view(x).reshape(ones)
        grids.append(out)
    return tuple(grids)


def tril(x: Array, /, *, k: int = 0) -> Array:
    """Matrices (the last two axes) with zeros above diagonal `k`.

    ValueError for fewer than two dimensions.
    """
    return _triangle("tril", x, k, lower=True)


def triu(x: Array, /, *, k: int = 0) -> Array:
    """Matrices (the last two axes) with zeros below diagonal `k`.

    ValueError for fewer than two dimensions.
    """
    return _triangle("triu", x, k, lower=False)


def _triangle(name: str, x: Array, diagonal: int, lower: bool) -> Array:
    check(name, x)
    if x.ndim < 2:
        raise ValueError(
            f"{name} takes matrices, got an array of shape {x._shape} "
            f"(array API 2025.12, {name}: shape (..., M, N))"
        )
    k = kernels(x.device)
    rows, cols = x._shape[-2:]
    # Beyond the corners nothing changes, and the kernel takes int64.
    offset = min(max(integer(name, "k", diagonal), -rows - 1), cols + 1)
    kept = k.tri(rows, cols, offset if lower else offset - 1, dtype=bool)
    if not lower:
        k.logical_not(kept, out=kept)
    out: Array = allocate(x._shape, x.dtype, x.device, True)
    k.copyto(kernel_view(out), kernel_view(x), where=kept)
    return out
