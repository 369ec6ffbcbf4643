"""The command `python -m refarray standard NAMESPACE`: the values of the standard.

Exit status: 0 no deviation, 1 deviations, 2 nothing could be checked: no such
namespace, no such function, no mpmath. Notes on quality do not change it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from refarray.commands.expressions import import_named
from refarray.commands.terminal import Bar, Mistake, write
from refarray.testing.standard import all_checks, runner
from refarray.testing.standard.runner import Deviation, Report

#: `--json` without a file: print it, in place of the table.
STDOUT = Path("-")


def main(arguments: list[str] | None = None) -> int:
    """Run the suite by itself, without the command line around it."""
    parser = argparse.ArgumentParser(
        prog="python -m refarray.testing.standard",
        description="Hold an array namespace to the Python array API standard 2025.12.",
    )
    add_arguments(parser)
    try:
        return run(parser.parse_args(arguments))
    except Mistake as mistake:
        print(mistake, file=sys.stderr)
        return 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("namespace", help="an importable module, such as numpy")
    parser.add_argument(
        "--only",
        default="*",
        metavar="PATTERN",
        help="check only these functions, such as add, 'linalg.*' or __add__",
    )
    parser.add_argument(
        "--json",
        nargs="?",
        const=STDOUT,
        type=Path,
        metavar="FILE",
        help="print the deviations as JSON, or write them to a file as well",
    )
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write them there as a table"
    )


def run(options: argparse.Namespace) -> int:
    """Run the suite and print what deviates; return the exit status."""
    xp = import_named(options.namespace)
    try:
        checks = all_checks()
    except ModuleNotFoundError as error:
        if error.name != "mpmath":
            raise
        message = "the right values come from mpmath: pip install mpmath"
        raise Mistake(message) from error
    report = _run_with_a_bar(xp, checks, options.only)
    if not report.cases:
        raise Mistake(f"no function is called {options.only!r} (see --help)")
    if options.markdown is not None:
        write(options.markdown, to_markdown(options.namespace, report))
    if options.json == STDOUT:
        print(to_json(options.namespace, report))
    else:
        if options.json is not None:
            write(options.json, to_json(options.namespace, report))
        if report.deviations:
            print(table(report.deviations))
        if report.notes:
            print(f"Quality, where no clause demands it:\n\n{table(report.notes)}")
        functions = len({d.function for d in report.deviations})
        print(
            f"{options.namespace}: {report.cases} cases, {report.values} values; "
            f"{len(report.deviations)} deviations in {functions} functions"
        )
    return 1 if report.deviations else 0


def _run_with_a_bar(xp: Any, checks: Sequence[runner.Check], only: str) -> Report:
    chosen = [check for check in checks if fnmatchcase(check.subject, only)]
    bar = Bar(len(chosen))
    try:
        return runner.run(xp, chosen, progress=bar.show)
    finally:
        bar.clear()


def grouped(deviations: Iterable[Deviation]) -> list[list[Deviation]]:
    """The deviations by function and clause, whatever the dtype.

    A dtype that is not supported fails under every clause with one error; such
    deviations make one group.
    """
    groups: dict[tuple[str, str], list[Deviation]] = {}
    for each in deviations:
        error = each.got.partition(":")[0] if each.wanted == "no error" else ""
        groups.setdefault((each.function, error or each.clause), []).append(each)
    return list(groups.values())


def _dtypes(group: list[Deviation]) -> str:
    return " ".join(dict.fromkeys(d.dtype for d in group if d.dtype))


def table(deviations: Iterable[Deviation]) -> str:
    """The deviations for a person, one block for each group."""
    blocks = []
    for group in grouped(deviations):
        first = group[0]
        more = f"   ({len(group)} deviations)" if len(group) > 1 else ""
        lines = [
            f"{first.function}   {_dtypes(group)}{more}".rstrip(),
            f"    given   {first.given}",
            f"    came    {first.got}",
            f"    wanted  {first.wanted}",
            f"    clause  {first.clause}\n",
        ]
        if not first.given:
            del lines[1]
        blocks.append("\n".join(lines))
    return "\n".join(blocks)


def to_markdown(namespace: str, report: Report) -> str:
    """The deviations as a Markdown table, one row for each group."""
    lines = [
        f"## {namespace}",
        "",
        f"{report.cases} cases, {report.values} values compared.",
        "",
        *_rows(report.deviations),
    ]
    if report.notes:
        lines += ["", "Quality, where no clause demands it:", "", *_rows(report.notes)]
    return "\n".join(lines) + "\n"


def _rows(deviations: Iterable[Deviation]) -> list[str]:
    lines = [
        "| function | dtypes | given, for example | came | wanted | clause |",
        "|---|---|---|---|---|---|",
    ]
    for group in grouped(deviations):
        first = group[0]
        cells = [
            f"`{first.function}`",
            _dtypes(group),
            first.given,
            first.got,
            first.wanted,
            first.clause,
        ]
        lines.append(f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |")
    return lines


def to_json(namespace: str, report: Report) -> str:
    """The report as JSON text."""
    content = {
        "namespace": namespace,
        "cases": report.cases,
        "values": report.values,
        "deviations": [d._asdict() for d in report.deviations],
        "notes": [d._asdict() for d in report.notes],
    }
    return json.dumps(content, indent=1)


if __name__ == "__main__":
    raise SystemExit(main())
