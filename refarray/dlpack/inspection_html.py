"""An inspection as an HTML table: what a notebook shows.

It brings all of its looks and takes the colours of the page, dark or light.
Next: `inspection.py`.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from refarray.dlpack.inspection import Field, Inspection
    from refarray.dlpack.inspection_memory import Element

_CODE = "font-family:ui-monospace,monospace"
_CELL = (
    "text-align:left;padding:2px 10px 2px 0;vertical-align:top;"
    "border-bottom:1px solid rgba(128,128,128,.35)"
)
# Orange is the producer and blue the consumer, as in all of refarray's pictures.
_PRODUCER, _CONSUMER = "var(--producer,#c2571a)", "var(--consumer,#1a6fc2)"


def table(it: Inspection) -> str:
    """Return the table, with what was not read and the broken rules below it."""
    parts = [
        '<div class="refarray-inspection" style="overflow-x:auto;max-width:100%">'
        '<table style="border-collapse:collapse;font-size:.9em;color:inherit">',
        f'<caption style="text-align:left;padding-bottom:4px">{_caption(it)}</caption>',
    ]
    if it.fields:
        parts.append(_row("th", "offset", "field", "C type", "value"))
        parts += map(_field, it.fields)
    parts.append("</table>")
    if it.elements:
        parts.append(_paragraph(_elements(it)))
    if it.unread:
        parts.append(_paragraph(f"Not read: {escape(it.unread)}."))
    if it.broken:
        items = "".join(f"<li>breaks {escape(str(rule))}</li>" for rule in it.broken)
        parts.append(f'<ul style="margin:.5em 0;font-size:.9em">{items}</ul>')
    return "\n".join(parts) + "</div>"


def _caption(it: Inspection) -> str:
    color, whose = _PRODUCER, "belongs to the producer until somebody takes it"
    if it.consumed:
        color, whose = _CONSUMER, "consumed: this belongs to the consumer now"
    name = f'<b style="{_CODE};color:{color}">{escape(it.name)}</b>'
    made = f" made by {escape(it.producer)}" if it.producer else ""
    struct = f'<span style="{_CODE}">{escape(it.struct)}</span>'
    where = f'<span style="{_CODE}">{it.address:#x}</span>'
    return f"capsule {name}{made} &rarr; {struct} at {where} ({whose})"


def _field(it: Field) -> str:
    # On a phone a name breaks at its dots and a type between words, addresses never.
    name = escape(it.name).replace(".", ".<wbr>")
    ctype = re.sub("(?<=[a-z])(?=[A-Z])", "<wbr>", escape(it.ctype))
    value = escape(it.value.replace("->", "\N{RIGHTWARDS ARROW}"))
    return _row("td", str(it.offset), name, ctype, value)


def _row(tag: str, *cells: str) -> str:
    attributes = f'scope="col" style="{_CELL}"'
    if tag == "td":
        attributes = f'style="{_CELL};{_CODE}"'
    inner = "".join(f"<{tag} {attributes}>{cell}</{tag}>" for cell in cells)
    return f'<tr style="background:none">{inner}</tr>'


def _elements(it: Inspection) -> str:
    size = it.tensor.size if it.tensor else None
    shown = ", ".join(map(_element, it.elements))
    rest = "" if size == len(it.elements) else f", and others of {size}"
    return f'elements: <span style="{_CODE}">{shown}{rest}</span>'


def _element(it: Element) -> str:
    index = ",".join(map(str, it.indices))
    value = "?" if it.value is None else str(it.value)
    return f"[{index}]&nbsp;{escape(value)}"


def _paragraph(inner: str) -> str:
    return f'<p style="margin:.5em 0;font-size:.9em">{inner}</p>'
