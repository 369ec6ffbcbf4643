"""The faults of faults.h, from Python; in the process that has the build with them.

Next: scenarios.py.
"""

from __future__ import annotations

import ctypes
import re
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
C_CODE = HERE.parents[1] / "_cffi_build"

#: What happens at the place where an allocation shall fail.
FAIL, EXIT, FORK, CALL = range(4)
#: What can be planted.
PLANTED = {"leak": 1, "short block": 2, "overflow": 3}


class Place(NamedTuple):
    """A place that allocates: file, function, first and last line of the call."""

    file: str
    name: str
    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.file}:{self.first} {self.name}"


def allocators() -> list[str]:
    """Return the names of the functions that faults.h replaces."""
    text = (HERE / "faults.h").read_text().replace("\\\n", " ")
    defined = r"^#define (?!RA_)(\w+)\([^)]*\) +(?:RA_(?:C|PY|SIZED)\(|\(ra_fault)"
    return re.findall(defined, text, re.M)


def places() -> list[Place]:
    """Return all places that allocate, as they stand in the C code."""
    call = re.compile(rf"(?<!\w)({'|'.join(allocators())})\(")
    found = []
    for path in sorted(C_CODE.glob("*.c")):
        if path.name.startswith("forge"):
            continue
        text = re.sub(r"/\*.*?\*/", _blank, path.read_text(), flags=re.S)
        for match in call.finditer(text):
            first = text.count("\n", 0, match.start()) + 1
            last = first + text.count("\n", match.start(), _close(text, match.end()))
            found.append(Place(path.name, match[1], first, last))
    return found


def _blank(comment: re.Match[str]) -> str:
    return "\n" * comment[0].count("\n")


def _close(text: str, start: int) -> int:
    """Return where the parenthesis that was opened before `start` is closed."""
    depth, i = 1, start
    while depth:
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        i += 1
    return i


class Faults:
    """The switches of faults.h in the native module."""

    def __init__(self) -> None:
        # Without importing it: the import is to be tested too.
        package = find_spec("refarray")
        assert package is not None and package.origin is not None
        (module,) = Path(package.origin).parent.glob("_native.*.so")
        self.library = ctypes.CDLL(str(module))

    def _read(self, kind: type, name: str) -> object:
        return kind.in_dll(self.library, name).value  # type: ignore[attr-defined]

    def _write(self, kind: type, name: str, value: int) -> None:
        kind.in_dll(self.library, name).value = value  # type: ignore[attr-defined]

    def arm(self, n: int, action: int = FAIL) -> None:
        """Let the n-th place from here fail."""
        self._write(ctypes.c_int, "ra_fault_action", action)
        self._write(ctypes.c_long, "ra_fault_passed", 0)
        self._write(ctypes.c_long, "ra_fault_at", n)

    def call(self, address: int) -> None:
        """Let CALL call the C function at this address."""
        self._write(ctypes.c_void_p, "ra_fault_call", address)

    def disarm(self) -> bool:
        """Let nothing fail any more; return whether something did."""
        passed = self._read(ctypes.c_long, "ra_fault_passed")
        reached: bool = passed >= self._read(ctypes.c_long, "ra_fault_at")  # type: ignore
        self._write(ctypes.c_long, "ra_fault_at", 0)
        return reached

    def place(self) -> tuple[str, str, int]:
        """Return where it failed the last time: file, function and line."""
        file = self._read(ctypes.c_char_p, "ra_fault_file")
        name = self._read(ctypes.c_char_p, "ra_fault_name")
        line = self._read(ctypes.c_int, "ra_fault_line")
        return file.decode(), name.decode(), line  # type: ignore

    def child(self) -> int:
        """Return the number of the process that FORK made; 0 in that process."""
        return self._read(ctypes.c_int, "ra_fault_child")  # type: ignore[return-value]

    def plant(self, name: str) -> None:
        """From now on the module has this fault."""
        self._write(ctypes.c_int, "ra_planted", PLANTED[name])
