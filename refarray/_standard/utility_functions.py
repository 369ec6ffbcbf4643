"""Utility functions: logical reductions and differences along an axis.

TypeError for what is no array of refarray and for a dtype that the function does not
take, IndexError for an axis that does not exist.

Source: array API 2025.12, utility functions.

Next: `linalg_decompositions.py`, the first file of an extension.
"""

from __future__ import annotations

from refarray._base import dtypes, profile
from refarray._base.layout import normalize_axis, shown
from refarray._compute import reductions
from refarray._compute.arguments import Axes, check, integer
from refarray._compute.array import Array
from refarray._compute.pipeline import NUMERIC
from refarray._standard.elementwise_functions import positive, subtract
from refarray._standard.manipulation_functions import concat


def all(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Whether every element along the axes is true: not zero; True if there is none."""
    check("all", x)
    return reductions.reduce("logical_and", x, axis, keepdims, dtypes.bool)


def any(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Whether an element along the axes is true: not zero; False if there is none."""
    check("any", x)
    return reductions.reduce("logical_or", x, axis, keepdims, dtypes.bool)


def diff(
    x: Array,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: Array | None = None,
    append: Array | None = None,
) -> Array:
    """Difference of each element and the one before it along `axis`, `n` times over.

    `prepend` and `append` are joined to `x` first. ValueError for a negative `n` and
    for shapes that do not fit.
    """
    check("diff", x, NUMERIC)
    times = integer("diff", "n", n)
    if times < 0:
        raise ValueError(
            f"diff takes n from 0 up, got {shown(times)} (array API 2025.12, diff)"
        )
    along = normalize_axis(axis, x.ndim)
    parts = [part for part in (prepend, x, append) if part is not None]
    for part in parts:
        check("diff", part, NUMERIC)
        if part.dtype is not x.dtype:
            profile.unspecified(
                f"diff of {x.dtype} with {part.dtype} before or after it",
                "diff, notes",
                "convert with astype",
            )
    if len(parts) > 1:
        x = concat(parts, axis=along)
    if times == 0:
        return positive(x)
    if profile.guarded and times > x._shape[along]:
        profile.unspecified(
            f"diff with n={n} of fewer elements",
            "diff: the size would be negative",
            "limit n to the number of elements",
        )
    others = (slice(None),) * along
    after, before = (*others, slice(1, None), ...), (*others, slice(None, -1), ...)
    # Each time takes one element away, until there is none.
    for _ in range(min(times, x._shape[along])):
        x = subtract(x[after], x[before])
    return x
