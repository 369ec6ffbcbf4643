"""How a row of the benchmark table is measured and judged.

A row is one piece of work done by several libraries. All measures of all rows are
taken once per round, so that a slow second of the machine hits each of them alike, and
of the rounds only the fastest counts: noise only ever adds. What is judged is the ratio
of our time to another library's, which is much the same on any machine.

Next: rows_exchange.py.
"""

from __future__ import annotations

import os
import sys
import timeit
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

OURS = "refarray"

ROUNDS = 30

# One sample of a short statement repeats it for at least this long.
SAMPLE_SECONDS = 2e-3

# Takes one sample; seconds per piece of work.
Measure = Callable[[], float]


@dataclass(frozen=True)
class Row:
    """One piece of work.

    `measures` maps each library, ours included, to its measure. `targets` maps other
    libraries to the highest allowed ratio of our time to theirs.
    """

    work: str
    measures: Mapping[str, Measure]
    targets: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """A row and the least seconds that each library needed for it."""

    row: Row
    seconds: Mapping[str, float]

    def ratio(self, library: str) -> float:
        """Our time in units of another library's."""
        return self.seconds[OURS] / self.seconds[library]

    def missed(self) -> list[str]:
        """The libraries towards which the target is not met."""
        return [
            library
            for library, target in self.row.targets.items()
            if self.ratio(library) > target
        ]


def statement(code: str, **names: Any) -> Measure:
    """Measure a statement, given what its names stand for, by its elapsed time."""
    timer = timeit.Timer(code, globals=names)
    loops = 1
    # The least of three: one interruption would make a single call look long enough.
    while min(timer.repeat(3, loops)) < SAMPLE_SECONDS:
        loops *= 2
    return lambda: timer.timeit(loops) / loops


def child_process(code: str) -> Measure:
    """Measure the processor time of a fresh interpreter that runs the code."""

    def measure() -> float:
        arguments = [sys.executable, "-I", "-c", code]
        child = os.posix_spawn(sys.executable, arguments, os.environ)
        _, status, usage = os.wait4(child, 0)
        if status != 0:
            raise RuntimeError(f"the child process failed: {code}")
        return usage.ru_utime + usage.ru_stime

    return measure


def run(rows: Sequence[Row], rounds: int = ROUNDS) -> list[Result]:
    """Take every measure once per round, after one round that does not count."""
    samples: list[dict[str, list[float]]] = [
        {library: [] for library in row.measures} for row in rows
    ]
    for _ in range(1 + rounds):
        for row, sample in zip(rows, samples, strict=True):
            for library, measure in row.measures.items():
                sample[library].append(measure())
    return [
        Result(row, {library: min(times[1:]) for library, times in sample.items()})
        for row, sample in zip(rows, samples, strict=True)
    ]


def duration(seconds: float) -> str:
    """A time with three digits and the unit that fits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def verdict(result: Result) -> str:
    """Our time in units of each other library's, with the target if it has one."""
    parts = []
    for library in result.seconds:
        if library != OURS:
            part = f"{result.ratio(library):.2f}x {library}"
            if library in result.row.targets:
                part += f" (at most {result.row.targets[library]:g}x)"
            if library in result.missed():
                part += " MISSED"
            parts.append(part)
    return ", ".join(parts)


def table(results: Sequence[Result]) -> str:
    """One line per row: the work, the time of each library, and the ratios."""
    libraries = list(
        dict.fromkeys(name for result in results for name in result.seconds)
    )
    lines = [["work", *libraries, "ratio (target)"]]
    for result in results:
        times = [
            duration(result.seconds[library]) if library in result.seconds else "-"
            for library in libraries
        ]
        lines.append([result.row.work, *times, verdict(result)])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            # the times stand right, the words left
            cell.rjust(width) if 0 < index <= len(libraries) else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
