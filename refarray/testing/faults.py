"""What a double says of itself, and where in the user's code things happened.

Next: doubles_producer.py.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, NamedTuple

from refarray.testing.forge import CPU

#: What the other side does if it keeps the rules. "either" is where they leave a
#: choice, or where it depends on what else it can do.
Answer = Literal["accepts", "refuses", "either"]

HERE = str(Path(__file__).parent / "_")[:-1]  # with the separator


class Fault(NamedTuple):
    """The one thing that a double does wrong, or at least unusually.

    `rule` is the rule that it breaks or, if `is_wrong` is False, the rule by which the
    other side must cope.
    """

    name: str
    rule: int
    text: str
    answer: Answer = "accepts"
    is_wrong: bool = True
    device: tuple[int, int] = CPU

    def __str__(self) -> str:
        return self.name


def find(name: str, known: Iterable[str], kind: str) -> str:
    """Return the name; for an unknown one raise ValueError, which lists those near."""
    known = list(known)
    if name in known:
        return name
    near = difflib.get_close_matches(name, known, 3, 0.4)
    hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    raise ValueError(
        f"there is no {kind} named {name!r}; {hint}"
        f"refarray.testing.doubles.{kind}s() lists all {len(known)}"
    )


def place() -> str:
    """Return file and line of the code that called into refarray.testing."""
    frame = sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename.startswith(HERE):
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


def fail(headline: str, problems: list[str]) -> None:
    """Raise AssertionError if there are problems."""
    __tracebackhide__ = True
    if problems:
        raise AssertionError("\n  ".join([headline, *problems]))
