"""From the name of an adapter to the adapter. Next: isolation.py.

A name is `module:Class`, `folder/file.py:Class`, or either without the class if there
is only one. Nothing else is imported by it, so a child process can do the same.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from pathlib import Path
from types import ModuleType

from refarray.testing.adapters import Adapter
from refarray.testing.findings import NotApplicable


class LoadingError(Exception):
    """There is no adapter under this name; says why, in words for the user."""


def load(name: str) -> Adapter:
    """Import the adapter class of this name and make one.

    Raises LoadingError if that is not possible.
    """
    where, attribute = (name, "") if name.endswith(".py") else _parts(name)
    try:
        if where.endswith(".py"):
            module = _from_file(Path(where))
        else:
            module = importlib.import_module(where)
        kind = _choose(module, where, attribute)
        if inspect.isclass(kind) and issubclass(kind, Adapter):
            return kind()
    except LoadingError:
        raise
    except ImportError as error:
        raise LoadingError(f"{where} cannot be imported: {error}") from error
    except Exception as error:
        kind = type(error).__name__
        raise LoadingError(f"{where} fails with {kind}: {error}") from error
    raise LoadingError(f"{name} is no subclass of refarray.testing.adapters.Adapter")


def name_of(adapter: Adapter) -> str:
    """Return the name by which a child process finds the adapter.

    Raises NotApplicable for a class inside a function, which nobody else can reach.
    """
    kind = type(adapter)
    if "<locals>" in kind.__qualname__:
        raise NotApplicable(
            f"{kind.__qualname__} must stand at the top of a module: "
            "this check imports it again in a child process"
        )
    if kind.__module__ == "__main__":
        return f"{inspect.getfile(kind)}:{kind.__qualname__}"
    return f"{kind.__module__}:{kind.__qualname__}"


def _parts(name: str) -> tuple[str, str]:
    where, colon, attribute = name.rpartition(":")
    return (where, attribute) if colon else (attribute, "")


def _from_file(path: Path) -> ModuleType:
    """Import a file under its own path as the name, which no other module has."""
    path = path.resolve()
    name = str(path)
    if name in sys.modules:
        return sys.modules[name]
    if not path.is_file():
        raise LoadingError(f"there is no file {path}")
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise LoadingError(f"{path} is not a Python file")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _choose(module: ModuleType, where: str, attribute: str) -> object:
    found = {
        name: thing
        for name, thing in vars(module).items()
        if inspect.isclass(thing)
        and issubclass(thing, Adapter)
        and thing.__module__ == module.__name__
    }
    listed = ", ".join(found) or "none"
    if attribute:
        if not hasattr(module, attribute):
            raise LoadingError(f"{where} has no {attribute}; adapters in it: {listed}")
        return getattr(module, attribute)
    if len(found) == 1:
        return next(iter(found.values()))
    if not found:
        raise LoadingError(
            f"{where} has no adapter: no class in it is a "
            "refarray.testing.adapters.Adapter"
        )
    raise LoadingError(
        f"{where} has {len(found)} adapters: {listed}. Name one: {where}:Class"
    )
