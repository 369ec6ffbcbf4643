"""The result of a check: as a table for a terminal, as JSON, as one HTML page.

Next: check.py, the command that writes them.
"""

from __future__ import annotations

import html
import json
import shutil
import textwrap
from dataclasses import asdict, dataclass, field, fields

from refarray.testing.findings import MUST, SHOULD, Finding, Level, Rule, Verdict

#: From the worst to the best.
ORDER: tuple[Verdict, ...] = ("crash", "fail", "skip", "pass")
COLOURS = {"crash": "1;31", "fail": "31", "weak": "33", "skip": "2", "pass": "32"}


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was found about one rule."""

    rule: Rule
    findings: list[Finding]

    @property
    def verdict(self) -> Verdict:
        """The worst verdict among the findings."""
        return min((f.verdict for f in self.findings), key=lambda v: ORDER.index(v))

    @property
    def level(self) -> Level:
        """The level of what is not kept, or else that of the rule."""
        levels = {f.level for f in self.findings if f.verdict in ("fail", "crash")}
        for level in (MUST, SHOULD):
            if level in levels:
                return level
        return self.rule.level

    @property
    def is_broken(self) -> bool:
        """Whether something is not kept that must be."""
        crashed = self.verdict == "crash"
        return crashed or (self.verdict == "fail" and self.level == MUST)

    @property
    def colour(self) -> str:
        """A key of COLOURS; weak is what should be, but is not."""
        weak = self.verdict == "fail" and not self.is_broken
        return "weak" if weak else self.verdict


@dataclass(slots=True)
class Result:
    """What was found about one library."""

    library: str
    version: str
    python: str
    platform: str
    date: str
    judgements: list[Judgement] = field(default_factory=list)

    def count(self, colour: str) -> int:
        """How many rules were judged so."""
        return sum(judgement.colour == colour for judgement in self.judgements)

    @property
    def title(self) -> str:
        """The library, and what it ran on."""
        library = f"{self.library} {self.version}".strip()
        return f"{library}, Python {self.python}, {self.platform}, {self.date}"

    @property
    def summary(self) -> str:
        """The counts in words."""
        words = {
            "pass": "kept",
            "fail": "broken",
            "crash": "crashed",
            "weak": "not kept, but only recommended",
            "skip": "not applicable",
        }
        counts = {key: self.count(key) for key in words}
        return ", ".join(f"{n} {words[key]}" for key, n in counts.items() if n)


def as_json(result: Result) -> str:
    """Return the result as JSON: an object with a list of rules."""
    names = [f.name for f in fields(result) if f.name != "judgements"]
    about = {name: getattr(result, name) for name in names}
    rules = [
        {
            "rule": judgement.rule.number,
            "level": judgement.level,
            "verdict": judgement.verdict,
            "text": judgement.rule.text,
            "source": judgement.rule.source,
            "findings": [asdict(finding) for finding in judgement.findings],
        }
        for judgement in result.judgements
    ]
    return json.dumps({**about, "rules": rules}, indent=1) + "\n"


def as_table(result: Result, *, colours: bool = False) -> str:
    """Return the result for a terminal: a line for each rule, more where it is broken.

    Rules that are not applicable stand at the end, with the reason.
    """
    width = min(shutil.get_terminal_size((100, 24)).columns, 120)
    lines = [result.title, ""]
    skipped: dict[str, list[str]] = {}
    for judgement in result.judgements:
        number, rule = judgement.rule.number, judgement.rule
        if judgement.verdict == "skip":
            reason = judgement.findings[0].seen
            skipped.setdefault(reason, []).append(str(number))
            continue
        word = f"{judgement.verdict:5}"
        if colours:
            word = f"\033[{COLOURS[judgement.colour]}m{word}\033[0m"
        text = textwrap.shorten(rule.text, width - 19, placeholder=" ...")
        lines.append(f"{number:4}  {judgement.level:6}  {word} {text}")
        for finding in judgement.findings:
            if finding.verdict in ("fail", "crash"):
                lines += _indented(finding.seen, width)
                lines += _indented(f"in {finding.reproduce}", width)
    if skipped:
        lines += ["", "Not applicable:"]
        for reason, numbers in skipped.items():
            lines += _wrapped(f"{', '.join(numbers)}: {reason}", width, "  ", "    ")
    return "\n".join([*lines, "", result.summary]) + "\n"


def _indented(text: str, width: int) -> list[str]:
    return _wrapped(text, width, " " * 20, " " * 22)


def _wrapped(text: str, width: int, first: str, later: str) -> list[str]:
    plain = " ".join(text.split())
    return textwrap.wrap(plain, width, initial_indent=first, subsequent_indent=later)


STYLE = """
:root { color-scheme: light dark; --line: #8884; --good: #188038; --bad: #c5221f;
  --weak: #b06000; --quiet: #777; }
@media (prefers-color-scheme: dark) { :root { --good: #81c995; --bad: #f28b82;
  --weak: #fdd663; --quiet: #999; } }
body { font: 16px/1.45 system-ui, sans-serif; max-width: 48rem; margin: 0 auto;
  padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; margin: 0; } p { margin: .4rem 0; }
details, .rule { border-top: 1px solid var(--line); padding: .5rem 0; }
summary { cursor: pointer; display: flex; gap: .6rem; list-style: none; }
summary::-webkit-details-marker { display: none; }
.number { min-width: 1.8rem; text-align: right; font-variant-numeric: tabular-nums; }
.word { min-width: 3.2rem; font-weight: 600; }
.pass .word { color: var(--good); } .weak .word { color: var(--weak); }
.fail .word, .crash .word { color: var(--bad); } .skip { color: var(--quiet); }
.small { color: var(--quiet); font-size: .87rem; }
details > div { margin: .4rem 0 .4rem 2.4rem; }
code { font: .87rem/1.4 ui-monospace, monospace; white-space: pre-wrap; }
"""


def as_html(result: Result) -> str:
    """Return the result as one page that needs nothing else; broken rules are open."""
    title = html.escape(result.title)
    rows = "\n".join(_row(judgement) for judgement in result.judgements)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>DLPack: {title}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{html.escape(f"{result.library} {result.version}".strip())} and DLPack</h1>
<p class="small">{title}</p>
<p>{html.escape(result.summary)}</p>
{rows}
<p class="small">Written by python -m refarray check.</p>
</body>
</html>
"""


def _row(judgement: Judgement) -> str:
    rule, is_open = judgement.rule, " open" * judgement.is_broken
    details = [
        f"<p>{html.escape(finding.seen)}</p>"
        + (f"<code>{html.escape(finding.reproduce)}</code>" * bool(finding.reproduce))
        for finding in judgement.findings
        if finding.seen
    ]
    source = f"{judgement.level}; {rule.source}; {rule.where}"
    return (
        f'<details class="{judgement.colour}"{is_open}><summary>'
        f'<span class="number">{rule.number}</span>'
        f'<span class="word">{judgement.verdict}</span>'
        f"<span>{html.escape(rule.text)}</span></summary>"
        f'<div>{"".join(details)}<p class="small">{html.escape(source)}</p></div>'
        "</details>"
    )
