"""The table of a run, for the terminal and for the documentation.

Next: plot.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from benchmarks.harness import OURS, Result, Target

# What was measured: the results of each subject.
Results = Mapping[str, Sequence[Result]]

LAST_COLUMN = "refarray / other (target)"


def amount(value: float, unit: str) -> str:
    """A value with three digits and the unit that fits."""
    if unit == "x":
        return f"{value:.3g}x"
    if unit != "s":
        return f"{value:.3g} {unit}"
    for name, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if abs(value) >= size:
            return f"{value / size:.3g} {name}"
    return f"{value / 1e-9:.3g} ns"


def limit(target: Target, unit: str) -> str:
    """A target in words."""
    aim = "" if target.aim is None else f", aim {amount(target.aim, unit)}"
    return f"(at most {amount(target.at_most, unit)}{aim})"


def verdict(result: Result) -> str:
    """What each target limits, beside the target; and the ratio to NumPy."""
    parts = []
    missed = result.missed()
    shown = [] if OURS in result.targets else ["numpy"]
    for library in dict.fromkeys([*shown, *result.targets]):
        judged = result.judged(library)
        if judged is None:
            continue
        words = [] if library == OURS else [f"{judged:.2f}x {library}"]
        if library in result.targets:
            unit = result.unit if library == OURS else "x"
            words.append(limit(result.targets[library], unit))
        if library in missed:
            words.append("MISSED")
        parts.append(" ".join(words))
    return ", ".join(parts)


def table(results: Results) -> str:
    """The table for the terminal."""
    libraries = _libraries(results)
    heading = ["", *libraries, LAST_COLUMN]
    subjects = [
        [_cells(result, libraries) for result in _lines(results[subject])]
        for subject in results
    ]
    rows = [heading, *(row for rows in subjects for row in rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        # The values stand right, the words left.
        padded = [
            cell.rjust(width) if 0 < index <= len(libraries) else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return "  ".join(padded).rstrip()

    lines = [line(heading)]
    for subject, rows in zip(results, subjects, strict=True):
        lines += ["", subject, *map(line, rows)]
    return "\n".join(lines)


def markdown(results: Results) -> str:
    """The same for the documentation, a table for each subject."""
    blocks = []
    for subject in results:
        libraries = _libraries({subject: results[subject]})
        rows = [
            ["work", *libraries, LAST_COLUMN],
            ["---", *["---:"] * len(libraries), "---"],
            *(_cells(result, libraries) for result in _lines(results[subject])),
        ]
        lines = [f"| {' | '.join(map(_plain, cells))} |" for cells in rows]
        blocks.append("\n".join([f"## {subject}", "", *lines]))
    return "\n\n".join(blocks)


def figures(results: Iterable[Result]) -> str:
    """Only our own values, as a table in Markdown."""
    rows = [["", "time"], ["---", "---:"]]
    for result in results:
        rows.append([_plain(result.work), amount(result.values[OURS], result.unit)])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def _plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    return text.replace("_", r"\_").replace("*", r"\*")


def _lines(results: Iterable[Result]) -> list[Result]:
    """All but the points of curves, which the plot shows."""
    return [result for result in results if result.point is None]


def _libraries(results: Results) -> list[str]:
    names = (n for rows in results.values() for row in _lines(rows) for n in row.values)
    return list(dict.fromkeys(names))


def _cells(result: Result, libraries: Sequence[str]) -> list[str]:
    values = [
        amount(result.values[name], result.unit) if name in result.values else "-"
        for name in libraries
    ]
    return [result.work, *values, verdict(result)]
