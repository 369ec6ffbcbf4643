"""The table that a run prints.

Next: plot.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.harness import OURS, Result, Target


def amount(value: float, unit: str) -> str:
    """A value with three digits and the unit that fits; "" is for plain ratios."""
    if unit != "s":
        return f"{value:.3g} {unit}".rstrip()
    for name, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if abs(value) >= size:
            return f"{value / size:.3g} {name}"
    return f"{value / 1e-9:.3g} ns"


def limit(target: Target, unit: str | None) -> str:
    """A target in words: of a ratio, or of a value in a unit."""

    def text(value: float) -> str:
        return f"{value:.3g}x" if unit is None else amount(value, unit)

    aim = "" if target.aim is None else f", aim {text(target.aim)}"
    return f"(at most {text(target.at_most)}{aim})"


def verdict(result: Result) -> str:
    """What each target limits, beside the target; the ratio to NumPy in any case."""
    parts = []
    missed = result.missed()
    for library in dict.fromkeys(["numpy", *result.targets]):
        judged = result.judged(library)
        if judged is None:
            continue
        text = "" if library == OURS else f"{judged:.2f}x {library} "
        if library in result.targets:
            unit = result.unit if library == OURS else None
            text += limit(result.targets[library], unit)
        parts.append(text.strip() + " MISSED" * (library in missed))
    return ", ".join(parts)


def table(results: Sequence[Result]) -> str:
    """One line per result: the work, the value of each library, and the ratios."""
    libraries = list(
        dict.fromkeys(name for result in results for name in result.values)
    )
    lines = [["work", *libraries, "refarray's in units of theirs (target)"]]
    for result in results:
        values = [
            amount(result.values[name], result.unit) if name in result.values else "-"
            for name in libraries
        ]
        lines.append([result.work, *values, verdict(result)])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            # the values stand right, the words left
            cell.rjust(width) if 0 < index <= len(libraries) else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
