"""Set functions. Source: array API 2025.12, set functions.

Values are equal as by `equal`: every NaN is a value of its own, zeros of either sign
are one value. Unique values come in ascending order, which the standard leaves open.

Next: `set_results.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from refarray._base import dtypes, profile
from refarray._compute import ordering
from refarray._compute.arguments import check, operands
from refarray._compute.array import Array
from refarray._compute.engine import adopt, call, kernels
from refarray._compute.pipeline import ANY

if TYPE_CHECKING:
    from refarray._standard.set_results import UniqueAll, UniqueCounts, UniqueInverse

__all__ = ["isin", "unique_all", "unique_counts", "unique_inverse", "unique_values"]


def isin(x1: Array | int, x2: Array | int, /, *, invert: bool = False) -> Array:
    """Whether each element of `x1` is (with `invert`: is not) an element of `x2`.

    One of them may be a Python scalar. TypeError for dtypes that do not promote.
    """
    elements, known, dtype, device = operands("isin", ANY, x1, x2)
    if profile.guarded and dtype not in dtypes.KINDS["integral"]:
        profile.unspecified(
            f"isin of {dtype}",
            "isin, x1: should be of integers",
            "compare with equal, and use any",
        )
    found = call(kernels(device).isin, elements, known, invert=invert)
    shape = x1._shape if isinstance(x1, Array) else ()
    return adopt(found, dtypes.bool, device, shape)


def unique_all(x: Array, /) -> UniqueAll:
    """Unique values, where each is first, which one each element is, and their counts.

    `indices` count in the flattened array; `inverse_indices` have the shape of `x`.
    """
    from refarray._standard.set_results import UniqueAll  # few programs need it

    _check("unique_all", x)
    groups = ordering.Groups(x, indices=True)
    return UniqueAll(
        groups.values(), groups.indices(), groups.inverse(), groups.counts()
    )


def unique_counts(x: Array, /) -> UniqueCounts:
    """Unique values, and how often each occurs."""
    from refarray._standard.set_results import UniqueCounts  # as above

    _check("unique_counts", x)
    groups = ordering.Groups(x, indices=False)
    return UniqueCounts(groups.values(), groups.counts())


def unique_inverse(x: Array, /) -> UniqueInverse:
    """Unique values, and for each element of `x` the index of its value there."""
    from refarray._standard.set_results import UniqueInverse  # as above

    _check("unique_inverse", x)
    groups = ordering.Groups(x, indices=True)
    return UniqueInverse(groups.values(), groups.inverse())


def unique_values(x: Array, /) -> Array:
    """Unique values, in a one-dimensional array."""
    _check("unique_values", x)
    return ordering.Groups(x, indices=False).values()


def _check(name: str, x: Array) -> None:
    check(name, x)
    if profile.guarded:
        profile.check_data_dependent(name)
