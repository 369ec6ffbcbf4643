"""Python numbers beside arrays: which the standard admits, and what they become.

A bool goes with bool, an int within bounds with integers, int and float with real
numbers, any number with complex ones; the number becomes a zero-dimensional array of
the array's dtype. A complex number with a real array makes the result complex of the
same precision.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from refarray.testing.standard import arrays


def beside(dtype: str) -> list[Any]:
    """Python numbers that may stand beside an array of a dtype."""
    if dtype == "bool":
        return [True, False]
    if dtype in arrays.INTEGERS:
        info = np.iinfo(dtype)
        some = [2, 0, 1, 5, 100, int(info.max), int(info.min)]
        return some + ([-1, -3] if info.min < 0 else [])
    reals = [2, 0, -1, 0.5, -1.5, 3.25, 0.1, -0.0, math.inf, -math.inf, math.nan]
    if dtype in arrays.REALS:
        return [*reals, 2**70]
    return [*reals[:7], 1 + 2j, -0.5j, 2**70]


def dtype_beside(dtype: str, number: Any) -> str:
    """The dtype in which array and number are taken together."""
    is_complex = isinstance(number, complex)
    return arrays.COMPLEX_OF.get(dtype, dtype) if is_complex else dtype
