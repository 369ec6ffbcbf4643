"""Kernels: NumPy's, but for those that disagree with the standard.

Each repair is one function and names the clause that it restores.

Next: `pipeline.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from refarray._base.dtypes import KINDS, DType
from refarray._compute.engine import Kernel

_Array = np.ndarray[Any, Any]


def kernel(name: str, dtype: DType) -> Kernel:
    """Return the kernel of an elementwise function for operands of `dtype`."""
    for names, kinds, repaired in _REPAIRS:
        if name in names and dtype in kinds:
            return repaired
    return getattr(np, name)  # type: ignore[no-any-return]


def floor_divide(x1: Any, x2: Any, out: _Array) -> None:
    """Divide and round down, infinities included.

    NumPy follows Python, where inf // 2.0 is NaN and 1.0 // -inf is -1. The standard's
    special cases ask for floor(x1 / x2): infinity, and negative zero.
    """
    infinite1, infinite2 = np.isinf(x1), np.isinf(x2)
    special = (infinite1 & np.isfinite(x2) & (x2 != 0)) | (np.isfinite(x1) & infinite2)
    quotient = np.true_divide(x1, x2)
    np.floor_divide(x1, x2, out=out)
    np.copyto(out, quotient, where=special)


def power(x1: Any, x2: Any, out: _Array) -> None:
    """Raise to a power, with the exponent 1/2 like any other.

    NumPy takes x**0.5 for a square root, so (-inf)**0.5 is NaN and (-0)**0.5 is -0. The
    standard's special cases give +infinity and +0.
    """
    special = (x2 == 0.5) & (np.isinf(x1) | (x1 == 0))
    magnitude = np.abs(x1)
    np.power(x1, x2, out=out)
    np.copyto(out, magnitude, where=special)


def real(x: Any, out: _Array) -> None:
    """Copy the real part; NumPy's own gives a view."""
    np.copyto(out, x.real)


def imag(x: Any, out: _Array) -> None:
    """Copy the imaginary part; NumPy's own gives a view."""
    np.copyto(out, x.imag)


_REPAIRS: tuple[tuple[frozenset[str], frozenset[DType], Kernel], ...] = (
    (frozenset({"floor_divide"}), KINDS["real floating"], floor_divide),
    (frozenset({"pow"}), KINDS["real floating"], power),
    (frozenset({"real"}), KINDS["complex floating"], real),
    (frozenset({"real"}), KINDS["numeric"], np.positive),
    (frozenset({"imag"}), KINDS["complex floating"], imag),
    (frozenset({"round"}), KINDS["integral"], np.positive),
    (frozenset({"round"}), KINDS["numeric"], np.rint),
)
