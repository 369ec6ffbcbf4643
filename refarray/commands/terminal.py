"""What only people see, on a terminal: colour and a progress bar; and their mistakes.

Where output goes to a file or a pipe, none of it appears; the variable NO_COLOR takes
the colour away everywhere. Next: expressions.py.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any, Literal, TextIO

Style = Literal["bold", "dim", "red", "green", "yellow", "producer", "consumer"]

#: The codes of ANSI terminals. Producer and consumer have the two colours that they
#: have in pictures, as near as the palette of 256 has them.
CODES: dict[Style, str] = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "producer": "38;5;166",
    "consumer": "38;5;32",
}


class Mistake(Exception):
    """What the user can put right: told in one line, with exit status 2."""


def has_colour(stream: TextIO | None = None) -> bool:
    """Tell whether colour is welcome on a stream, standard output if none is given."""
    stream = stream or sys.stdout
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream is not None and stream.isatty()  # pythonw has none


def paint(text: str, style: Style, stream: TextIO | None = None) -> str:
    """Return the text in a style, or as it is where there is no colour."""
    return f"\033[{CODES[style]}m{text}\033[0m" if has_colour(stream) else text


def print_json(content: Any) -> None:
    """Print what a command found, for programs."""
    print(json.dumps(content, indent=2))


def write(path: Path, text: str) -> None:
    """Write a file that the user asked for; Mistake if that is not possible."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Mistake(f"{path} cannot be written: {error.strerror}") from error


class Bar:
    """A progress bar on a terminal, on standard error; elsewhere, nothing."""

    def __init__(self, total: int) -> None:
        self.total, self.is_shown = total, sys.stderr.isatty()

    def show(self, done: int, label: str) -> None:
        """Draw the bar over the last one."""
        if self.is_shown:
            columns = shutil.get_terminal_size().columns
            width = max(10, min(40, columns - 30))
            filled = width * done // self.total
            line = f"[{'#' * filled}{'.' * (width - filled)}] {done}/{self.total} "
            line = f"{line}{label}"[: columns - 1]
            print(f"\r{line}\033[K", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Take the bar away."""
        if self.is_shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
