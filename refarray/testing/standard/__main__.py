"""The command line: python -m refarray.testing.standard NAMESPACE.

Exit status: 0 no deviation, 1 deviations, 2 the namespace cannot be imported.
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
    chosen = parser.parse_args(arguments)
    try:
        xp = import_module(chosen.namespace)
    except ImportError as error:
        print(f"cannot import {chosen.namespace}: {error}", file=sys.stderr)
        return 2
    report = runner.run(xp, all_checks(), only=chosen.only, progress=_progress)
    _progress("")
    print(table(report.deviations))
    functions = len({d.function for d in report.deviations})
    print(
        f"{chosen.namespace}: {report.cases} cases, {report.values} values; "
        f"{len(report.deviations)} deviations in {functions} functions"
    )
    if chosen.json:
        chosen.json.write_text(to_json(chosen.namespace, report))
    return 1 if report.deviations else 0


def _progress(line: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{line:<70}", end="" if line else "\r", file=sys.stderr, flush=True)


def table(deviations: Iterable[Deviation]) -> str:
    """The deviations for a person: one block for each function and clause or error."""
    groups: dict[tuple[str, str], list[Deviation]] = {}
    for each in deviations:
        # A dtype that is not supported fails under every clause with one error.
        error = each.got.partition(":")[0] if each.wanted == "no error" else ""
        groups.setdefault((each.function, error or each.clause), []).append(each)
    blocks = []
    for (function, _), found in groups.items():
        dtypes = " ".join(dict.fromkeys(d.dtype for d in found if d.dtype))
        more = f"   ({len(found)} deviations)" if len(found) > 1 else ""
        first = found[0]
        blocks.append(
            f"{function}   {dtypes}{more}\n"
            f"    given   {first.given}\n"
            f"    came    {first.got}\n"
            f"    wanted  {first.wanted}\n"
            f"    clause  {first.clause}\n"
        )
    return "\n".join(blocks)


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
