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
import json
import platform
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from refarray.commands.terminal import Bar, Mistake, has_colour, write
from refarray.testing import report
from refarray.testing.findings import Rule
from refarray.testing.isolation import Run
from refarray.testing.loading import LoadingError
from refarray.testing.report import Judgement, Result
from refarray.testing.rules import RULES
from refarray.testing.violators import VIOLATORS

KEPT, BROKEN = 0, 1

#: `--json` without a file: print it, in place of the table.
STDOUT = Path("-")

#: What follows the colon in `torch:producer`.
SIDES = {
    "producer": range(1, 37),
    "consumer": range(37, 61),
    "exchange": range(61, 71),
}
HOWTO = "docs/howto/check-your-library.md"


class UsageError(Mistake):
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
    parser.add_argument(
        "--json",
        nargs="?",
        const=STDOUT,
        type=Path,
        metavar="FILE",
        help="print JSON, or write it to a file too; stands behind the library",
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page too")
    parser.add_argument(
        "--adapters", type=Path, metavar="FOLDER", help="where adapters by name are"
    )


def run(options: argparse.Namespace) -> int:
    """Do what the arguments say, and return the exit status.

    0: every rule that must hold is kept. 1: one is not. Rules that are only recommended
    do not count. Mistake for arguments that make no sense.
    """
    if options.explain is not None:
        for rule in chosen([options.explain]):
            print(explained(rule) if options.json else explain(rule))
        return KEPT
    if options.library is None and options.json not in (None, STDOUT):
        raise UsageError(f"--json took {options.json} for its file; the library first")
    name, numbers = resolve(options.library, options.adapters)
    rules = [r for r in chosen(options.rule) if r.number in numbers]
    if not rules:
        raise UsageError(
            f"--rule {','.join(options.rule)} is none of the rules for "
            f"{options.library}, which are {numbers[0]} to {numbers[-1]}"
        )
    allowed = {rule.number for rule in chosen(options.allow or [])}
    for path in (options.json, options.html):
        if path is not None and not path.parent.is_dir():
            raise UsageError(f"there is no folder {path.parent} for {path.name}")
    try:
        result = judge(name, rules)
    except LoadingError as error:
        raise Mistake(str(error)) from error
    if options.html is not None:
        write(options.html, report.as_html(result))
    broken = {j.rule.number for j in result.judgements if j.is_broken}
    kept = {j.rule.number for j in result.judgements if j.verdict == "pass"}
    status = BROKEN if broken - allowed else KEPT
    if options.json == STDOUT:
        print(report.as_json(result), end="")
        return status
    if options.json is not None:
        write(options.json, report.as_json(result))
    print(report.as_table(result, colours=has_colour()), end="")
    if allowed & kept:
        print(f"Allowed, but kept: {', '.join(map(str, sorted(allowed & kept)))}")
    return status


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


def chosen(words: Iterable[str] | None) -> list[Rule]:
    """Return the rules of `46`, `1-36` or `5,8`; all of them for None."""
    if words is None:
        return list(RULES.values())
    numbers: set[int] = set()
    for word in (part for text in words for part in text.split(",")):
        first, dash, last = word.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise UsageError(f"{word!r} is no rule; rules are 1 to {max(RULES)}")
        for end in (int(first), int(last or first)):
            if end not in RULES:
                raise UsageError(f"there is no rule {end}; rules are 1 to {max(RULES)}")
        if int(last or first) < int(first):
            raise UsageError(f"{word!r} is no range of rules: the lower comes first")
        numbers.update(range(int(first), int(last or first) + 1))
    return [RULES[number] for number in sorted(numbers)]


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


def explained(rule: Rule) -> str:
    """Return the same as JSON."""
    violator = VIOLATORS[rule.number]
    return json.dumps(
        {
            "rule": rule.number,
            "level": rule.level,
            "text": rule.text,
            "source": rule.source,
            "check": rule.where,
            "violator": f"{violator.__module__}.{violator.__name__}",
        },
        indent=1,
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

    They are no part of the package: in the folder given, or in adapters/ here (but for
    `python -P`, which takes nothing from here unasked) or in the checkout that refarray
    is imported from.
    """
    checkout = Path(__file__).parents[2]
    if folder:
        folders = [folder]
    else:
        folders = [] if sys.flags.safe_path else [Path("adapters")]
        if (checkout / "_cffi_build").is_dir():
            folders.append(checkout / "adapters")
    found: dict[str, Path] = {}
    for place in folders:
        for path in sorted(place.glob("[a-z]*.py")):
            found.setdefault(path.stem, path.resolve())
    return found
