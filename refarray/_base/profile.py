"""Profiles: what is there of what the standard leaves optional, and how strict it is.

A profile is a set of flags, and `strict`, the default, is refarray as documented. The
others make it behave like another library, so that code which relies on more than the
standard promises is found: `refarray/profiles.py` has the named ones.

A profile is in force for one context (a `with` block, and what it calls); elsewhere, in
new threads for example, the default of the process is. Few places ask for it, each of
them one that a whole kind of behaviour passes through, and none before a profile other
than `strict` has been used: `guarded` says so.

Next: `strict.py`, what a profile consists of.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING

from refarray._base import dtypes
from refarray._base.dtypes import DType
from refarray._base.layout import Unknown

if TYPE_CHECKING:
    from numpy.random import Generator

    from refarray._base.devices import Device
    from refarray._base.strict import Defaults, Profile


class StandardDefaults:
    """The dtypes of new arrays, and of indices and counts: `strict.Defaults`."""

    real = dtypes.DEFAULT_REAL
    complex = dtypes.DEFAULT_COMPLEX
    integral = dtypes.DEFAULT_INT
    indexing = dtypes.DEFAULT_INDEX


class _Use:
    """A profile in force: in a context, or as the default of the process.

    With a seed there are random numbers, from their beginning for each use.
    """

    __slots__ = ("chance", "profile")

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.chance: Generator | None = None
        self.restart(b"")

    def restart(self, label: bytes) -> None:
        """Let the random numbers begin again, others for each label."""
        if self.profile.seed is not None:
            # Not before: most programs have no use for it.
            from numpy.random import default_rng

            self.chance = default_rng([self.profile.seed, *label])


# Whether anything but `strict` has been in force in this process. Never unset: what
# was started inside a `with` block, a task of asyncio say, may go on after it.
guarded = False

# In force where nothing was entered; None for `strict`.
_default: _Use | None = None
# What this context has entered and not left. A tuple, which contexts cannot share.
_entered: ContextVar[tuple[_Use, ...]] = ContextVar("refarray profiles", default=())


@cache
def _strict() -> _Use:
    from refarray._base.strict import STRICT  # when somebody asks: few programs do

    return _Use(STRICT)


def _in_force() -> _Use:
    entered = _entered.get()
    return entered[-1] if entered else _default or _strict()


def active() -> Profile:
    """Return the profile in force here."""
    return _in_force().profile


def mixes_with_numpy() -> bool:
    """Tell whether dtypes and arrays mix with NumPy's here."""
    return guarded and active().numpy_interop


dtypes.mixes_with_numpy = mixes_with_numpy


def enter(profile: Profile) -> _Use:
    """Put a profile in force in this context, until `leave` is given the result."""
    _guard(profile)
    use = _Use(profile)
    _entered.set((*_entered.get(), use))
    return use


def leave(use: _Use) -> None:
    """Put the profile back in force that was before.

    Profiles may be left in any order, as generators are closed in any. RuntimeError in
    another context, where it cannot be left: a generator that another thread closes.
    """
    entered = _entered.get()
    if use not in entered:
        raise RuntimeError(
            f"profile {use.profile.name!r} was put in force by another thread or task, "
            "and only there can it be left"
        )
    _entered.set(tuple(other for other in entered if other is not use))


def set_default(profile: Profile) -> Profile:
    """Put a profile in force wherever none was entered; return the one before."""
    global _default
    _guard(profile)
    before, _default = _default or _strict(), _Use(profile)
    return before.profile


def _guard(profile: Profile) -> None:
    global guarded
    if not guarded and profile != _strict().profile:
        for hook in on_guard:
            hook()
        # Last: another thread that finds it set relies on the hooks.
        guarded = True


# Called once, before the first profile other than `strict` is in force: the native
# module asks nobody until then.
on_guard: list[Callable[[], None]] = []


# What the choke points ask -----------------------------------------------------------

# The version of the standard that complex numbers came with.
_COMPLEX = dtypes.KINDS["complex floating"]
_COMPLEX_SINCE = "2022.12"


