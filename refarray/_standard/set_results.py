"""Results of the set functions that return several arrays: named tuples.

Source: array API 2025.12, set functions.

Next: `sorting_functions.py`.
"""

from __future__ import annotations

from typing import NamedTuple

from refarray._compute.array import Array


class UniqueAll(NamedTuple):
    """Result of `unique_all`."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """Result of `unique_counts`."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """Result of `unique_inverse`."""

    values: Array
    inverse_indices: Array
