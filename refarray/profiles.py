"""Profiles: refarray as another library behaves, so that code can be tried on all.

    from refarray import profiles

    with profiles.use("jax32"):
        my_function(refarray.asarray([1.0, 2.0]))

A profile is in force for the `with` block and what it calls, in that thread or task;
elsewhere the default of the process is: `set_default`, the environment variable
REFARRAY_PROFILE, or a command line (`python -m refarray run`, `pytest -p
refarray.testing.profile`). Profiles are given by name, by names joined with "+", and by
flags: `use("gpu+jax32", mutable=False)`; in text: "adversarial,seed=7".

What a profile has no word on is as under `strict`, which is refarray as documented.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from refarray._base import devices as _devices
from refarray._base import dtypes as _dtypes
from refarray._base import profile as _profile
from refarray._base.dtypes import DType
from refarray._base.profile import (
    Defaults,
    Place,
    Profile,
    Transfer,
    UnspecifiedError,
)

__all__ = [
    "FLAGS",
    "NAMES",
    "Place",
    "Profile",
    "Transfer",
    "UnspecifiedError",
    "active",
    "place",
    "profile",
    "restart",
    "set_default",
    "use",
]

_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


# The flags ---------------------------------------------------------------------------

# Each with the values that it may have (None: see `_CHECKS`), and what it is about.
FLAGS: dict[str, tuple[tuple[Any, ...] | None, str]] = {
    "devices": (None, "the devices there are, the default one first: see `place`"),
    "api_version": (_VERSIONS, "the version of the standard that arrays announce"),
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
    return _there(Place(name, held, defaults))


_DEFAULT_KINDS = {
    "real": "real floating",
    "complex": "complex floating",
    "integral": "signed integer",
    "indexing": "signed integer",
}


def _there(place: Place) -> Place:
    """Return a place whose device is there, also if it was made in another process."""
    if not isinstance(place.name, str):
        raise TypeError(f"a device has a name such as 'gpu', not {place.name!r}")
    if not place.name:
        raise ValueError("a device has a name such as 'gpu', not none")
    if place.name != "cpu" and _devices.find_other(place.name) is None:
        _devices.register_pretend(place.name)
    return place


# The named profiles ------------------------------------------------------------------

_ALL = frozenset(_dtypes.STANDARD)
_COMPLEX = _dtypes.KINDS["complex floating"]
_NARROW = _ALL - {
    _dtypes.float64,
    _dtypes.complex128,
    _dtypes.int64,
    _dtypes.uint64,
}
_NO_DOUBLE = _ALL - {_dtypes.float64, _dtypes.complex128}
_TORCH = _ALL - {_dtypes.uint16, _dtypes.uint32, _dtypes.uint64}


def _single(name: str, dtypes: frozenset[DType]) -> Place:
    return place(name, dtypes, real=_dtypes.float32, complex=_dtypes.complex64)


def _seed_of_system() -> int:
    # Not from the numbers of `random`, which the program may have seeded itself.
    return random.SystemRandom().randrange(1, 2**32)


# Made when they are asked for: pretend devices are registered then.
_SETS: dict[str, Callable[[], dict[str, Any]]] = {
    "strict": dict,
    # No library: an error wherever the standard does not say what happens.
    "pedantic": lambda: {"unspecified": "raise"},
    # array-api-strict with all its flags off.
    "strictest": lambda: {
        "boolean_indexing": False,
        "data_dependent_shapes": "raise",
        "extensions": frozenset[str](),
    },
    # CuPy, and torch on CUDA.
    "gpu": lambda: {
        "devices": (place("gpu"), place("cpu")),
        "transfers": "record",
    },
    # torch on Apple's GPUs.
    "mps": lambda: {
        "devices": (_single("mps", _NO_DOUBLE), place("cpu")),
        "transfers": "record",
    },
    # JAX as it comes, without jax_enable_x64.
    "jax32": lambda: {
        "devices": (
            place(
                "cpu",
                _NARROW,
                real=_dtypes.float32,
                complex=_dtypes.complex64,
                integral=_dtypes.int32,
                indexing=_dtypes.int32,
            ),
        ),
        "mutable": False,
        "data_dependent_shapes": "raise",
        "boolean_indexing": False,
    },
    # torch on the CPU.
    "torch": lambda: {"devices": (_single("cpu", _TORCH),)},
    # dask.array, which computes nothing unasked.
    "dask": lambda: {"values": "raise", "data_dependent_shapes": "unknown"},
    # JAX inside jax.jit.
    "jit": lambda: {
        "values": "raise",
        "data_dependent_shapes": "raise",
        "boolean_indexing": False,
        "mutable": False,
    },
    # JAX, in this alone.
    "immutable": lambda: {"mutable": False},
    # No library, and any: whatever the standard leaves open, differently each time.
    "adversarial": lambda: {"seed": _seed_of_system()},
    # CuPy and ndonnx, whose dtypes are or equal NumPy's.
    "numpy_interop": lambda: {"numpy_interop": True},
}

NAMES = tuple(_SETS)


def profile(*names: str | Profile, **flags: Any) -> Profile:
    """Return a profile of these names, with these flags.

    A name may be text with several names and flags, "gpu+immutable,transfers=raise". A
    flag given by itself overrides the profiles'. ValueError for an unknown name, flag,
    device or value, and for profiles that contradict each other.
    """
    for name in names:
        if isinstance(name, Profile):
            for one in name.devices or ():
                _there(one)
    if len(names) == 1 and isinstance(names[0], Profile) and not flags:
        return names[0]
    written: dict[str, Any] = {}
    parts = [part for name in names for part in _parse(name, written)]
    flags = written | flags
    merged: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for label, settings in parts:
        for flag, value in settings.items():
            if flag == "devices" and flag in merged and flag not in flags:
                value = _joined(merged[flag], value)
            elif flag in merged and merged[flag] != value and flag not in flags:
                raise ValueError(
                    f"profiles {origin[flag]!r} and {label!r} contradict each other in "
                    f"{flag}: {merged[flag]!r} and {value!r}; say which with "
                    f"{flag}=..."
                )
            merged[flag], origin[flag] = value, label
    for flag, value in flags.items():
        merged[flag] = _check_flag(flag, value)
    out = Profile(transferred=[], **merged)
    out = out._replace(name=_label([label for label, _ in parts], flags, out))
    _check_together(out)
    return out


def _label(parts: list[str], flags: Iterable[str], of: Profile) -> str:
    """Return a name for a profile made of others, from which it can be made again."""
    names: list[str] = []
    shown = set(flags)
    for part in parts:
        name, *written = part.split(",")
        names += name.split("+")
        shown |= {text.partition("=")[0] for text in written}
    if of.seed is not None:
        shown.add("seed")
    label = "+".join(dict.fromkeys(names)) or "strict"
    for flag in FLAGS:
        if flag in shown:
            label += f",{flag}={_text(getattr(of, flag))}"
    return label


def _joined(
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


def _parse(
    name: str | Profile, written: dict[str, Any]
) -> list[tuple[str, dict[str, Any]]]:
    """Return the names in a text, each with its flags.

    Flags in it go into `written`.
    """
    if isinstance(name, Profile):
        settings = {
            flag: getattr(name, flag)
            for flag in FLAGS
            if getattr(name, flag) != getattr(_profile.STRICT, flag)
        }
        return [(name.name, settings)]
    if not isinstance(name, str):
        raise TypeError(f"a profile is given by name, not as {type(name).__name__}")
    names, *given = [part.strip() for part in name.split(",")]
    for text in given:
        flag, separator, value = text.partition("=")
        if not separator:
            raise ValueError(f"in profile {name!r}, {text!r} is not flag=value")
        found = _value(flag, value)
        if written.setdefault(flag, found) != found:
            raise ValueError(f"{flag} is given as {written[flag]!r} and as {found!r}")
    parts = [part.strip() for part in names.split("+")]
    for part in parts:
        if part not in _SETS:
            known = ", ".join(NAMES)
            raise ValueError(f"no profile is named {part!r}; known profiles: {known}")
    return [(part, _SETS[part]()) for part in parts]


def _value(flag: str, text: str) -> Any:
    """Return the value of a flag that is given as text."""
    if text == "None" and flag in ("devices", "seed"):
        return None
    if flag == "devices":
        return tuple(place(name) for name in text.split("|"))
    if flag == "extensions":
        return frozenset(name for name in text.split("|") if name)
    if flag == "seed":
        return int(text) if text.isdigit() else text
    return {"True": True, "False": False}.get(text, text)


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return "|".join(place.name for place in value)
    return "|".join(sorted(value)) if isinstance(value, frozenset) else str(value)


def _check_flag(flag: str, value: Any) -> Any:
    if flag not in FLAGS:
        raise ValueError(f"no flag is named {flag!r}; known flags: {', '.join(FLAGS)}")
    allowed = FLAGS[flag][0]
    if allowed is not None:
        if value not in allowed or (type(value) is not type(allowed[0])):
            words = ", ".join(map(repr, allowed))
            raise ValueError(f"{flag} is one of {words}, not {value!r}")
        return value
    return _CHECKS[flag](value)


def _check_devices(value: Any) -> tuple[Place, ...] | None:
    if value is None:
        return None
    items = () if isinstance(value, str) else value  # "gpu" is not "g", "p", "u"
    places = tuple(place(item) if isinstance(item, str) else item for item in items)
    if not places or not all(isinstance(item, Place) for item in places):
        raise ValueError(
            "devices is a sequence of at least one place(name, dtypes, ...) or name, "
            f"not {value!r}"
        )
    names = [item.name for item in places]
    if len(set(names)) != len(names):
        raise ValueError(f"devices names one twice: {names}")
    return tuple(map(_there, places))


def _check_extensions(value: Any) -> frozenset[str]:
    out = frozenset(value)
    unknown = out - _profile.STRICT.extensions
    if unknown:
        raise ValueError(f"no extension is named {sorted(unknown)}; known: fft, linalg")
    return out


def _check_seed(value: Any) -> int | None:
    if value is None or (type(value) is int and 0 < value < 2**63):
        return value
    raise ValueError(f"seed is an integer from 1 up, or None, not {value!r}")


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "devices": _check_devices,
    "extensions": _check_extensions,
    "seed": _check_seed,
}


def _check_together(new: Profile) -> None:
    """Raise ValueError for flags that cannot be in force at one time."""
    if new.numpy_interop and new.values == "raise":
        raise ValueError(
            "numpy_interop=True contradicts values='raise': NumPy computes with values"
        )


# In force ----------------------------------------------------------------------------


def active() -> Profile:
    """Return the profile that is in force here."""
    return _profile.active()


@contextmanager
def use(*names: str | Profile, **flags: Any) -> Iterator[Profile]:
    """Put a profile in force for a `with` block, in this thread or task alone.

    Arguments as for `profile`, which is what the block is given. What
    `transfers="record"` writes down is in its list `transferred`.
    """
    new = profile(*names, **flags)
    entered = _profile.enter(new)
    try:
        yield new
    finally:
        _profile.leave(entered)


def set_default(*names: str | Profile, **flags: Any) -> Profile:
    """Put a profile in force in the whole process, where no `use` says otherwise.

    Threads that exist and threads to come included. Returns the default before.
    """
    return _profile.set_default(profile(*names, **flags))


def restart(label: str) -> None:
    """Let what `seed` decides begin again, in its own way for each label.

    Called with the name of a test before it runs, a test that fails among others fails
    alone as well.
    """
    if not isinstance(label, str):
        raise TypeError(f"a label is a string, not {type(label).__name__}")
    _profile.restart(label)


def use_environment() -> None:
    """Make the profile in REFARRAY_PROFILE the default of the process.

    Empty, it says nothing. ValueError for what is no profile.
    """
    text = os.environ["REFARRAY_PROFILE"]
    if text:
        try:
            set_default(text)
        except ValueError as error:
            raise ValueError(
                f"the environment has REFARRAY_PROFILE={text}, and {error}"
            ) from None
