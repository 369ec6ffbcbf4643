"""mpmath for the oracles. It has no annotations, so its numbers are `Any` from here on.

Next: `oracle_elementwise.py`, `oracle_fft.py`, `oracle_linalg.py`.
"""

from __future__ import annotations

from typing import Any

import mpmath  # type: ignore[import-untyped]


def context() -> Any:
    """Return mpmath's functions with a precision of their own."""
    return mpmath.mp.clone()
