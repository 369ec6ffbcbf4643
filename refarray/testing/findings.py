"""What a check says: rules, problems and findings, and helpers that all checks share.

A check is a plain function from an adapter to a list of problems; an empty list means
that the rule is kept. Its docstring is the text of the rule. Next: forge.py.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from refarray.testing.adapters import Adapter

Level = Literal["must", "should", "may"]
Verdict = Literal["pass", "fail", "skip", "crash"]

MUST: Level = "must"
SHOULD: Level = "should"
MAY: Level = "may"

API = "array API 2025.12"
HEADER = "DLPack 1.3 header"
SPEC = "DLPack Python specification"


class NotApplicable(Exception):
    """Raised by a check or an adapter for what a library cannot show; says why."""


class Problem(NamedTuple):
    """One way in which a rule is not kept."""

    seen: str
    reproduce: str
    level: Level | None = None  # None: that of the rule


@dataclass(frozen=True, slots=True)
class Finding:
    """The verdict on one rule: what was seen, and how to see it again."""

    rule: int
    level: Level
    verdict: Verdict
    seen: str
    reproduce: str

    def __str__(self) -> str:
        text = f"rule {self.rule} ({self.level}): {self.verdict}"
        return text + (f": {self.seen} [{self.reproduce}]" if self.seen else "")


@dataclass(frozen=True, slots=True)
class Rule:
    """A numbered rule of the protocol and the check for it.

    `risky` marks checks in which libraries are known to crash; they are run in a child
    process.
    """

    number: int
    level: Level
    source: str
    check: Callable[[Adapter], list[Problem]]
    risky: bool = False

    @property
    def text(self) -> str:
        """The rule in words."""
        return " ".join((inspect.getdoc(self.check) or "").split())

    @property
    def where(self) -> str:
        """Module and name of the check."""
        return f"{self.check.__module__}.{self.check.__name__}"


def judge(rule: Rule, adapter: Adapter) -> list[Finding]:
    """Run one check here: a finding for each problem, or one that says pass or skip."""
    try:
        problems = rule.check(adapter)
    except NotApplicable as reason:
        return [Finding(rule.number, rule.level, "skip", str(reason), "")]
    except Exception as error:
        problems = [Problem(f"the check was stopped: {error!r:.200}", rule.where)]
    if not problems:
        return [Finding(rule.number, rule.level, "pass", "", "")]
    return [
        Finding(rule.number, p.level or rule.level, "fail", _plain(p.seen), p.reproduce)
        for p in problems
    ]


def _plain(text: str) -> str:
    """Leave out the colours that some libraries put into their messages."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


class Outcome(NamedTuple):
    """What a call gave: a value or an exception."""

    value: Any
    error: Exception | None

    def __str__(self) -> str:
        if self.error is None:
            return f"returned {self.value!r:.80}"
        return f"raised {type(self.error).__name__}: {self.error!s:.120}"


def attempt(call: Callable[..., Any], *args: Any, **keywords: Any) -> Outcome:
    """Call, and hand back what came of it."""
    try:
        return Outcome(call(*args, **keywords), None)
    except NotApplicable:
        raise
    except Exception as error:
        # The traceback's frames would keep the call's objects alive.
        return Outcome(None, error.with_traceback(None))


def optional(call: Callable[..., Any], *args: Any) -> Any:
    """Ask an adapter for something it may not know; None if it does not."""
    try:
        return call(*args)
    except NotApplicable:
        return None


_listeners: list[Callable[[str], None]] = []


def note(case: str) -> None:
    """Say which case comes next, so that a crash can be laid at its door."""
    for listener in _listeners:
        listener(case)


def listen(listener: Callable[[str], None]) -> None:
    """Have each case of a check announced to `listener`."""
    _listeners.append(listener)
