"""Examples 04 and 05 as adapters, so that the rules of DLPack can be checked."""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from refarray.testing.adapters import Adapter

EXAMPLES = Path(__file__).parents[1] / "examples"


@functools.cache
def load(name: str) -> ModuleType:
    """Import an example, whose name is no name of a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Producer(Adapter):
    name = "example 04"
    dtypes = ("float64",)

    def make(self, values: Any, shape: tuple[int, ...], dtype: str) -> Any:
        return load("04_producer").Numbers(values, shape)  # compiles its C code

    def read(self, array: Any) -> list[Any]:
        return list(array.memory)

    def write(self, array: Any, value: Any) -> None:
        for i in range(len(array.memory)):
            array.memory[i] = value


class Consumer(Adapter):
    name = "example 05"
    dtypes = ("float64", "float32", "int64")
    cpu = (1, 0)
    from_dlpack = staticmethod(load("05_consumer").from_dlpack)

    def read(self, array: Any) -> list[Any]:
        return array.ravel().tolist()

    def is_read_only(self, array: Any) -> bool:
        return not array.flags.writeable
