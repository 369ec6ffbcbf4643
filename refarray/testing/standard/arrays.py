"""Arrays of the namespace under test: made from NumPy values, read back as NumPy.

Only public means are used, so any namespace will do: `asarray` of Python lists (exact
for every dtype, and the first thing a library gets right) and DLPack or Python scalars
on the way back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

INTEGERS = (
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
)  # fmt: skip
SIGNED = INTEGERS[:4]
UNSIGNED = INTEGERS[4:]
REALS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
REAL_OF: dict[str, str] = dict(zip(COMPLEX, REALS, strict=True))
COMPLEX_OF: dict[str, str] = dict(zip(REALS, COMPLEX, strict=True))
FLOATS = REALS + COMPLEX
NUMBERS = INTEGERS + FLOATS
DTYPES = ("bool", *NUMBERS)


def make(xp: Any, values: np.ndarray[Any, Any] | Any) -> Any:
    """A fresh array of ``xp`` with the dtype, shape and values given."""
    values = np.asarray(values)
    dtype = getattr(xp, values.dtype.name)
    if values.size == 0:
        return xp.zeros(values.shape, dtype=dtype)
    try:
        return xp.asarray(values.tolist(), dtype=dtype)
    except Exception:  # a library may be unable to take 2**63 in a list
        return xp.from_dlpack(np.array(values, order="C"))


def read(x: Any) -> np.ndarray[Any, Any]:
    """A NumPy copy of an array of the namespace under test."""
    if isinstance(x, np.ndarray | np.generic):
        return np.array(x)
    try:
        return np.array(np.from_dlpack(x))
    except Exception:  # no DLPack for this memory, layout or device
        return _read_by_element(x)


def flushes_subnormals(xp: Any, dtype: str) -> bool:
    """Whether the library takes subnormal numbers for zero, which it may."""
    tiny = np.asarray(np.finfo(dtype).smallest_subnormal * 4, dtype)
    x = make(xp, tiny)
    return bool(read(x + x) == 0)


def _read_by_element(x: Any) -> np.ndarray[Any, Any]:
    name = str(x.dtype).rpartition(".")[2]
    python: Any = bool if name == "bool" else int
    if name in REALS:
        python = float
    elif name in COMPLEX:
        python = complex
    out = np.empty(tuple(x.shape), name)
    for at in np.ndindex(*out.shape):
        out[at] = python(x[at])
    return out
