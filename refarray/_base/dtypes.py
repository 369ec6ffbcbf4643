"""The data types: what they are, and their kinds.

A dtype is a constant: one object per name, compared by identity; under profile
numpy_interop, by NumPy's judgement too. `STANDARD` lists the standard's thirteen.
`HELD` lists float16 and bfloat16: other libraries send them, so refarray keeps, shows,
converts and passes them on, but does not compute with them.

`bool` names the dtype from here on, as it does in the public namespace; Python's own
is `builtins.bool`.

Next: `limits.py`, their limits; then `promotion.py`, how they combine.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any, NoReturn, final

import numpy as np

# Where NumPy looks for the dtype that an object stands for: since 2.4, and before.
_NUMPY = tuple(int(part) for part in np.__version__.split(".")[:2])
_PROTOCOL = "__numpy_dtype__" if _NUMPY >= (2, 4) else "dtype"


@final
class DType:
    """A data type: its family, and its DLPack type code and bits; `str` gives its name.

    `family` is one of the standard's kinds ("bool", "signed integer", "unsigned
    integer", "real floating", "complex floating") or "held". The attributes of NumPy's
    dtypes, `kind` for one, are there under profile numpy_interop only.

    Source: array API 2025.12, data types; DLPack, DLDataType.
    """

    __slots__ = ("family", "code", "bits", "key", "_name", "_numpy", "_hash")

    family: str
    code: int
    bits: int
    # Its place in BY_NAME, below 16, for tables that every call reads: hashing a dtype
    # takes longer than all the rest of reading one.
    key: int
    _name: str
    _numpy: np.dtype[Any] | None
    _hash: int

    def __new__(cls, *args: object, **kwargs: object) -> DType:
        names = ", ".join(f"refarray.{dtype}" for dtype in STANDARD)
        raise TypeError(f"a dtype is a constant, not made by a call: use {names}")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{self!r} is a constant: cannot set {name!r}")

    # Left to its default, == would hand the question to the other object, and a NumPy
    # array answers with an array.
    def __eq__(self, other: object) -> builtins.bool:
        return self is other or (mixes_with_numpy() and from_numpy(other) is self)

    # The hash of NumPy's dtype, which this one may equal, and under every profile: a
    # hash that changed would lose entries of tables.
    def __hash__(self) -> int:
        return self._hash

    if not TYPE_CHECKING:  # or a misspelt attribute would pass for one of NumPy's

        def __getattr__(self, name: str) -> object:
            if mixes_with_numpy() and self._numpy is not None:
                if name == _PROTOCOL:
                    return self._numpy
                if not name.startswith("_"):
                    return getattr(self._numpy, name)
            raise AttributeError(
                f"dtype {self!r} has no attribute {name!r}: the standard gives a dtype "
                "none, str() gives its name and isdtype tells its kind"
            )

    def __repr__(self) -> str:
        return f"refarray.{self._name}"

    def __str__(self) -> str:
        return self._name

    # A string names a global of this module: pickle and copy give back the constant.
    def __reduce__(self) -> str:
        return self._name


def _define(name: str, family: str, code: int, bits: int) -> DType:
    dtype: DType = object.__new__(DType)
    object.__setattr__(dtype, "family", family)
    object.__setattr__(dtype, "code", code)
    object.__setattr__(dtype, "bits", bits)
    object.__setattr__(dtype, "_name", name)
    known = None if name == "bfloat16" else np.dtype(name)
    object.__setattr__(dtype, "_numpy", known)
    object.__setattr__(dtype, "_hash", hash(known or name))
    return dtype


bool = _define("bool", "bool", 6, 8)
int8 = _define("int8", "signed integer", 0, 8)
int16 = _define("int16", "signed integer", 0, 16)
int32 = _define("int32", "signed integer", 0, 32)
int64 = _define("int64", "signed integer", 0, 64)
uint8 = _define("uint8", "unsigned integer", 1, 8)
uint16 = _define("uint16", "unsigned integer", 1, 16)
uint32 = _define("uint32", "unsigned integer", 1, 32)
uint64 = _define("uint64", "unsigned integer", 1, 64)
float32 = _define("float32", "real floating", 2, 32)
float64 = _define("float64", "real floating", 2, 64)
complex64 = _define("complex64", "complex floating", 5, 64)
complex128 = _define("complex128", "complex floating", 5, 128)

float16 = _define("float16", "held", 2, 16)
bfloat16 = _define("bfloat16", "held", 4, 16)

STANDARD = (
    bool,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float32,
    float64,
    complex64,
    complex128,
)
HELD = (float16, bfloat16)
BY_NAME = {str(dtype): dtype for dtype in (*STANDARD, *HELD)}
for _key, _dtype in enumerate(BY_NAME.values()):
    object.__setattr__(_dtype, "key", _key)

DEFAULT_INT = int64
DEFAULT_REAL = float64
DEFAULT_COMPLEX = complex128
DEFAULT_INDEX = int64


# Kinds -------------------------------------------------------------------------------

_SIGNED = frozenset({int8, int16, int32, int64})
_UNSIGNED = frozenset({uint8, uint16, uint32, uint64})
_REAL = frozenset({float32, float64})
_COMPLEX = frozenset({complex64, complex128})

# The kinds isdtype must know; held dtypes belong to none of them.
# Source: array API 2025.12, data type functions, isdtype.
KINDS = {
    "bool": frozenset({bool}),
    "signed integer": _SIGNED,
    "unsigned integer": _UNSIGNED,
    "integral": _SIGNED | _UNSIGNED,
    "real floating": _REAL,
    "complex floating": _COMPLEX,
    "numeric": _SIGNED | _UNSIGNED | _REAL | _COMPLEX,
}


def as_dtype(
    obj: object, default: DType | None = None, *, held: builtins.bool = False
) -> DType:
    """Return the dtype that a `dtype=` argument means; None means `default`.

    TypeError for anything but a dtype: strings, Python types and NumPy dtypes included,
    unless profile numpy_interop takes those; and for a held dtype, unless `held` says
    that the caller takes it.
    """
    if isinstance(obj, DType):
        if obj.family == "held" and not held:
            raise TypeError(
                f"{obj} is for data from other libraries: refarray holds it but does "
                f"not make; use {float32!r} or {float64!r}"
            )
        return obj
    if obj is None and default is not None:
        return default
    if mixes_with_numpy() and (meant := from_numpy(obj)) is not None:
        return as_dtype(meant, held=held)
    raise TypeError(_no_dtype(obj))


def _no_dtype(obj: object) -> str:
    # A string, a NumPy dtype, or a type of NumPy's or Python's.
    name = str(getattr(obj, "name", obj))
    if isinstance(obj, type):
        name = _NEAREST.get(obj.__name__, obj.__name__)
    advice = f"write refarray.{name}" if name in BY_NAME else "such as refarray.float64"
    return f"a dtype is an object of refarray, not {obj!r}; {advice}"


# What Python's types are in NumPy's eyes.
_NEAREST = {"int": "int64", "float": "float64", "complex": "complex128"}


# NumPy's dtypes ----------------------------------------------------------------------


def mixes_with_numpy() -> builtins.bool:
    """Tell whether dtypes mix with NumPy's here and now.

    A question to the profile: `profile.py`, which imports this file, replaces this.
    """
    return False


def from_numpy(obj: object) -> DType | None:
    """Return the dtype that NumPy means by `obj`; None if it is none of ours.

    A dtype or scalar type of NumPy's, Python's bool, int, float or complex, or a name
    such as "float64", "f8" or "<f8".
    """
    if isinstance(obj, str):
        try:
            obj = np.dtype(obj)
        except TypeError:
            return None
    return _MEANT.get(obj) if isinstance(obj, (np.dtype, type)) else None


def _numpy_table() -> dict[object, DType]:
    table: dict[object, DType] = {}
    for dtype in (*STANDARD, float16):
        known = np.dtype(str(dtype))
        table |= {known: dtype, known.type: dtype}
    # C has two types for one of its integers; NumPy has a scalar type for each.
    table |= {np.longlong: int64, np.ulonglong: uint64}
    return table | {
        builtins.bool: bool,
        int: int64,
        float: float64,
        complex: complex128,
    }


_MEANT = _numpy_table()
