"""The command line: python -m refarray.testing.standard NAMESPACE.

Exit status: 0 no deviation, 1 deviations, 2 nothing could be checked: no such
namespace, no such function, no mpmath.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

from refarray.testing.standard import all_checks, runner
from refarray.testing.standard.runner import Deviation, Report


def main(arguments: list[str] | None = None) -> int:
    """Run the suite and print what deviates; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m refarray.testing.standard",
        description="Hold an array namespace to the Python array API standard 2025.12.",
    )
    parser.add_argument("namespace", help="an importable module, such as numpy")
    parser.add_argument(
        "--only",
        default="*",
        metavar="PATTERN",
        help="check only these functions, such as add, 'linalg.*' or __add__",
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write the deviations there as well"
    )
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write them there as a table"
    )
    chosen = parser.parse_args(arguments)
    try:
        xp = import_module(chosen.namespace)
    except ImportError as error:
        print(f"cannot import {chosen.namespace}: {error}", file=sys.stderr)
        return 2
    try:
        checks = all_checks()
    except ModuleNotFoundError as error:
        if error.name != "mpmath":
            raise
        print("the right values come from mpmath: pip install mpmath", file=sys.stderr)
        return 2
    report = runner.run(xp, checks, only=chosen.only, progress=_progress)
    _progress("")
    if not report.cases:
        print(f"no function is called {chosen.only!r} (see --help)", file=sys.stderr)
        return 2
    if report.deviations:
        print(table(report.deviations))
    functions = len({d.function for d in report.deviations})
    print(
        f"{chosen.namespace}: {report.cases} cases, {report.values} values; "
        f"{len(report.deviations)} deviations in {functions} functions"
    )
    if chosen.json:
        chosen.json.write_text(to_json(chosen.namespace, report))
    if chosen.markdown:
        chosen.markdown.write_text(to_markdown(chosen.namespace, report))
    return 1 if report.deviations else 0


def _progress(line: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{line:<70}", end="" if line else "\r", file=sys.stderr, flush=True)


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
        "| function | dtypes | given, for example | came | wanted | clause |",
        "|---|---|---|---|---|---|",
    ]
    for group in grouped(report.deviations):
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
    return "\n".join(lines) + "\n"


def to_json(namespace: str, report: Report) -> str:
    """The report as JSON text."""
    content = {
        "namespace": namespace,
        "cases": report.cases,
        "values": report.values,
        "deviations": [d._asdict() for d in report.deviations],
    }
    return json.dumps(content, indent=1)


if __name__ == "__main__":
    raise SystemExit(main())
