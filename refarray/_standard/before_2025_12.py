"""Functions as they were before version 2025.12, which returns tuples for lists.

Source: array API 2024.12, the functions of these names.

Next: `before_2023_12.py`.
"""

from __future__ import annotations

from typing import Literal

from refarray._base.devices import Device
from refarray._compute.array import Array
from refarray._standard import creation_functions, info, manipulation_functions

__all__ = ["__array_namespace_info__", "broadcast_arrays", "meshgrid"]


def broadcast_arrays(*arrays: Array) -> list[Array]:
    """The arrays broadcast against one another, in a list."""
    return list(manipulation_functions.broadcast_arrays(*arrays))


def meshgrid(*arrays: Array, indexing: Literal["xy", "ij"] = "xy") -> list[Array]:
    """Coordinates of the points of a grid, in a list."""
    return list(creation_functions.meshgrid(*arrays, indexing=indexing))


class Info(info.Info):
    """What `__array_namespace_info__` returns."""

    __slots__ = ()

    def devices(self) -> list[Device]:  # type: ignore[override]
        """Return the devices that arrays can be on, in a list."""
        return list(super().devices())


def __array_namespace_info__() -> Info:
    """Return the functions that tell about the namespace."""
    return Info()
