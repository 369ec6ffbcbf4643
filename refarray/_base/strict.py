"""What a profile consists of, and `strict`, the one in force where no other is.

Loaded when a profile is first asked for. Next: `flags.py`.
"""

from __future__ import annotations

from typing import NamedTuple

from refarray._base import dtypes
from refarray._base.dtypes import DType
from refarray._base.profile import StandardDefaults


class Defaults(NamedTuple):
    """The dtypes of new arrays, and of indices and counts, on one device."""

    real: DType = StandardDefaults.real
    complex: DType = StandardDefaults.complex
    integral: DType = StandardDefaults.integral
    indexing: DType = StandardDefaults.indexing


class Place(NamedTuple):
    """A device as a profile has it: its name, the dtypes it holds, its defaults."""

    name: str
    dtypes: frozenset[DType] = frozenset(dtypes.STANDARD)
    defaults: Defaults = Defaults()


class Transfer(NamedTuple):
    """One copy of array data between devices."""

    function: str
    source: str
    target: str
    nbytes: int


class Profile(NamedTuple):
    """The flags. Those of `strict` stand here; `refarray/profiles.py` explains each."""

    name: str = "strict"
    # None: the devices that this machine has. The first of the others is the default.
    devices: tuple[Place, ...] | None = None
    api_version: str = "2025.12"
    extensions: frozenset[str] = frozenset({"fft", "linalg"})
    boolean_indexing: bool = True
    data_dependent_shapes: str = "allow"
    values: str = "allow"
    mutable: bool = True
    transfers: str = "allow"
    unspecified: str = "decide"
    seed: int | None = None
    numpy_interop: bool = False
    # Not a flag: what `transfers="record"` has written down.
    transferred: list[Transfer] = []  # noqa: RUF012  (each profile made has its own)

    def place(self, name: str) -> Place | None:
        """Return the device of that name; None if the profile does not have it."""
        for place in self.devices or ():
            if place.name == name:
                return place
        return None


STRICT = Profile()
