"""Sorting functions. Source: array API 2025.12, sorting functions.

For arrays of real numbers; TypeError for bool and complex, IndexError for an axis out
of range. NaN comes last, whatever the order: the standard leaves its place open.

Next: `statistical_functions.py`.
"""

from __future__ import annotations

from refarray._base import profile
from refarray._base.layout import normalize_axis
from refarray._compute import ordering, pedantic
from refarray._compute.arguments import check
from refarray._compute.array import Array
from refarray._compute.engine import view
from refarray._compute.pipeline import REAL

__all__ = ["argsort", "sort"]


def argsort(
    x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> Array:
    """Indices that sort `x` along `axis`; if `stable`, equal ones keep their order."""
    check("argsort", x, REAL)
    if profile.guarded:
        pedantic.no_nan("argsort", "sorting functions", view(x))
    return ordering.argsort(x, normalize_axis(axis, x.ndim), descending, stable)


def sort(
    x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> Array:
    """Elements of `x` sorted along `axis`; if `stable`, equal ones keep their order."""
    check("sort", x, REAL)
    if profile.guarded:
        pedantic.no_nan("sort", "sorting functions", view(x))
    return ordering.sort(x, normalize_axis(axis, x.ndim), descending, stable)
