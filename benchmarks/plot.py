"""The curves of a run as an SVG: time in units of NumPy's, over the bytes of work.

Written out by hand: an axis is a line, a curve a polyline. Its colours can be told
apart by most people, and its ink follows the reader's light or dark page.

Next: record.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from benchmarks.harness import OURS, Result

BASE = "numpy"

COLOURS = {
    OURS: "#d55e00",
    "array-api-strict": "#0a84c6",
    "torch": "#009e73",
    "jax": "#cc79a7",
    "tvm-ffi": "#b38600",
}

WIDTH, HEIGHT = 360, 240  # of a panel, with what stands around it
LEFT, RIGHT, TOP, BOTTOM = 56, 24, 28, 36
LEGEND = 36
COLUMNS = 2

STYLE = """\
text { font: 12px system-ui, sans-serif; fill: #333 }
.title { font-weight: 600 }
.grid { stroke: #ddd }
.base { stroke: #777; stroke-width: 1.5 }
.curve { fill: none; stroke-width: 1.5; stroke-linejoin: round }
.ours { stroke-width: 3 }
@media (prefers-color-scheme: dark) {
  text { fill: #ddd }
  .grid { stroke: #444 }
  .base { stroke: #aaa }
}"""

Curve = list[tuple[int, float]]


def curves(results: Sequence[Result]) -> dict[str, dict[str, Curve]]:
    """Return, by work and library, the points (bytes, time in units of NumPy's)."""
    found: dict[str, dict[str, Curve]] = {}
    for result in results:
        if result.point is None:
            continue
        work, nbytes = result.point
        for library, seconds in result.values.items():
            curve = found.setdefault(work, {}).setdefault(library, [])
            curve.append((nbytes, seconds / result.values[BASE]))
    return found


class Scale:
    """Where a number lies between two ends, on a logarithmic scale of whole decades."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        self.first = math.floor(math.log10(min(values)))
        self.last = max(math.ceil(math.log10(max(values))), self.first + 1)
        self.start = start
        self.step = (end - start) / (self.last - self.first)

    def __call__(self, value: float) -> float:
        """Return the coordinate of a number."""
        return self.start + (math.log10(value) - self.first) * self.step

    def decades(self) -> range:
        """Return the exponents from one end to the other."""
        return range(self.first, self.last + 1)


def svg(results: Sequence[Result]) -> str:
    """Return the drawing: a panel for each work, a curve for each library."""
    panels = curves(results)
    everything = [p for panel in panels.values() for c in panel.values() for p in c]
    across = Scale([nbytes for nbytes, _ in everything], LEFT, WIDTH - RIGHT)
    up = Scale([ratio for _, ratio in everything], HEIGHT - BOTTOM, TOP)
    height = LEGEND + HEIGHT * math.ceil(len(panels) / COLUMNS)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH * COLUMNS} '
        f'{height}" role="img">',
        f"<title>{escape(', '.join(panels))}: time in units of NumPy's</title>",
        f"<style>\n{STYLE}\n</style>",
        *_legend([name for name in COLOURS if any(name in p for p in panels.values())]),
    ]
    for number, (work, panel) in enumerate(panels.items()):
        row, column = divmod(number, COLUMNS)
        lines.append(
            f'<g transform="translate({column * WIDTH} {LEGEND + row * HEIGHT})">'
        )
        lines += [*_axes(work, across, up), *_curves(panel, across, up), "</g>"]
    return "\n".join([*lines, "</svg>\n"])


def _legend(names: Sequence[str]) -> list[str]:
    lines = []
    x = LEFT
    for name in names:
        width = 3 if name == OURS else 1.5
        lines += [
            f'<path d="M{x} 20h22" stroke="{COLOURS[name]}" stroke-width="{width}"/>',
            f'<text x="{x + 28}" y="24">{escape(name)}</text>',
        ]
        x += 56 + 7 * len(name)
    return lines


def _axes(work: str, across: Scale, up: Scale) -> list[str]:
    left, right, bottom, top = LEFT, WIDTH - RIGHT, HEIGHT - BOTTOM, TOP
    lines = [f'<text class="title" x="{left}" y="{top - 8}">{escape(work)}</text>']
    for exponent in across.decades():
        x = across(10.0**exponent)
        lines.append(f'<path class="grid" d="M{x:.1f} {bottom}V{top}"/>')
        if exponent % 2 == 0:
            lines.append(
                f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">'
                f"{_bytes(exponent)}</text>"
            )
    for exponent in up.decades():
        y = up(10.0**exponent)
        kind, label = "grid", f"{10.0**exponent:g}x"
        if exponent == 0:
            kind, label = "base", BASE
        lines += [
            f'<path class="{kind}" d="M{left} {y:.1f}H{right}"/>',
            f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>',
        ]
    return lines


def _bytes(exponent: int) -> str:
    thousands, rest = divmod(exponent, 3)
    return f"{10**rest} {('B', 'kB', 'MB', 'GB')[thousands]}"


def _curves(panel: Mapping[str, Curve], across: Scale, up: Scale) -> list[str]:
    lines = []
    for name, colour in reversed(COLOURS.items()):  # ours last, on top
        if name in panel:
            points = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in panel[name])
            kind = "curve ours" if name == OURS else "curve"
            lines.append(
                f'<polyline class="{kind}" stroke="{colour}" points="{points}"/>'
            )
    return lines
