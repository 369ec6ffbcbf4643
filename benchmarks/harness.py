"""How a row of the benchmark table is measured, summed up and judged.

A row is one piece of work done by several libraries. All measures of all rows of a
subject are taken once per round, so that a slow second of the machine hits each of them
alike, and of the rounds only the fastest counts: noise only ever adds. What is judged
is the ratio of our time to another library's, much the same on any machine.

Next: libraries.py.
"""

from __future__ import annotations

import math
import os
import sys
import time
import timeit
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

OURS = "refarray"

# A subject is measured in a sitting of at least so many rounds, and at least so many
# seconds; and while a target is missed, in up to PATIENCE of them. Noise only ever
# adds, so with more rounds the fastest of each library come closer to what it would be
# without. Each sitting makes its arrays anew: where one lies is worth some percent.
ROUNDS = 20
SECONDS = 15.0
PATIENCE = 6

# A sample is the least of several runs, each of which repeats the statement for about
# this long: short runs find the quiet moments of a busy machine. The first runs find
# the caches as the row before has left them, and memory of several MB that is used in
# turn is in place after three. Where one run is long, that matters less.
SAMPLE_SECONDS = 2e-3
RUN_SECONDS = 3e-4
WARM_RUNS = 5
LONG_SECONDS = 3e-2

# Takes one sample: seconds per piece of work, or what else the row's unit says.
Measure = Callable[[], float]


@dataclass(frozen=True)
class Target:
    """The highest allowed value; `aim` would be better still, and may stay unmet."""

    at_most: float
    aim: float | None = None


# Of another library: towards which the ratio of our value to its value is limited.
# Of ours: the value itself is.
Targets = Mapping[str, Target]


@dataclass(frozen=True)
class Row:
    """One piece of work: a measure for each library, ours included.

    A row that is a point of a curve in the plot names the curve and the bytes of work.
    """

    work: str
    measures: Mapping[str, Measure]
    targets: Targets = field(default_factory=dict)
    unit: str = "s"
    point: tuple[str, int] | None = None


@dataclass(frozen=True)
class Summary:
    """A line that is worked out from the lines of several rows.

    `combine` makes one value of those that a library has in the rows, in their order.
    """

    work: str
    parts: Sequence[Row]
    combine: Callable[[Sequence[float]], float]
    targets: Targets = field(default_factory=dict)
    unit: str = "s"


@dataclass(frozen=True)
class Result:
    """A line of the table: the least value that was seen for each library."""

    work: str
    values: Mapping[str, float]
    targets: Targets = field(default_factory=dict)
    unit: str = "s"
    point: tuple[str, int] | None = None

    def ratio(self, library: str) -> float:
        """Our value in units of another library's."""
        return self.values[OURS] / self.values[library]

    def judged(self, library: str) -> float | None:
        """What the target for a library limits; None if that is not installed."""
        if library == OURS:
            return self.values[OURS]
        return self.ratio(library) if library in self.values else None

    def missed(self) -> list[str]:
        """The libraries towards which the target is not met."""
        judged = {library: self.judged(library) for library in self.targets}
        return [
            library
            for library, value in judged.items()
            if value is not None and value > self.targets[library].at_most
        ]


def at_most(**targets: float) -> Targets:
    """Targets without an aim, by keyword; `array_api_strict` for that library."""
    return {name.replace("_", "-"): Target(value) for name, value in targets.items()}


def geometric_mean(values: Sequence[float]) -> float:
    """The number whose logarithm is the mean of the logarithms."""
    return math.exp(sum(map(math.log, values)) / len(values))


def statement(code: str, **names: Any) -> Measure:
    """Measure a statement, given what its names stand for, by its elapsed time.

    How often a run repeats it follows from the fastest run before.
    """
    timer = timeit.Timer(code, globals=names)
    fastest = math.inf

    def measure() -> float:
        nonlocal fastest
        runs: list[float] = []
        elapsed = 0.0
        while elapsed < (LONG_SECONDS if len(runs) < WARM_RUNS else SAMPLE_SECONDS):
            loops = max(1, int(RUN_SECONDS / fastest))
            seconds = timer.timeit(loops)
            elapsed += seconds
            runs.append(seconds / loops)
            fastest = min(fastest, runs[-1])
        return min(runs)

    return measure


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


def run(
    make: Callable[[], Iterable[Row | Summary]],
    rounds: int = ROUNDS,
    seconds: float = SECONDS,
) -> list[Result]:
    """Measure a subject, whose rows `make` makes: one sitting, or up to PATIENCE.

    Of each measure the least of all sittings counts.
    """
    least: list[dict[str, float]] = []
    for _ in range(PATIENCE):
        entries = list(make())
        rows = _parts(entries)
        found = _sitting(rows, rounds, seconds)
        least = [_lesser(*pair) for pair in zip(found, least or found, strict=True)]
        of_rows = {id(row): values for row, values in zip(rows, least, strict=True)}
        results = [_result(entry, of_rows) for entry in entries]
        del entries, rows  # the arrays, before there are new ones
        if not any(result.missed() for result in results):
            break
    return results


def _parts(entries: Iterable[Row | Summary]) -> list[Row]:
    rows: dict[int, Row] = {}  # by id: a row may be part of several summaries
    for entry in entries:
        parts = entry.parts if isinstance(entry, Summary) else [entry]
        rows |= {id(row): row for row in parts}
    return list(rows.values())


def _sitting(
    rows: Sequence[Row], rounds: int, seconds: float
) -> list[dict[str, float]]:
    """Take every measure once per round, after one round that does not count."""
    least = [dict.fromkeys(row.measures, math.inf) for row in rows]
    finished = -1
    start = time.monotonic()
    while finished < rounds or time.monotonic() - start < seconds:
        for row, values in zip(rows, least, strict=True):
            for library, measure in row.measures.items():
                value = measure()
                if finished >= 0:
                    values[library] = min(values[library], value)
        finished += 1
    return least


def _lesser(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    return {library: min(value, other[library]) for library, value in one.items()}


def _result(entry: Row | Summary, least: Mapping[int, Mapping[str, float]]) -> Result:
    if isinstance(entry, Row):
        values = least[id(entry)]
        return Result(entry.work, values, entry.targets, entry.unit, entry.point)
    parts = [least[id(part)] for part in entry.parts]
    everywhere = [name for name in parts[0] if all(name in part for part in parts)]
    combined = {
        library: entry.combine([part[library] for part in parts])
        for library in everywhere
    }
    return Result(entry.work, combined, entry.targets, entry.unit)
