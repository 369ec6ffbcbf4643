"""Compare values: exactly, or in units in the last place (ULP), and show them.

One ULP of a value v is the distance between the two neighbouring floating-point numbers
of its dtype around v (of the smallest subnormal around zero).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Values = np.ndarray[Any, Any]


def differing(wanted: Values, *, signed_zeros: bool) -> Callable[[Values], Values]:
    """A function that marks the elements that are not those of ``wanted``."""

    def mark(got: Values) -> Values:
        if wanted.dtype.kind == "c":
            return _differ(got.real, wanted.real, signed_zeros) | _differ(
                got.imag, wanted.imag, signed_zeros
            )
        return _differ(got, wanted, signed_zeros)

    return mark


def _differ(got: Values, wanted: Values, signed_zeros: bool) -> Values:
    different = np.asarray(got != wanted)
    if wanted.dtype.kind == "f":
        different &= ~(np.isnan(got) & np.isnan(wanted))
        if signed_zeros:
            different |= (wanted == 0) & (np.signbit(got) != np.signbit(wanted))
    return different


def farther(wanted: Values, ulps: float) -> Callable[[Values], Values]:
    """A function that marks the elements more than ``ulps`` from ``wanted``."""

    def mark(got: Values) -> Values:
        if wanted.dtype.kind not in "fc":
            return _differ(got, wanted, False)
        special = ~(np.isfinite(got) & np.isfinite(wanted))
        beyond = _differ(got, wanted, False)
        if wanted.dtype.kind == "c":
            beyond = farther(wanted.real, ulps)(got.real)
            beyond |= farther(wanted.imag, ulps)(got.imag)
        return np.where(special, beyond, ulp_distance(got, wanted) > ulps)

    return mark


def ulp_distance(got: Values, wanted: Values) -> Values:
    """How far ``got`` lies from ``wanted``, in ULP of the dtype of ``wanted``."""
    wide = np.clongdouble if wanted.dtype.kind == "c" else np.longdouble
    difference = np.abs(np.asarray(got).astype(wide) - wanted.astype(wide))
    return np.asarray(difference / ulp(wanted).astype(np.longdouble))


def ulp(values: Values) -> Values:
    """One unit in the last place of the absolute value of each element."""
    size = np.abs(values)
    info = np.finfo(size.dtype)
    capped = np.clip(size, info.smallest_normal, info.max)
    _, exponent = np.frexp(capped)
    return np.asarray(np.ldexp(np.ones_like(capped), exponent - info.nmant - 1))


def show(value: object) -> str:
    """A value for a person to read: exact, and short for a long array."""
    if isinstance(value, str):
        return value
    if isinstance(value, np.ndarray) and value.ndim:
        flat = [show(v) for v in value.ravel()[:4]]
        more = ", ..." if value.size > 4 else ""
        return f"[{', '.join(flat)}{more}] of shape {value.shape}"
    if isinstance(value, np.generic | np.ndarray):
        value = value.item()
    if isinstance(value, complex):
        return f"complex({value.real}, {value.imag})"  # repr loses the sign of zero
    text = repr(value)
    return text if len(text) <= 160 else text[:157] + "..."
