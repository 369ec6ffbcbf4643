"""The limits of floating-point dtypes, for the few programs that ask for them.

Next: `promotion.py`.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

from refarray._base.dtypes import DType, complex64, complex128, float32, float64


class FInfo(NamedTuple):
    """Limits of a real floating-point dtype, as Python numbers.

    Source: array API 2025.12, data type functions, finfo.
    """

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


_MAX32 = (2 - 2.0**-23) * 2.0**127
_SINGLE = FInfo(32, 2.0**-23, _MAX32, -_MAX32, 2.0**-126, float32)

_MAX64 = sys.float_info.max
_DOUBLE = FInfo(64, 2.0**-52, _MAX64, -_MAX64, 2.0**-1022, float64)

# A complex dtype has the limits of its components.
FINFO = {
    float32: _SINGLE,
    float64: _DOUBLE,
    complex64: _SINGLE,
    complex128: _DOUBLE,
}
