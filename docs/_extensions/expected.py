"""Whether a page says what is printed: `...` stands for anything within a line.

On a line of its own it stands for any lines, or none.
"""

from __future__ import annotations

import re

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def agrees(said: str, printed: str) -> bool:
    """Tell whether this is what the page promised."""
    return pattern(said).fullmatch(tidy(printed) + "\n") is not None


def pattern(said: str) -> re.Pattern[str]:
    """Return what matches the output that a page promises, line by line."""
    lines = []
    for line in tidy(said).split("\n"):
        if line.strip() == "...":
            lines.append("(?:.*\n)*?")
        else:
            parts = (re.escape(part) for part in line.split("..."))
            lines.append(".*?".join(parts) + "\n")
    return re.compile("".join(lines))


def tidy(text: str) -> str:
    """Return it without colours, and without blanks at the end of lines."""
    lines = COLOUR.sub("", text).strip("\n").split("\n")
    return "\n".join(line.rstrip() for line in lines).rstrip()


def has_printed(output: str, text: str) -> bool:
    """Tell whether `text` is in the output, and no part of a longer word or number."""
    return re.search(rf"(?<![\w.]){re.escape(text)}(?!\w)", output) is not None
