"""Measure, print the table, and fail if a target is missed: `python -m benchmarks`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import (
    harness,
    record,
    report,
    rows_axes,
    rows_breakdown,
    rows_exchange,
    rows_import,
    rows_large,
    rows_memory,
    rows_size,
    rows_small,
    rows_threads,
)
from benchmarks.harness import Row, Summary
from benchmarks.libraries import ONE_THREAD

# The rows of a subject share the rounds. Subjects are measured one after the other, so
# that only one of them holds arrays.
SUBJECTS: dict[str, Callable[[], Sequence[Row | Summary]]] = {
    "exchange": rows_exchange.rows,
    "small": rows_small.rows,
    "large": rows_large.rows,
    "axes": rows_axes.rows,
    "size": rows_size.rows,
    "memory": rows_memory.rows,
    "threads": rows_threads.rows,
    "breakdown": rows_breakdown.rows,
    "import": rows_import.rows,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; 1 if a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "subjects", nargs="*", metavar="SUBJECT", help=f"of {', '.join(SUBJECTS)}"
    )
    parser.add_argument("--rounds", type=int, default=harness.ROUNDS)
    parser.add_argument("--seconds", type=float, default=harness.SECONDS)
    parser.add_argument(
        "--write", type=Path, help="write the figures into this folder of docs"
    )
    options = parser.parse_args(arguments)
    if unknown := set(options.subjects) - set(SUBJECTS):
        known = ", ".join(SUBJECTS)
        parser.error(f"no such subject: {', '.join(unknown)}; there are {known}")
    if options.write and options.subjects:
        parser.error("--write is for all subjects together")

    results = {}
    for subject in options.subjects or SUBJECTS:
        print(f"measuring {subject} ...", file=sys.stderr)
        make = SUBJECTS[subject]
        results[subject] = harness.run(make, options.rounds, options.seconds)
    print(report.table(results))
    if options.write:
        record.write(options.write, results)
    missed = [row.work for rows in results.values() for row in rows if row.missed()]
    if missed:
        print(f"\nmissed: {'; '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    if not ONE_THREAD.items() <= os.environ.items():
        command = [sys.executable, "-m", "benchmarks", *sys.argv[1:]]
        os.execve(sys.executable, command, os.environ | ONE_THREAD)
    sys.exit(main())
