"""The flags of profiles: their values, what these mean, and which go together.

`refarray/profiles.py` makes profiles of them. Next folder: `_memory/`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from refarray._base import devices as _devices
from refarray._base import dtypes as _dtypes
from refarray._base.dtypes import DType
from refarray._base.strict import STRICT, Defaults, Place, Profile

_COMPLEX = _dtypes.KINDS["complex floating"]
_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


# The flags ---------------------------------------------------------------------------

# Each with the values that it may have (None: see `_CHECKS`), and what it is about.
FLAGS: dict[str, tuple[tuple[Any, ...] | None, str]] = {
    "devices": (None, "the devices there are, the default one first: see `place`"),
    "api_version": (
        _VERSIONS,
        "the version of the standard that arrays announce; there are no new arrays of "
        "complex numbers before 2022.12, with which they came",
    ),
    "extensions": (None, "the extensions there are: of fft and linalg"),
    "boolean_indexing": (
        (True, False),
        "whether x[mask] is there; JAX under jit has none, array-api-strict's flag of "
        "this name removes it",
    ),
    "data_dependent_shapes": (
        ("allow", "raise", "unknown"),
        "whether there are nonzero, unique_values and others whose result has a size "
        "that depends on values: raise as in JAX under jit, unknown (None in the "
        "shape) as in Dask",
    ),
    "values": (
        ("allow", "raise"),
        "whether values can be had: bool(x), float(x), a buffer, a DLPack capsule; "
        "raise as in JAX under jit, and in lazy libraries that do not compute unasked",
    ),
    "mutable": (
        (True, False),
        "whether arrays can be written to; those of JAX cannot, and x += 1 makes a new "
        "one",
    ),
    "transfers": (
        ("allow", "record", "raise"),
        "what to do when data is copied between devices, explicitly or by float(x): "
        "CuPy and torch copy without a word",
    ),
    "unspecified": (
        ("decide", "raise"),
        "what to do where the standard leaves behavior open: what refarray decided "
        "(docs/reference/unspecified.md), or an error; JAX and torch raise in many of "
        "these places, no library in all",
    ),
    "seed": (
        None,
        "if a number: use the freedom that the standard leaves, by this seed; each "
        "library uses some, XLA and Dask more than NumPy",
    ),
    "numpy_interop": (
        (True, False),
        "whether dtypes and arrays mix with those of NumPy, as CuPy's do",
    ),
}


def place(
    name: str,
    dtypes: Iterable[DType] | None = None,
    *,
    real: DType = _dtypes.float64,
    complex: DType = _dtypes.complex128,
    integral: DType = _dtypes.int64,
    indexing: DType = _dtypes.int64,
) -> Place:
    """Return a device for the flag `devices`: the CPU, or a pretend one of that name.

    `dtypes` are those that it holds, all by default; the others are the default dtypes
    of new arrays there. ValueError for a default that it does not hold, or of another
    kind.
    """
    if dtypes is not None and not _is_collection(dtypes):
        raise TypeError(
            f"device {name!r} holds several dtypes, such as {[_dtypes.float64]}, not "
            f"{dtypes!r}"
        )
    held = frozenset(_dtypes.STANDARD if dtypes is None else dtypes)
    defaults = Defaults(real, complex, integral, indexing)
    for dtype in (*held, *defaults):
        if not isinstance(dtype, DType):
            raise TypeError(
                f"device {name!r} holds dtypes such as refarray.float64, not {dtype!r}"
            )
    for use, dtype in defaults._asdict().items():
        if dtype not in held and not (use == "complex" and not held & _COMPLEX):
            raise ValueError(
                f"the default {use} dtype {dtype} is none of those of device {name!r}: "
                f"{', '.join(sorted(map(str, held)))}"
            )
        if dtype.family != _DEFAULT_KINDS[use]:
            raise ValueError(
                f"the default {use} dtype is a {_DEFAULT_KINDS[use]} one, not {dtype}"
            )
    return there(Place(name, held, defaults))


_DEFAULT_KINDS = {
    "real": "real floating",
    "complex": "complex floating",
    "integral": "signed integer",
    "indexing": "signed integer",
}


def there(place: Place) -> Place:
    """Return a place whose device is there, also if it was made in another process."""
    if not isinstance(place.name, str):
        raise TypeError(f"a device has a name such as 'gpu', not {place.name!r}")
    if not place.name:
        raise ValueError("a device has a name such as 'gpu', not none")
    if place.name != "cpu" and _devices.find_other(place.name) is None:
        _devices.register_pretend(place.name)
    return place


def joined(
    first: tuple[Place, ...] | None, second: tuple[Place, ...] | None
) -> tuple[Place, ...] | None:
    """Return the devices of two profiles at once.

    Those of the one that has pretend devices, each with no more dtypes than the default
    device of the other.
    """
    if first is None or second is None:
        return first or second
    names = [[place.name for place in places] for places in (first, second)]
    if names[0] != names[1] and ["cpu"] not in names:
        raise ValueError(
            f"two profiles contradict each other in devices: {names[0]} and {names[1]}"
        )
    if names[0] == ["cpu"]:
        first, second = second, first
    return tuple(_narrowed(place, second[0]) for place in first)


def _narrowed(one: Place, by: Place) -> Place:
    chosen = []
    for own, other, usual in zip(one.defaults, by.defaults, Defaults(), strict=True):
        if own is not other and usual not in (own, other):
            raise ValueError(
                f"two profiles contradict each other in the default dtype: {own} and "
                f"{other}"
            )
        chosen.append(other if own is usual else own)
    return Place(one.name, one.dtypes & by.dtypes, Defaults(*chosen))


def from_text(flag: str, text: str) -> Any:
    """Return the value of a flag that is given as text."""
    if text == "None" and flag in ("devices", "seed"):
        return None
    if flag == "devices":
        return tuple(place(name) for name in text.split("|"))
    if flag == "extensions":
        return frozenset(name for name in text.split("|") if name)
    if flag == "seed":
        return int(text) if text.isascii() and text.isdigit() else text
    return {"True": True, "False": False}.get(text, text)


def to_text(value: Any) -> str:
    """Return the value of a flag as text, from which `from_text` makes it again."""
    if isinstance(value, tuple):
        return "|".join(place.name for place in value)
    return "|".join(sorted(value)) if isinstance(value, frozenset) else str(value)


def check(flag: str, value: Any) -> Any:
    """Return the value of a flag as profiles have it; ValueError for any other."""
    if flag not in FLAGS:
        raise ValueError(f"no flag is named {flag!r}; known flags: {', '.join(FLAGS)}")
    allowed = FLAGS[flag][0]
    if allowed is not None:
        if value not in allowed or (type(value) is not type(allowed[0])):
            words = ", ".join(map(repr, allowed))
            raise ValueError(f"{flag} is one of {words}, not {value!r}")
        return value
    return _CHECKS[flag](value)


def _is_collection(value: object) -> bool:
    # "gpu" is a name, not "g", "p" and "u".
    return isinstance(value, Iterable) and not isinstance(value, str)


def _check_devices(value: Any) -> tuple[Place, ...] | None:
    if value is None:
        return None
    items = value if _is_collection(value) else ()
    places = tuple(place(item) if isinstance(item, str) else item for item in items)
    if not places or not all(isinstance(item, Place) for item in places):
        raise ValueError(
            "devices is a sequence of at least one place(name, dtypes, ...) or name, "
            f"not {value!r}"
        )
    names = [item.name for item in places]
    if len(set(names)) != len(names):
        raise ValueError(f"devices names one twice: {names}")
    return tuple(map(there, places))


def _check_extensions(value: Any) -> frozenset[str]:
    known = sorted(STRICT.extensions)
    if not _is_collection(value):
        raise ValueError(f"extensions is a set of {known}, or of none, not {value!r}")
    unknown = [name for name in value if name not in known]
    if unknown:
        raise ValueError(f"no extension is named {unknown}; known: {', '.join(known)}")
    return frozenset(value)


def _check_seed(value: Any) -> int | None:
    if value is None or (type(value) is int and 0 < value < 2**63):
        return value
    raise ValueError(
        f"seed is an integer from 1 up, below 2**63, or None, not {value!r}"
    )


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "devices": _check_devices,
    "extensions": _check_extensions,
    "seed": _check_seed,
}


def check_together(new: Profile) -> None:
    """Raise ValueError for flags that cannot be in force at one time."""
    if new.numpy_interop and new.values == "raise":
        raise ValueError(
            "numpy_interop=True contradicts values='raise': NumPy computes with values"
        )
