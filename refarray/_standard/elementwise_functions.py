"""Elementwise functions. Source: array API 2025.12, elementwise functions."""

from __future__ import annotations

from refarray._compute.array import Array
from refarray._compute.pipeline import NUMERIC, binary


def add(x1: Array | complex, x2: Array | complex, /) -> Array:
    """Sum of `x1` and `x2`."""
    return binary("add", NUMERIC, x1, x2)  # type: ignore[no-any-return]
