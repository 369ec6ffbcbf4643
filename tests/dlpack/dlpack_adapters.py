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
    name = "refarray"
    cpu = refarray.Device("cpu")
    from_dlpack = staticmethod(refarray.from_dlpack)

    def make(self, values: Sequence[Any], shape: tuple[int, ...], dtype: str) -> Any:
        flat = refarray.asarray(list(values), dtype=getattr(refarray, dtype))
        return refarray.reshape(flat, shape)

    def read(self, array: Any) -> list[Any]:
        flat = refarray.reshape(array, (-1,))
        kind = {"b": bool, "i": int, "u": int, "f": float, "c": complex}
        convert = kind[str(array.dtype)[0]]
        return [convert(flat[i]) for i in range(flat.shape[0])]
