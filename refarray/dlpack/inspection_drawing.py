"""Shapes of an SVG: boxes, text, arrows. No more than the inspector's picture needs.

Colours come from the page where the picture stands in one (`currentColor`); a file of
its own brings a background.

Next: `inspection_strip.py`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from html import escape

#: Units of width; at the width of a phone a unit is a little less than a pixel.
WIDTH = 380
#: Between these the boxes lie: offsets beside them at the left, lines at the right.
LEFT, RIGHT = 40.0, 340.0

#: One colour for each axis; after the last they begin again.
AXES = ("#8c4fc7", "#0f8b8d", "#c0417f", "#7f8010")

_STYLE = """
.ra-t{font:11px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;
  fill:currentColor}
.ra-s{font-size:10px;opacity:.8}
.ra-h{font:600 12px system-ui,"Segoe UI","DejaVu Sans",sans-serif}
.ra-p{font:11px system-ui,"Segoe UI","DejaVu Sans",sans-serif}
.ra-m{text-anchor:middle}.ra-e{text-anchor:end}
.ra-b{fill:none;stroke:currentColor;stroke-opacity:.45}
.ra-g{fill:none;stroke:currentColor;stroke-opacity:.45;stroke-dasharray:3 3}
.ra-l{fill:none;stroke:currentColor;stroke-width:1.2}
.ra-head{fill:currentColor}
.ra-producer{stroke:var(--producer,#c2571a);stroke-opacity:1;stroke-width:2}
.ra-consumer{stroke:var(--consumer,#1a6fc2);stroke-opacity:1;stroke-width:2}
.ra-struct{fill:var(--producer,#c2571a);fill-opacity:.09}
svg:root{color:#1f2328;background:#fff}
@media (prefers-color-scheme:dark){svg:root{color:#e6e6e6;background:#131416;
  --producer:#e8864a;--consumer:#5aa5ee}}
"""


class Drawing:
    """A picture that grows downwards: `y` is where the next part begins."""

    def __init__(self) -> None:
        self.y = 16.0
        self._parts: list[str] = []

    def text(self, x: float, y: float, words: str, kind: str = "") -> None:
        """Write one line; `kind` has classes of the style."""
        self._parts.append(
            f'<text x="{x:g}" y="{y:g}" class="ra-t {kind}">{_escape(words)}</text>'
        )

    def paragraph(self, words: str, kind: str = "ra-p", columns: int = 62) -> None:
        """Write lines that are broken to the width of the picture, and go on below."""
        for line in textwrap.wrap(words, columns):
            self.text(8, self.y, line, kind)
            self.y += 15

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        kind: str = "ra-b",
        color: str = "",
        shade: float = 0.0,
    ) -> None:
        """Draw a box, filled if a colour is given; `shade` is 0 to 1."""
        style = f' style="fill:{color};fill-opacity:{shade:g}"' if color else ""
        self._parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" '
            f'class="{kind}"{style}/>'
        )

    def line(
        self,
        points: Sequence[tuple[float, float]],
        color: str = "",
        dot: bool = False,
    ) -> None:
        """Draw a line with an arrow head at its end, and perhaps a dot at its start."""
        stroke = f' style="stroke:{color}"' if color else ""
        fill = f' style="fill:{color}"' if color else ""
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        self._parts.append(f'<polyline points="{path}" class="ra-l"{stroke}/>')
        (x0, y0), (x, y) = points[-2:]
        back = 5.0
        dx, dy = _sign(x - x0) * back, _sign(y - y0) * back
        wide, high = (0.0, 3.0) if dx else (3.0, 0.0)
        head = (
            f"{x:g},{y:g} {x - dx - wide:g},{y - dy - high:g} "
            f"{x - dx + wide:g},{y - dy + high:g}"
        )
        self._parts.append(f'<polygon points="{head}" class="ra-head"{fill}/>')
        if dot:
            x, y = points[0]
            self._parts.append(
                f'<circle cx="{x:g}" cy="{y:g}" r="2.5" class="ra-head"{fill}/>'
            )

    def open(self, tip: str) -> None:
        """Begin a group that shows a text where the pointer rests on it."""
        self._parts.append(f"<g><title>{_escape(tip)}</title>")

    def close(self) -> None:
        """End the group."""
        self._parts.append("</g>")

    def render(self, title: str, description: str) -> str:
        """Return the picture with its title and its description in words."""
        box = f"0 0 {WIDTH} {self.y:g}"
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" role="img" '
                f'aria-label="{_escape(title)}" class="refarray-picture" '
                'style="display:block;width:100%;max-width:30rem;height:auto">',
                f"<title>{_escape(title)}</title>",
                f"<desc>{_escape(description)}</desc>",
                f"<style>{_STYLE}</style>",
                *self._parts,
                "</svg>",
            ]
        )


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _escape(words: str) -> str:
    # XML has no way to write most control characters, not even as references.
    plain = "".join(
        c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in words
    )
    return escape(plain)
