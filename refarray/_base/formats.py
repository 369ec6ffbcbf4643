"""Formats: the letters that the buffer protocol has for the elements of memory.

Next: `devices.py`.
"""

from __future__ import annotations

import sys

from refarray._base import dtypes
from refarray._base.dtypes import DType

# The letters of the struct module, and Z for complex as in NumPy. A letter says the
# kind and the item size the width: "l" has 4 or 8 bytes, depending on the prefix.
_KINDS = {
    "?": "bool",
    **dict.fromkeys("bhilqn", "signed integer"),
    **dict.fromkeys("BHILQN", "unsigned integer"),
    **dict.fromkeys(("f", "d"), "real floating"),
    **dict.fromkeys(("Zf", "Zd", "F", "D"), "complex floating"),
}
_DTYPES = {(dtype.family, dtype.bits // 8): dtype for dtype in dtypes.STANDARD}
_NATIVE = "@=^" + ("<" if sys.byteorder == "little" else ">!")
_FOREIGN = ">!" if sys.byteorder == "little" else "<"


def dtype_of_format(letters: str, itemsize: int) -> DType:
    """Return the dtype of elements with that format and size in bytes.

    TypeError for a format that no dtype has: records, characters, foreign byte order.
    Source: Python, struct module and buffer protocol.
    """
    plain = letters.lstrip(_NATIVE)
    if plain == "e":
        return dtypes.float16
    dtype = _DTYPES.get((_KINDS.get(plain, ""), itemsize))
    if dtype is None:
        advice = ""
        if plain[:1] in _FOREIGN:
            advice = "; these bytes are in foreign order, swap them first"
        raise TypeError(
            "a buffer may hold booleans, integers, real or complex numbers, not "
            f"elements of format {letters!r}{advice}"
        )
    return dtype
