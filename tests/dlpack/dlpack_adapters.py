"""The libraries that the rules are tested on: NumPy and refarray."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import refarray
from refarray.testing.adapters import Adapter


class NumPy(Adapter):
    name = "numpy"
    cpu = "cpu"
    from_dlpack = staticmethod(np.from_dlpack)

    def make(self, values: Sequence[Any], shape: tuple[int, ...], dtype: str) -> Any:
        return np.asarray(values, dtype=dtype).reshape(shape)

    def read(self, array: Any) -> list[Any]:
        return array.ravel().tolist()

    def read_only(self, array: Any) -> Any:
        view = array.view()
        view.flags.writeable = False
        return view

    def is_read_only(self, array: Any) -> bool:
        return not array.flags.writeable

    def unexportable(self) -> Any:
        return np.asarray(["2026"], dtype="datetime64[Y]")


class Refarray(Adapter):
    """Values come from NumPy, copied; they are read through the buffer protocol."""

    name = "refarray"
    cpu = refarray.Device("cpu")
    from_dlpack = staticmethod(refarray.from_dlpack)

    def make(self, values: Sequence[Any], shape: tuple[int, ...], dtype: str) -> Any:
        return refarray.from_dlpack(NumPy().make(values, shape, dtype), copy=True)

    def read(self, array: Any) -> list[Any]:
        return np.asarray(memoryview(array)).ravel().tolist()

    def read_only(self, array: Any) -> Any:
        view = np.from_dlpack(array)
        view.flags.writeable = False
        return refarray.from_dlpack(view)

    def is_read_only(self, array: Any) -> bool:
        return memoryview(array).readonly
