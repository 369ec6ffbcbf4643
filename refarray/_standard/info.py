"""Inspection: what the namespace can do, and its devices and dtypes.

Source: array API 2025.12, inspection.

Next: `linear_algebra_functions.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from refarray._base import devices as _devices
from refarray._base import profile
from refarray._base.devices import Device, as_device
from refarray._base.dtypes import STANDARD, DType
from refarray._base.layout import MAX_NDIM
from refarray._standard.data_type_functions import isdtype

if TYPE_CHECKING:
    from typing import TypedDict

    Capabilities = TypedDict(
        "Capabilities",
        {
            "boolean indexing": bool,
            "data-dependent shapes": bool,
            "max dimensions": int | None,
        },
    )
    DefaultDataTypes = TypedDict(
        "DefaultDataTypes",
        {
            "real floating": DType,
            "complex floating": DType,
            "integral": DType,
            "indexing": DType,
        },
    )


class Info:
    """What `__array_namespace_info__` returns."""

    __slots__ = ()

    def capabilities(self) -> Capabilities:
        """Return what the standard leaves optional, and the greatest number of axes."""
        now = profile.active()
        return {
            "boolean indexing": now.boolean_indexing,
            "data-dependent shapes": now.data_dependent_shapes != "raise",
            "max dimensions": MAX_NDIM,
        }

    def default_device(self) -> Device:
        """Return the device of new arrays."""
        return _devices.default_device()

    def default_dtypes(self, *, device: Device | None = None) -> DefaultDataTypes:
        """Return the dtypes of new arrays on a device, the default one if None."""
        default = profile.defaults(as_device(device))
        return {
            "real floating": default.real,
            "complex floating": default.complex,
            "integral": default.integral,
            "indexing": default.indexing,
        }

    def devices(self) -> tuple[Device, ...]:
        """Return the devices that arrays can be on, the default one first."""
        return _devices.devices()

    def dtypes(
        self,
        *,
        device: Device | None = None,
        kind: str | tuple[str, ...] | None = None,
    ) -> dict[str, DType]:
        """Return the dtypes of one kind, or several, that a device holds, by name.

        ValueError for a kind that the standard does not name.
        """
        place = as_device(device)
        return {
            str(d): d
            for d in STANDARD
            if profile.holds(place, d) and (kind is None or isdtype(d, kind))
        }


def __array_namespace_info__() -> Info:
    """Return the functions that tell about the namespace."""
    return Info()
