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

What is behind it: `_base/profile.py`, and the two files that follow there.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from refarray._base import dtypes as _dtypes
from refarray._base import flags as _flags
from refarray._base import profile as _profile
from refarray._base.dtypes import DType
from refarray._base.flags import FLAGS, place
from refarray._base.profile import UnspecifiedError
from refarray._base.strict import STRICT as _STRICT
from refarray._base.strict import Place, Profile, Transfer

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

# The named profiles ------------------------------------------------------------------

_ALL = frozenset(_dtypes.STANDARD)
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
                _flags.there(one)
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
                value = _flags.joined(merged[flag], value)
            elif flag in merged and merged[flag] != value and flag not in flags:
                raise ValueError(
                    f"profiles {origin[flag]!r} and {label!r} contradict each other in "
                    f"{flag}: {merged[flag]!r} and {value!r}; say which with "
                    f"{flag}=..."
                )
            merged[flag], origin[flag] = value, label
    for flag, value in flags.items():
        merged[flag] = _flags.check(flag, value)
    out = Profile(transferred=[], **merged)
    out = out._replace(name=_label([label for label, _ in parts], flags, out))
    _flags.check_together(out)
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
            label += f",{flag}={_flags.to_text(getattr(of, flag))}"
    return label


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
            if getattr(name, flag) != getattr(_STRICT, flag)
        }
        return [(name.name, settings)]
    if not isinstance(name, str):
        raise TypeError(f"a profile is given by name, not as {type(name).__name__}")
    names, *given = [part.strip() for part in name.split(",")]
    for text in given:
        flag, separator, value = text.partition("=")
        if not separator:
            raise ValueError(f"in profile {name!r}, {text!r} is not flag=value")
        found = _flags.from_text(flag, value)
        if written.setdefault(flag, found) != found:
            raise ValueError(f"{flag} is given as {written[flag]!r} and as {found!r}")
    parts = [part.strip() for part in names.split("+")]
    for part in parts:
        if part not in _SETS:
            known = ", ".join(NAMES)
            raise ValueError(f"no profile is named {part!r}; known profiles: {known}")
    return [(part, _SETS[part]()) for part in parts]


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


def _use_environment() -> None:
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
