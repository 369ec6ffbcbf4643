"""From the words of a command line to an object: `numpy:arange(6.0).reshape(2, 3)`.

Before the colon stands a module, behind it any Python expression of the names in that
module. Every way in which this can fail is one line. Next: demo.py.
"""

from __future__ import annotations

import builtins
import difflib
import importlib
import pkgutil
import sys
import sysconfig
import textwrap
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from refarray.commands.terminal import Mistake

SOURCE = "<expression>"
PACKAGE = Path(__file__).parents[1]


class _Names(dict[str, Any]):
    """The names of a module, those included that it makes on request."""

    def __init__(self, module: ModuleType) -> None:
        super().__init__(vars(module))
        self.module = module

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name) or not hasattr(self.module, name):
            raise KeyError(name)
        return getattr(self.module, name)


def evaluate(text: str) -> Any:
    """Return the value of `module:expression`; Mistake if there is none."""
    name, _, expression = text.partition(":")
    if not name or not expression.strip():
        raise Mistake(f"{text!r} is not module:expression, such as numpy:arange(3.0)")
    module = import_named(name)
    try:
        code = compile(expression.strip(), SOURCE, "eval")
    except SyntaxError as error:
        raise Mistake(f"{expression!r} is no expression: {error.msg}") from error
    try:
        return eval(code, _Names(module))
    except Exception as error:
        raise Mistake(f"{text} raises {in_a_line(error)}") from error


def consumer(text: str) -> Callable[[Any], Any]:
    """Return the `from_dlpack` of a module, or the function `module:expression`."""
    found = evaluate(text) if ":" in text else import_named(text)
    if isinstance(found, ModuleType):
        if not hasattr(found, "from_dlpack"):
            raise Mistake(f"{text} has no from_dlpack; name one: module:function")
        found = found.from_dlpack
    if not callable(found):
        raise Mistake(f"{text} is no function: it is of type {type(found).__name__}")
    taker: Callable[[Any], Any] = found
    return taker


def import_named(name: str) -> ModuleType:
    """Import a module; Mistake if there is none of this name, or if it fails."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise Mistake(f"{name} cannot be imported: {in_a_line(error)}") from error
        raise Mistake(f"there is no module {error.name}{_near(error.name)}") from error
    except Exception as error:
        raise Mistake(f"{name} cannot be imported: {in_a_line(error)}") from error


def _near(name: str) -> str:
    """Return the question whether another module is meant, Python's own ones last."""
    known = {module.name for module in pkgutil.iter_modules()}
    for names in (known - sys.stdlib_module_names, known):
        near = difflib.get_close_matches(name, names, 1, cutoff=0.75)
        if near:
            return f"; did you mean {near[0]}?"
    return ""


def in_a_line(error: BaseException) -> str:
    """Return an exception as one line, with the place in the user's own code."""
    message = textwrap.shorten(str(error), 300, placeholder=" ...")
    line = f"{type(error).__name__}: {message}".removesuffix(": ")
    places = [
        f"{Path(frame.filename).name}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if _is_own(Path(frame.filename))
    ]
    return f"{line} ({places[-1]})" if places else line


def _is_own(file: Path) -> bool:
    """Tell whether a file is the user's: no library, and nothing of refarray."""
    kinds = ("stdlib", "platstdlib", "purelib", "platlib")
    folders = {Path(sysconfig.get_path(kind)) for kind in kinds}
    return file.is_file() and not {PACKAGE, *folders} & set(file.parents)
