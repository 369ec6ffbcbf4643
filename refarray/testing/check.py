"""The command `python -m refarray check`: hold a library against the rules of DLPack.

    python -m refarray check numpy
    python -m refarray check torch:producer --json torch.json --html torch.html
    python -m refarray check my_adapter.py --rule 46
    python -m refarray check --explain 46

The library is imported in child processes only: one that crashes or hangs is reported,
and the check goes on. Next: plugin.py, the same for pytest.
"""

from __future__ import annotations

import argparse
import datetime
import difflib
import os
import platform
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from refarray.testing import report
from refarray.testing.findings import Rule
from refarray.testing.isolation import Run
from refarray.testing.loading import LoadingError
from refarray.testing.report import Judgement, Result
from refarray.testing.rules import RULES
from refarray.testing.violators import VIOLATORS

KEPT, BROKEN, MISTAKE, INTERRUPTED = 0, 1, 2, 130

#: What follows the colon in `torch:producer`.
SIDES = {
    "producer": range(1, 37),
    "consumer": range(37, 61),
    "exchange": range(61, 71),
}
HOWTO = "docs/howto/check-your-library.md"


class UsageError(Exception):
    """A mistake on the command line; says what is known."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument(
        "library",
        nargs="?",
        help="numpy, torch:producer, my_adapter.py, package.module:Class",
    )
    parser.add_argument(
        "--rule", action="append", metavar="N", help="only these: 46, 1-36, 5,8"
    )
    parser.add_argument(
        "--allow",
        action="append",
        metavar="N",
        help="rules that may be broken without changing the exit status",
    )
    parser.add_argument("--explain", metavar="N", help="print a rule in full, and end")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write JSON too")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page too")
    parser.add_argument(
        "--adapters", type=Path, metavar="FOLDER", help="where adapters by name are"
    )


def run(options: argparse.Namespace) -> int:
    """Do what the arguments say, and return the exit status.

    0: every rule that must hold is kept. 1: one is not. 2: a mistake in the arguments.
    Rules that are only recommended do not count.
    """
    try:
        if options.explain is not None:
            for rule in chosen([options.explain]):
                print(explain(rule))
            return KEPT
        name, numbers = resolve(options.library, options.adapters)
        rules = [r for r in chosen(options.rule) if r.number in numbers]
        if not rules:
            raise UsageError(f"no rule is left for {options.library}: {options.rule}")
        allowed = {rule.number for rule in chosen(options.allow or ["0"])}
        for path in (options.json, options.html):
            if path is not None and not path.parent.is_dir():
                raise UsageError(f"there is no folder {path.parent} for {path.name}")
        result = judge(name, rules)
        is_terminal = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        print(report.as_table(result, colours=is_terminal), end="")
        if options.json is not None:
            options.json.write_text(report.as_json(result), encoding="utf-8")
        if options.html is not None:
            options.html.write_text(report.as_html(result), encoding="utf-8")
    except (UsageError, LoadingError, OSError) as error:
        print(f"python -m refarray check: {error}", file=sys.stderr)
        return MISTAKE
    except KeyboardInterrupt:
        print("python -m refarray check: interrupted", file=sys.stderr)
        return INTERRUPTED
    broken = {j.rule.number for j in result.judgements if j.is_broken}
    kept = {j.rule.number for j in result.judgements if j.verdict == "pass"}
    if allowed & kept:
        print(f"Allowed, but kept: {', '.join(map(str, sorted(allowed & kept)))}")
    return BROKEN if broken - allowed else KEPT


def judge(name: str, rules: Sequence[Rule]) -> Result:
    """Check the adapter of this name, with a progress bar if a person is watching."""
    checks, judgements = Run(name, rules), []
    bar = Bar(len(rules))
    bar.show(0, "starting")
    try:
        for rule, findings in checks:
            judgements.append(Judgement(rule, findings))
            bar.show(len(judgements), f"rule {rule.number}")
    finally:
        bar.clear()
    return Result(
        library=checks.about["name"],
        version=checks.about["version"],
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        date=datetime.date.today().isoformat(),
        judgements=judgements,
    )


class Bar:
    """A progress bar on a terminal; elsewhere, nothing."""

    def __init__(self, total: int) -> None:
        self.total, self.is_shown = total, sys.stderr.isatty()

    def show(self, done: int, label: str) -> None:
        """Draw the bar over the last one."""
        if self.is_shown:
            width = max(10, min(40, shutil.get_terminal_size().columns - 30))
            filled = width * done // self.total
            bar = "#" * filled + "." * (width - filled)
            line = f"\r[{bar}] {done}/{self.total} {label:<10}"
            print(line, end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Take the bar away."""
        if self.is_shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def chosen(words: Iterable[str] | None) -> list[Rule]:
    """Return the rules of `46`, `1-36` or `5,8`; all of them for None."""
    if words is None:
        return list(RULES.values())
    numbers: set[int] = set()
    for word in ",".join(words).split(","):
        first, dash, last = word.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise UsageError(f"{word!r} is no rule; rules are 1 to {max(RULES)}")
        numbers.update(range(int(first), int(last or first) + 1))
    unknown = sorted(numbers - {0, *RULES})
    if unknown:
        raise UsageError(f"there is no rule {unknown[0]}; rules are 1 to {max(RULES)}")
    return [RULES[number] for number in sorted(numbers - {0})]


def explain(rule: Rule) -> str:
    """Return everything there is to say about a rule."""
    violator = VIOLATORS[rule.number]
    return (
        f"Rule {rule.number} ({rule.level})\n\n    {rule.text}\n\n"
        f"Source:   {rule.source}\n"
        f"Check:    {rule.where}\n"
        f"Violator: {violator.__module__}.{violator.__name__}\n"
        f"          {violator.__doc__}"
    )


def resolve(library: str | None, folder: Path | None = None) -> tuple[str, range]:
    """Return the adapter's name for loading.py, and the rules of the side asked for."""
    base, _, side = (library or "").rpartition(":")
    if side not in SIDES:
        base, side = library or "", ""
    numbers = SIDES.get(side, range(1, max(RULES) + 1))
    if ":" in base or base.endswith(".py") or "." in base:
        return base, numbers
    known = known_adapters(folder)
    if base in known:
        return str(known[base]), numbers
    listed = ", ".join(known) or "none; they stand in adapters/ of refarray's sources"
    near = difflib.get_close_matches(base, known, 1)
    raise UsageError(
        (f"there is no adapter named {base!r}" if base else "which library?")
        + (f"; did you mean {near[0]}?" if near else "")
        + f"\nBy name: {listed}\nYour own: my_adapter.py, package.module:Class"
        + f" ({HOWTO} shows how)"
    )


def known_adapters(folder: Path | None = None) -> dict[str, Path]:
    """Return the adapters that are known by name.

    They are no part of the package: in the folder given, or in adapters/ here or in the
    checkout that refarray is imported from.
    """
    checkout = Path(__file__).parents[2]
    folders = [folder] if folder else [Path("adapters")]
    if not folder and (checkout / "_cffi_build").is_dir():
        folders.append(checkout / "adapters")
    found: dict[str, Path] = {}
    for place in folders:
        for path in sorted(place.glob("[a-z]*.py")):
            found.setdefault(path.stem, path.resolve())
    return found
