"""The Fourier transform extension. Source: array API 2025.12, Fourier transforms.

`norm` says which direction divides by the number of elements n: the inverse
("backward"), the forward ("forward"), or both by its square root ("ortho"). An axis is
cut or padded with zeros at its end to `n` elements first. The transforms over several
axes go from one axis to the next.

ValueError for a transform of fewer than one element, for an unknown `norm`, for sizes
`s` without `axes`, and for axes named twice; IndexError for an axis that is not there.

Next: `versions.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from refarray._base import profile
from refarray._base.devices import Device, as_device
from refarray._base.dtypes import DType, as_dtype, complex64
from refarray._base.layout import Unknown, normalize_axes, normalize_axis
from refarray._base.profile import defaults
from refarray._base.promotion import promote
from refarray._compute import movement
from refarray._compute.arguments import check_operands, check_python, integer
from refarray._compute.array import Array
from refarray._compute.engine import adopt, call, kernels, view
from refarray._compute.pipeline import (
    COMPLEX,
    FLOATING,
    REAL_FLOATING,
    Category,
    component,
)
from refarray._memory import host
from refarray._memory.native import allocate
from refarray._standard.elementwise_functions import conj

__all__ = [
    "fft",
    "ifft",
    "fftn",
    "ifftn",
    "rfft",
    "irfft",
    "rfftn",
    "irfftn",
    "hfft",
    "ihfft",
    "fftfreq",
    "rfftfreq",
    "fftshift",
    "ifftshift",
]


def __dir__() -> list[str]:
    return __all__


Norm: TypeAlias = Literal["backward", "ortho", "forward"]


# One axis ----------------------------------------------------------------------------


def fft(
    x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward"
) -> Array:
    """Discrete Fourier transform of a complex `x` along an axis."""
    n = _length("fft", COMPLEX, x, n, axis)
    return _transform("fft", x, n, n, x.dtype, axis, norm)


def ifft(
    x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward"
) -> Array:
    """Inverse of `fft`."""
    n = _length("ifft", COMPLEX, x, n, axis)
    return _transform("ifft", x, n, n, x.dtype, axis, norm)


def rfft(
    x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward"
) -> Array:
    """The n // 2 + 1 elements that determine the transform of a real `x`."""
    n = _length("rfft", REAL_FLOATING, x, n, axis)
    return _transform("rfft", x, n, n // 2 + 1, _complex(x.dtype), axis, norm)


def irfft(
    x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward"
) -> Array:
    """Inverse of `rfft`: `n` real elements, from M complex ones 2 * (M - 1)."""
    n = _length("irfft", COMPLEX, x, n, axis, half=True)
    return _transform("irfft", x, n, n, component(x.dtype), axis, norm)


def hfft(
    x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward"
) -> Array:
    """The `n` real elements of the transform of a signal with Hermitian symmetry.

    `x` is the first half of the signal, with M elements; `n` is 2 * (M - 1) by default.
    """
    n = _length("hfft", COMPLEX, x, n, axis, half=True)
    _check_norm("hfft", norm)
    # NumPy's hfft leaves `out` alone, so this is its definition: the inverse transform
    # of the conjugate, with the division in the other direction.
    return irfft(conj(x), n=n, axis=axis, norm=_REVERSED[norm])


_REVERSED: dict[Norm, Norm] = {
    "backward": "forward",
    "ortho": "ortho",
    "forward": "backward",
}


def ihfft(
    x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward"
) -> Array:
    """Inverse of `hfft`: the first n // 2 + 1 elements of the signal."""
    n = _length("ihfft", REAL_FLOATING, x, n, axis)
    return _transform("ihfft", x, n, n // 2 + 1, _complex(x.dtype), axis, norm)


def _complex(dtype: DType) -> DType:
    return promote(dtype, complex64)


def _length(
    name: str, category: Category, x: Array, n: Any, axis: int, half: bool = False
) -> int:
    """Return the number of elements of the transform, real ones where one side is.

    By default that is the size of the axis, or twice the steps between its elements
    if they are the first half of a signal with Hermitian symmetry.
    """
    check_operands(f"fft.{name}", category, x)
    size = x._shape[normalize_axis(axis, x.ndim)]
    if n is None:
        n = 2 * (size - 1) if half else size
    return _count(f"fft.{name}", n)


def _count(name: str, n: object) -> int:
    # A size that is unknown stays so.
    count = n if type(n) is Unknown else integer(name, "n", n)
    if count < 1:
        raise ValueError(
            f"{name} needs at least one element, got n = {count} "
            f"(array API 2025.12, {name})"
        )
    return count


def _check_norm(name: str, norm: object) -> None:
    if norm not in ("backward", "ortho", "forward"):
        raise ValueError(
            f"norm is 'backward', 'ortho' or 'forward', not {norm!r} "
            f"(array API 2025.12, fft.{name})"
        )


def _transform(
    name: str, x: Array, n: int, size: int, dtype: DType, axis: int, norm: Norm
) -> Array:
    _check_norm(name, norm)
    position = normalize_axis(axis, x.ndim)
    shape = (*x._shape[:position], size, *x._shape[position + 1 :])
    out: Array = allocate(shape, dtype, x.device, False)
    kernel = getattr(kernels(x.device).fft, name)
    call(kernel, view(x), int(n), position, norm, out=view(out))
    return out


# Several axes ------------------------------------------------------------------------


def fftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Array:
    """Transform of a complex `x` over several axes, all by default."""
    check_operands("fft.fftn", COMPLEX, x)
    steps = _steps("fft.fftn", x, s, axes)
    for n, axis in steps:
        x = fft(x, n=n, axis=axis, norm=norm)
    return x if steps else _untransformed(x)


def ifftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Array:
    """Inverse of `fftn`."""
    check_operands("fft.ifftn", COMPLEX, x)
    steps = _steps("fft.ifftn", x, s, axes)
    for n, axis in steps:
        x = ifft(x, n=n, axis=axis, norm=norm)
    return x if steps else _untransformed(x)


def rfftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Array:
    """Transform of a real `x` over several axes, all by default.

    Of the last axis named, only the n // 2 + 1 elements of `rfft` are kept.
    """
    check_operands("fft.rfftn", REAL_FLOATING, x)
    *steps, (last, axis) = _steps("fft.rfftn", x, s, axes, some=True)
    out = rfft(x, n=last, axis=axis, norm=norm)
    for n, axis in steps:
        out = fft(out, n=n, axis=axis, norm=norm)
    return out


def irfftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = "backward",
) -> Array:
    """Inverse of `rfftn`: real, of M elements on the last axis it makes 2 * (M - 1)."""
    check_operands("fft.irfftn", COMPLEX, x)
    *steps, (last, last_axis) = _steps("fft.irfftn", x, s, axes, some=True)
    if s is not None and last is None:
        profile.unspecified(
            "fft.irfftn with -1 for the size of the last axis",
            "irfftn, s",
            "write the number of elements",
        )
    for n, axis in steps:
        x = ifft(x, n=n, axis=axis, norm=norm)
    return irfft(x, n=last, axis=last_axis, norm=norm)


def _untransformed(x: Array) -> Array:
    profile.unspecified("a transform over no axes", "fftn, axes", "name an axis")
    out: Array = host.copy(x)
    return out


def _steps(
    name: str,
    x: Array,
    s: Sequence[int] | None,
    axes: Sequence[int] | None,
    some: bool = False,
) -> list[tuple[int | None, int]]:
    """Return for each axis the number of elements, None for its own, and its position.

    With `some`, ValueError if there is no axis.
    """
    named = None if axes is None else _tuple(name, "axes", axes)
    positions = normalize_axes(named, x.ndim)
    sizes: list[int | None] = [None] * len(positions)
    if s is not None:
        if axes is None:
            raise ValueError(
                f"{name} was given sizes s = {s} without the axes they belong to "
                f"(array API 2025.12, {name})"
            )
        sizes = [None if n == -1 else n for n in _tuple(name, "s", s)]
    if len(sizes) != len(positions):
        raise ValueError(
            f"{name} takes one size for each axis, got {len(sizes)} for "
            f"{len(positions)} axes (array API 2025.12, {name})"
        )
    if some and not positions:
        raise ValueError(
            f"{name} needs at least one axis to transform (array API 2025.12, {name})"
        )
    return list(zip(sizes, positions, strict=True))


def _tuple(name: str, what: str, given: Sequence[int]) -> tuple[int, ...]:
    try:
        return tuple(given)
    except TypeError:
        raise TypeError(
            f"{name} takes a sequence of integers as {what}, not "
            f"{type(given).__name__} (array API 2025.12, {name})"
        ) from None


# Frequencies and order ---------------------------------------------------------------


def fftfreq(
    n: int,
    /,
    *,
    d: float = 1.0,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array:
    """Frequencies of `fft`, in cycles per unit of the sample spacing `d`, shape (n,).

    Zero and the positive ones come first, then the negative ones. The one in the middle
    of an even `n` is negative.
    """
    n, target = _count("fft.fftfreq", n), as_device(device)
    steps = (kernels(target).arange(n) + n // 2) % n - n // 2
    return _frequencies("fft.fftfreq", steps, n, d, dtype, target)


def rfftfreq(
    n: int,
    /,
    *,
    d: float = 1.0,
    dtype: DType | None = None,
    device: Device | None = None,
) -> Array:
    """Frequencies of `rfft`, none negative, shape (n // 2 + 1,)."""
    n, target = _count("fft.rfftfreq", n), as_device(device)
    steps = kernels(target).arange(n // 2 + 1)
    return _frequencies("fft.rfftfreq", steps, n, d, dtype, target)


def _frequencies(
    name: str, steps: Any, n: int, d: float, dtype: DType | None, device: Device
) -> Array:
    real = as_dtype(dtype, defaults(device).real)
    if real not in REAL_FLOATING.dtypes:
        raise TypeError(
            f"{name} makes arrays of a real floating-point dtype, not {real} "
            f"(array API 2025.12, {name})"
        )
    if isinstance(d, bool) or not isinstance(d, (int, float)):
        raise TypeError(
            f"{name} takes a float as d, not {type(d).__name__} "
            f"(array API 2025.12, {name})"
        )
    if profile.guarded:
        check_python(name, "d", d)
        if d == 0:
            profile.unspecified(
                f"{name} with d=0", f"{name}, d", "use a spacing that is not zero"
            )
    values = call(kernels(device).divide, steps, n * float(d))
    out: Array = adopt(values, real, device, None)
    return out


def fftshift(x: Array, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """Elements rolled so that frequency zero is in the middle of each axis."""
    check_operands("fft.fftshift", FLOATING, x)
    positions = _axes(axes, x.ndim)
    return movement.roll(x, positions, [x._shape[axis] // 2 for axis in positions])


def ifftshift(x: Array, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """Inverse of `fftshift`, from which it differs where a size is odd."""
    check_operands("fft.ifftshift", FLOATING, x)
    positions = _axes(axes, x.ndim)
    return movement.roll(x, positions, [-(x._shape[axis] // 2) for axis in positions])


def _axes(axes: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    return normalize_axes(tuple(axes) if isinstance(axes, Sequence) else axes, ndim)
