"""Measure, print the table, and fail if a target is missed: `python -m benchmarks`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import harness, rows_exchange, rows_import

# The rows of a subject share the rounds. Subjects are measured one after the other, so
# that only one of them holds arrays.
SUBJECTS = {"exchange": rows_exchange.rows, "import": rows_import.rows}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; 1 if a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "subjects", nargs="*", metavar="SUBJECT", help=f"of {', '.join(SUBJECTS)}"
    )
    parser.add_argument("--rounds", type=int, default=harness.ROUNDS)
    parser.add_argument("--json", type=Path, help="write the seconds to this file too")
    options = parser.parse_args(arguments)
    if unknown := set(options.subjects) - set(SUBJECTS):
        parser.error(f"no such subject: {', '.join(unknown)}")

    results = []
    for subject in options.subjects or SUBJECTS:
        print(f"measuring {subject}, {options.rounds} rounds ...", file=sys.stderr)
        results += harness.run(SUBJECTS[subject](), options.rounds)
    print(harness.table(results))
    if options.json:
        seconds = {result.row.work: dict(result.seconds) for result in results}
        options.json.write_text(json.dumps(seconds, indent=2) + "\n")
    return 1 if any(result.missed() for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
