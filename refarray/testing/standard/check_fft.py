"""Fourier transforms against the defining sums of `oracle_fft.py`.

Every function of the extension, every normalization, lengths shorter and longer than
the array, primes and powers of two, one and several axes. The bound is proportional to
the sum of the absolute values transformed, in units of the dtype.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from refarray.testing.standard import oracle_fft as oracle
from refarray.testing.standard.arrays import (
    COMPLEX,
    COMPLEX_OF,
    DTYPES,
    REAL_OF,
    REALS,
)
from refarray.testing.standard.calls import AXIS, Calls, default_dtype
from refarray.testing.standard.oracle_fft import BACKWARD, FORWARD, ORTHO, Exact
from refarray.testing.standard.runner import Check, Report
from refarray.testing.standard.samples import Values, everywhere, filled, gathered

NORMS = (BACKWARD, ORTHO, FORWARD)
SOME = ("fresh", "strided", "transposed")


def signal(shape: tuple[int, ...], dtype: str) -> Values:
    """Small numbers in no pattern, exact in float32."""
    size = int(np.prod(shape))
    real = ((np.arange(size) * 37 + 11) % 64 - 29) / 8
    if dtype in COMPLEX:
        return (real + 1j * real[::-1] * 0.5).astype(dtype).reshape(shape)
    return real.astype(dtype).reshape(shape)


def _compare(call: Calls, exact: Exact, dtype: str, x: Values, **keywords: Any) -> None:
    """The call on x gives the exact values rounded to `dtype`, within the bound."""
    wide = oracle.rounded(exact)
    wanted = (wide if dtype in COMPLEX else wide.real).astype(dtype)
    growth = max(1.0, float(np.max(np.abs(wide), initial=0)))
    bound = 32 * float(np.finfo(dtype).eps) * (growth + float(np.sum(np.abs(x))))
    clause = f"{call.clause}, norm={keywords.get('norm', BACKWARD)!r}"
    clause = clause if x.size else f"{call.clause}, of no signals"
    call.gives(wanted, x, tolerance=bound, clause=clause, **keywords)


SINGLE: tuple[tuple[tuple[int, ...], int | None, int], ...] = (
    ((8,), None, -1), ((7,), None, -1), ((1,), None, 0), ((6,), 4, -1), ((6,), 9, -1),
    ((5,), 1, -1), ((2, 5), None, -1), ((5, 2), None, 0), ((3, 4, 2), None, 1),
    ((3, 4, 2), 7, -2), ((3, 4, 2), 3, 1), ((0, 4), None, -1), ((11,), 16, -1),
    ((1, 2, 1, 3, 1, 1, 2, 1), None, 3), ((33,), None, -1),
)  # fmt: skip
"""Shapes, lengths and axes of one-dimensional transforms."""


def _one_axis(xp: Any, report: Report, name: str, inverse: bool) -> None:
    call = Calls(xp, report, f"fft.{name}", f"{name}: the defining sum")
    for dtype in COMPLEX:
        for (shape, n, axis), norm in itertools.product(SINGLE, NORMS):
            x = signal(shape, dtype)
            exact = oracle.transform(oracle.exact(x), n, axis, norm, inverse)
            keywords = {"axis": axis, "norm": norm} | ({} if n is None else {"n": n})
            _compare(call, exact, dtype, x, **keywords)
        x = signal((2, 6), dtype)
        exact = oracle.transform(oracle.exact(x), None, -1, BACKWARD, inverse)
        _compare(call, exact, dtype, x)
    _refused(call, "axis", (2, -3))


def _refused(call: Calls, keyword: str, wrong: tuple[Any, ...]) -> None:
    x = signal((3, 4), "complex128")
    for value in wrong:
        call.refused(Exception, x, clause=AXIS, **{keyword: value})


def fft(xp: Any, report: Report) -> None:
    """The forward transform along one axis."""
    _one_axis(xp, report, "fft", inverse=False)


def ifft(xp: Any, report: Report) -> None:
    """The inverse transform along one axis."""
    _one_axis(xp, report, "ifft", inverse=True)


SEVERAL: tuple[tuple[tuple[int, ...], Any, Any], ...] = (
    ((4, 6), None, None), ((4, 6), None, (0,)), ((4, 6), None, (1, 0)),
    ((3, 4, 5), None, (-1, 0)), ((3, 4, 5), (2, 6), (2, 0)), ((4, 6), (4, 3), (0, 1)),
    ((4, 6), (5, 8), (-2, -1)), ((2, 3, 4), (2, 3, 4), (0, 1, 2)), ((5,), None, None),
    ((1, 2, 1, 3, 1, 1, 2, 1), None, (1, 3, 6)),
)  # fmt: skip
"""Shapes, sizes and axes of n-dimensional transforms."""


def _resolved(x: Values, s: Any, axes: Any) -> tuple[list[Any], list[int]]:
    over = list(range(x.ndim)) if axes is None else [a % x.ndim for a in axes]
    return ([None] * len(over) if s is None else list(s)), over


def _keywords(s: Any, axes: Any, norm: str) -> dict[str, Any]:
    given = {"s": s, "axes": axes, "norm": norm}
    return {name: value for name, value in given.items() if value is not None}


def _several_axes(xp: Any, report: Report, name: str, inverse: bool) -> None:
    call = Calls(xp, report, f"fft.{name}", f"{name}: the sum over several axes")
    for dtype in COMPLEX:
        for (shape, s, axes), norm in itertools.product(SEVERAL, NORMS):
            x = signal(shape, dtype)
            sizes, over = _resolved(x, s, axes)
            exact = oracle.transform_axes(oracle.exact(x), sizes, over, norm, inverse)
            keywords = _keywords(s, axes, norm)
            _compare(call, exact, dtype, x, layouts=SOME, **keywords)
        x = signal((4, 3), dtype)
        exact = oracle.transform_axes(
            oracle.exact(x), [None, 5], [0, 1], BACKWARD, inverse
        )
        whole = Calls(xp, report, f"fft.{name}", f"{name}: -1 in s is the whole axis")
        _compare(whole, exact, dtype, x, s=(-1, 5), axes=(0, 1))
    _refused(call, "axes", ((2,), (0, -3)))


def fftn(xp: Any, report: Report) -> None:
    """The forward transform along several axes."""
    _several_axes(xp, report, "fftn", inverse=False)


def ifftn(xp: Any, report: Report) -> None:
    """The inverse transform along several axes."""
    _several_axes(xp, report, "ifftn", inverse=True)


def rfft(xp: Any, report: Report) -> None:
    """Half of the forward transform of a real signal."""
    call = Calls(xp, report, "fft.rfft", "rfft: the first n//2 + 1 coefficients")
    for dtype in REALS:
        for (shape, n, axis), norm in itertools.product(SINGLE, NORMS):
            x = signal(shape, dtype)
            whole = oracle.transform(oracle.exact(x), n, axis, norm)
            keywords = {"axis": axis, "norm": norm} | ({} if n is None else {"n": n})
            _compare(call, oracle.half(whole, axis), COMPLEX_OF[dtype], x, **keywords)
    _refused(call, "axis", (2, -3))


def ihfft(xp: Any, report: Report) -> None:
    """Half of the inverse transform of a real signal."""
    call = Calls(xp, report, "fft.ihfft", "ihfft: the first n//2 + 1 of the inverse")
    for dtype in REALS:
        for (shape, n, axis), norm in itertools.product(SINGLE, NORMS):
            x = signal(shape, dtype)
            whole = oracle.transform(oracle.exact(x), n, axis, norm, inverse=True)
            keywords = {"axis": axis, "norm": norm} | ({} if n is None else {"n": n})
            _compare(call, oracle.half(whole, axis), COMPLEX_OF[dtype], x, **keywords)


def half_signal(shape: tuple[int, ...], n: int, axis: int, dtype: str) -> Values:
    """Coefficients whose first, and for even n middle, one is real along `axis`."""
    x = np.moveaxis(signal(shape, dtype), axis, 0).copy()
    x[0] = x[0].real
    if n % 2 == 0 and n // 2 < x.shape[0]:
        x[n // 2] = x[n // 2].real
    return np.moveaxis(x, 0, axis).copy()


HALVES: tuple[tuple[tuple[int, ...], int | None, int], ...] = (
    ((5,), None, -1), ((5,), 9, -1), ((5,), 8, -1), ((5,), 5, -1), ((5,), 4, -1),
    ((3,), 9, -1), ((2,), None, 0), ((1,), 1, 0), ((2, 4), None, -1), ((4, 2), 7, 0),
    ((3, 4, 2), None, 1), ((3, 4, 2), 5, -2), ((0, 3), None, -1), ((3,), 12, 0),
)  # fmt: skip
"""Shapes of coefficients, lengths of the real signal, axes."""


def _to_real(xp: Any, report: Report, name: str, inverse: bool) -> None:
    call = Calls(xp, report, f"fft.{name}", f"{name}: n real samples")
    for dtype in COMPLEX:
        for (shape, n, axis), norm in itertools.product(HALVES, NORMS):
            length = 2 * (shape[axis] - 1) if n is None else n
            x = half_signal(shape, length, axis, dtype)
            by = oracle.real_inverse if inverse else oracle.hermitian_forward
            exact = by(oracle.exact(x), n, axis, norm)
            keywords = {"axis": axis, "norm": norm} | ({} if n is None else {"n": n})
            _compare(call, exact, REAL_OF[dtype], x, **keywords)
    _refused(call, "axis", (2, -3))


def irfft(xp: Any, report: Report) -> None:
    """The real signal of given coefficients, of even and odd length."""
    _to_real(xp, report, "irfft", inverse=True)


def hfft(xp: Any, report: Report) -> None:
    """The real spectrum of a signal with Hermitian symmetry."""
    _to_real(xp, report, "hfft", inverse=False)


def rfftn(xp: Any, report: Report) -> None:
    """The transform of a real array: half of the last axis, whole others."""
    call = Calls(xp, report, "fft.rfftn", "rfftn: half of the last transformed axis")
    for dtype in REALS:
        for (shape, s, axes), norm in itertools.product(SEVERAL, NORMS):
            x = signal(shape, dtype)
            sizes, over = _resolved(x, s, axes)
            whole = oracle.transform_axes(oracle.exact(x), sizes, over, norm)
            exact = oracle.half(whole, over[-1])
            keywords = _keywords(s, axes, norm)
            _compare(call, exact, COMPLEX_OF[dtype], x, layouts=SOME, **keywords)
    _refused(call, "axes", ((2,), (0, -3)))


def irfftn(xp: Any, report: Report) -> None:
    """The real array with given coefficients; the last axis is the halved one."""
    call = Calls(xp, report, "fft.irfftn", "irfftn: the inverse of rfftn")
    for dtype in COMPLEX:
        for (shape, s, axes), norm in itertools.product(SEVERAL, NORMS):
            samples = signal(shape, REAL_OF[dtype])
            sizes, over = _resolved(samples, s, axes)
            last = sizes[-1] or shape[over[-1]]
            sizes = [size or shape[a] for size, a in zip(sizes, over, strict=True)]
            spectrum = oracle.transform_axes(
                oracle.exact(samples), sizes, over, BACKWARD
            )
            x = oracle.rounded(oracle.half(spectrum, over[-1])).astype(dtype)
            if s is None and last % 2:
                continue  # the default length is even
            inner = oracle.transform_axes(
                oracle.exact(x), [*sizes[:-1]], over[:-1], norm, inverse=True
            )
            exact = oracle.real_inverse(inner, last, over[-1], norm)
            keywords = _keywords(s, axes, norm)
            _compare(call, exact, REAL_OF[dtype], x, layouts=SOME, **keywords)
    _refused(call, "axes", ((2,), (0, -3)))


def fftfreq(xp: Any, report: Report) -> None:
    """Even and odd lengths, spacing, dtype."""
    _frequencies(xp, report, "fftfreq")


def rfftfreq(xp: Any, report: Report) -> None:
    """Even and odd lengths, spacing, dtype."""
    _frequencies(xp, report, "rfftfreq")


def _frequencies(xp: Any, report: Report, name: str) -> None:
    call = Calls(xp, report, f"fft.{name}", f"{name}: k / (d * n)")
    default = default_dtype(xp, "real floating")
    typed = f"{name}: dtype= gives the dtype (2024.12)"
    for n, d in itertools.product((1, 2, 3, 4, 7, 8, 15), (None, 1.0, 0.1, 2.5)):
        ks = list(range(n // 2 + 1)) if name == "rfftfreq" else _wrapped(n)
        exact = np.asarray([k / ((d or 1.0) * n) for k in ks])
        spacing: dict[str, Any] = {} if d is None else {"d": d}
        bound = 4 * float(np.max(np.abs(exact)))
        eps = float(np.finfo(default).eps)
        call.gives(
            exact.astype(default),
            n,
            tolerance=bound * eps,
            layouts=("fresh",),
            **spacing,
        )
        for dtype in REALS:
            eps = float(np.finfo(dtype).eps)
            call.gives(
                exact.astype(dtype),
                n,
                dtype=np.dtype(dtype),
                tolerance=bound * eps,
                clause=typed,
                layouts=("fresh",),
                **spacing,
            )


def _wrapped(n: int) -> list[int]:
    return [k if k < (n + 1) // 2 else k - n for k in range(n)]


def fftshift(xp: Any, report: Report) -> None:
    """Even and odd sizes, every dtype, one axis, several, all."""
    _shift(xp, report, "fftshift", lambda n: n // 2)


def ifftshift(xp: Any, report: Report) -> None:
    """The inverse: differs from fftshift for odd sizes."""
    _shift(xp, report, "ifftshift", lambda n: -(n // 2))


def _shift(xp: Any, report: Report, name: str, by: Any) -> None:
    call = Calls(
        xp, report, f"fft.{name}", f"{name}: the zero frequency and the middle"
    )
    inputs = [x for x in everywhere(DTYPES, (2, 3)) if x.dtype.kind in "fc"]
    inputs += [filled(shape, "float32") for shape in ((5,), (4,), (3, 5), (2, 3, 4))]
    for x in inputs:
        choices: list[Any] = [None, *range(-x.ndim, x.ndim)]
        if x.ndim > 1:
            choices += [(0, 1), (-1, 0), (1,)]
        for axes in choices:
            several = axes if isinstance(axes, tuple) else (axes,)
            over = range(x.ndim) if axes is None else [a % x.ndim for a in several]

            def source(*at: int, x: Values = x, over: Any = over) -> tuple[int, ...]:
                return tuple(
                    (i - by(x.shape[a])) % x.shape[a] if a in over else i
                    for a, i in enumerate(at)
                )

            wanted = gathered(x, x.shape, source)
            keywords: dict[str, Any] = {} if axes is None else {"axes": axes}
            call.gives(wanted, x, **keywords)


CHECKS = tuple(
    Check(f"fft.{check.__name__}", check)
    for check in (
        fft, ifft, fftn, ifftn, rfft, irfft, rfftn, irfftn, hfft, ihfft, fftfreq,
        rfftfreq, fftshift, ifftshift,
    )
)  # fmt: skip
