"""What the two halves of the battery share: how to get at a library and its arrays.

Next: takes.py.
"""

from __future__ import annotations

import gc
from pathlib import Path
from types import ModuleType
from typing import Any

import arrays
import pytest
from arrays import LAYOUTS, numbers

import refarray as xp
from refarray.testing.adapters import Adapter
from refarray.testing.findings import NotApplicable
from refarray.testing.forge import NAMES, Raw
from refarray.testing.loading import LoadingError
from refarray.testing.loading import load as load_adapter

ADAPTERS = Path(__file__).resolve().parents[2] / "adapters"

Errors = type[BaseException] | tuple[type[BaseException], ...]


def load(name: str) -> Adapter:
    """Return the adapter of adapters/NAME.py; skip the file without its library."""
    try:
        return load_adapter(str(ADAPTERS / f"{name}.py"))
    except LoadingError as error:
        if isinstance(error.__cause__, ImportError):
            pytest.skip(_not_installed(name), allow_module_level=True)
        raise


def library(module: str, name: str | None = None) -> ModuleType:
    """Return the library's module; skip the file without it."""
    reason = _not_installed(name or module)
    imported: ModuleType = pytest.importorskip(
        module, reason=reason, exc_type=ImportError
    )
    if getattr(imported, "__file__", None) is None:
        # A mere folder of that name: tests/dlpack is no pydlpack.
        pytest.skip(reason, allow_module_level=True)
    return imported


def _not_installed(name: str) -> str:
    return f"{name} is not installed; `make field LIBRARIES={name}` installs it"


def settle() -> None:
    """Let go of what waits for the garbage collector, chains of it too."""
    for _ in range(5):
        gc.collect()


class Side:
    """What both directions need to know of a library."""

    #: From `load`: makes, reads and writes its arrays.
    adapter: Adapter
    #: The data type for all tests that are not about data types.
    base = "float64"
    #: Its arrays can be written in place, through the adapter.
    writes = True

    def take(self, x: Any, **keywords: Any) -> Any:
        """Return the library's array over the memory of `x`."""
        return self.adapter.from_dlpack(x, **keywords)

    def give(self, array: Any, **keywords: Any) -> Any:
        """Return refarray's array over the memory of the library's."""
        return xp.from_dlpack(array, **keywords)

    def export(self, array: Any) -> object:
        """Return a capsule of the library's array."""
        return arrays.export(array)

    def pointer(self, array: Any) -> int:
        """Return where the first element of the library's array lies."""
        return Raw(self.export(array)).first

    def type_of(self, array: Any) -> str:
        """Return the name of the data type of the library's array."""
        triple = Raw(self.export(array)).dtype
        return {**NAMES, (2, 16, 1): "float16"}[triple]

    def theirs(self, name: str) -> Any:
        """Return `numbers(name)` in memory of the library."""
        return self.adapter.make(numbers(name).ravel().tolist(), (4, 12), name)

    def layout(self, array: Any, name: str) -> Any:
        """Return a view of the library's array."""
        return LAYOUTS[name](array)

    def write(self, array: Any, value: float) -> bool:
        """Set all elements of the library's array; tell whether it can be done."""
        try:
            self.adapter.write(array, value)
        except NotApplicable:
            return False
        return True