class UnspecifiedError(ValueError):
    """What was asked for is left open by the standard: see the flag `unspecified`.

    One type for all such cases, so that tests can tell them from errors that are
    specified. A ValueError: programs that provide for one provide for this one.
    """


def unspecified(given: str, clause: str, instead: str) -> None:
    """Raise UnspecifiedError if what the standard leaves open is to be an error.

    `given` says what it was, `clause` where the standard speaks of it, and `instead`
    what a portable program does.
    """
    if guarded and active().unspecified == "raise":
        raise UnspecifiedError(
            f"{given}: the array API standard leaves open what happens (2025.12, "
            f"{clause}); {instead}"
        )


def defaults(device: Device) -> Defaults | type[StandardDefaults]:
    """Return the default dtypes on a device."""
    if guarded:
        place = active().place(device.name)
        if place is not None:
            return place.defaults
    return StandardDefaults


def holds(device: Device, dtype: DType) -> bool:
    """Tell whether a device has arrays of a dtype."""
    if guarded:
        now = active()
        if dtype in _COMPLEX and now.api_version < _COMPLEX_SINCE:
            return False
        place = now.place(device.name)
        if place is not None:
            return dtype in place.dtypes or dtype in dtypes.HELD
    return True


def check_mutable() -> None:
    """Raise TypeError where arrays cannot be written to."""
    profile = active()
    if not profile.mutable:
        raise TypeError(
            f"arrays are immutable under profile {profile.name!r}, as those of JAX "
            "are: make a new one, with where for example (array API 2025.12, copy-view "
            "behavior and mutability)"
        )


def check_values(what: str) -> None:
    """Raise TypeError where the values of arrays are out of reach."""
    profile = active()
    if profile.values == "raise":
        raise TypeError(
            f"{what} needs the values of an array, and under profile {profile.name!r} "
            "they are not known while the program runs (array API 2025.12, "
            "data-dependent output shapes; lazy implementations)"
        )


def check_data_dependent(what: str) -> None:
    """Raise RuntimeError where no shape may depend on values."""
    profile = active()
    if profile.data_dependent_shapes == "raise":
        raise RuntimeError(
            f"profile {profile.name!r} has no data-dependent shapes, and that of what "
            f"{what} returns depends on values (array API 2025.12, data-dependent "
            "output shapes)"
        )


def size_from_values(n: int) -> int:
    """Return a size that depends on values: as it is, or unknown."""
    if guarded and active().data_dependent_shapes == "unknown":
        return Unknown(n)
    return n


def unknown_size(what: str) -> ValueError:
    """Return the error for a function that needs a size which is not known."""
    now = active()
    name = now.name if now.data_dependent_shapes == "unknown" else "dask"
    return ValueError(
        f"{what} needs a size that depends on values (None in the shape), and under "
        f"profile {name!r} such sizes are not known (array API 2025.12, array.shape)"
    )


def check_transfer(function: str, source: Device, target: Device, nbytes: int) -> None:
    """Take note of a copy between devices, or refuse it with RuntimeError."""
    profile = active()
    if profile.transfers == "raise":
        raise RuntimeError(
            f"{function} copies {nbytes} bytes from {source!r} to {target!r}, and "
            f"profile {profile.name!r} forbids transfers between devices"
        )
    if profile.transfers == "record":
        from refarray._base.strict import Transfer

        profile.transferred.append(Transfer(function, source.name, target.name, nbytes))


def chance() -> Generator | None:
    """Return the random numbers that the seed in force started; None without one.

    The same numbers in the same order, so a program that does the same in one thread
    is given the same again.
    """
    return _in_force().chance


# What takes more memory is not copied, filled or shuffled only to surprise.
SURPRISE = 1 << 24  # bytes


def restart(label: str) -> None:
    """Let the random numbers of the seed in force begin again, for what has a name."""
    _in_force().restart(label.encode())


def coin(nbytes: int = 0) -> bool:
    """Tell whether to use a freedom of the standard; never, unless a seed is set.

    Nor for more bytes of memory than `SURPRISE`.
    """
    numbers = chance()
    return numbers is not None and nbytes <= SURPRISE and numbers.random() < 0.5
