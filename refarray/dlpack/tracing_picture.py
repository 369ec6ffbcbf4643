"""A trace to look at: a table as text and HTML, and a sequence diagram.

Next: `tracing.py`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from html import escape

from refarray.dlpack.tracing_steps import Step

# ---- Tables --------------------------------------------------------------------------


def _title(producer: str, consumer: str) -> str:
    return f"{_printable(producer)} (producer) -> {_printable(consumer)} (consumer)"


def table(
    producer: str, consumer: str, steps: Sequence[Step], unseen: Sequence[str]
) -> str:
    """Return the steps as lines of text, long ones wrapped."""
    threads = max((len(step.thread) for step in steps), default=0)
    lines = [_title(producer, consumer)]
    for step in steps:
        pieces = textwrap.wrap(_text(step, steps), 76) or [""]
        thread = _printable(step.thread)
        head = f"{step.number:3}  {step.who:8}  {thread:{threads}}  "
        lines.append(head + pieces[0])
        lines += [" " * len(head) + piece for piece in pieces[1:]]
    if unseen:
        lines.append("not seen:")
        lines += [
            textwrap.fill(text, 96, initial_indent="  - ", subsequent_indent="    ")
            for text in unseen
        ]
    return "\n".join(lines)


def _text(step: Step, steps: Sequence[Step]) -> str:
    """Return what happened, with the number of the capsule if there are several."""
    text = _printable(step.text)
    if step.capsule is None or all(s.capsule in (None, step.capsule) for s in steps):
        return text
    return f"[capsule {step.capsule}] {text}"


def _printable(text: str) -> str:
    """Return a text without the line breaks and control characters it may have."""
    return "".join(c if c.isprintable() else " " for c in text)


_COLOURS = {
    "producer": "var(--producer, #c2571a)",
    "consumer": "var(--consumer, #1a6fc2)",
    "trace": "currentColor",
}


def html_table(
    producer: str, consumer: str, steps: Sequence[Step], unseen: Sequence[str]
) -> str:
    """Return the steps as a table of HTML, and below it what was not seen."""
    rows = "".join(
        f'<tr><td>{step.number}</td><td style="color: {_COLOURS[step.who]}; '
        f'font-weight: 600">{step.who}</td>'
        f'<td style="text-align: left">{escape(_text(step, steps))}</td>'
        f"<td>{escape(_printable(step.thread))}</td></tr>"
        for step in steps
    )
    names = "".join(
        f'{arrow}<b style="color: {_COLOURS[who]}">{escape(_printable(name))}</b> '
        f"({who})"
        for arrow, name, who in (
            ("", producer, "producer"),
            (" &rarr; ", consumer, "consumer"),
        )
    )
    head = "".join(f"<th>{title}</th>" for title in ("", "who", "what", "thread"))
    rest = ""
    if unseen:
        items = "".join(f"<li>{escape(_printable(text))}</li>" for text in unseen)
        rest = f"<p>Not seen:</p><ul>{items}</ul>"
    return (
        f'<div class="refarray-trace"><p>{names}</p><table><thead><tr>{head}</tr>'
        f"</thead><tbody>{rows}</tbody></table>{rest}</div>"
    )


# ---- Sequence diagram ----------------------------------------------------------------

# As narrow as can be: a phone shows all of it.
_WIDTH = 580
_CONSUMER, _PRODUCER = 75, 445  # where the two lifelines stand
_LINE = 17  # from one line of text to the next
_CHARACTERS = 52  # that fit between the lifelines
_TO_OTHER = {
    "device asked",
    "device answered",
    "capsule asked",
    "capsule made",
    "deleter called",
}

# Alone in a browser the picture asks for dark or light itself; in a page it takes the
# page's colours.
_STYLE = (
    "svg:root { color: #222; background: #fff } @media (prefers-color-scheme: dark) "
    "{ svg:root { color: #ddd; background: #181818; --producer: #e8864a; "
    "--consumer: #5aa5ee } }"
)


def svg(producer: str, consumer: str, steps: Sequence[Step]) -> str:
    """Return a sequence diagram: the consumer left, the producer right, time down.

    A thick lifeline is that of the side which has to give the memory back.
    """
    parts: list[str] = []
    y = 62.0
    owners = [(y - 14, "producer")]
    taken = given_back = 0
    thread = ""
    for step in steps:
        lines = textwrap.wrap(_text(step, steps), _CHARACTERS) or [""]
        y += _LINE * len(lines) + 14
        parts += _words(14, y + 4, str(step.number), "", "start", faint=True)
        if step.thread and step.thread != thread:
            thread = step.thread
            name = _cut(thread, 18)
            parts += _words(_PRODUCER + 14, y + 4, name, "", "start", faint=True)
        parts += _draw(step, lines, y)
        taken += step.kind == "taken over"
        given_back += step.kind == "deleter called" and step.who == "consumer"
        owner = "consumer" if taken > given_back else "producer"
        if owner != owners[-1][1]:
            owners.append((y, owner))
    height = round(y + 44)
    ends = [start for start, _ in owners[1:]] + [height - 14.0]
    bars = [
        f'<line x1="{_x(who)}" y1="{start:g}" x2="{_x(who)}" y2="{end:g}" '
        f'style="stroke: {_COLOURS[who]}" stroke-width="7" stroke-linecap="round" '
        'opacity="0.45"/>'
        for (start, who), end in zip(owners, ends, strict=True)
    ]
    heads = [
        part
        for who, name in (("consumer", consumer), ("producer", producer))
        for part in (
            f'<line x1="{_x(who)}" y1="48" x2="{_x(who)}" y2="{height - 14}" '
            f'style="stroke: {_COLOURS[who]}" stroke-width="1.5"/>',
            *_words(_x(who), 20, _cut(name, 20), _COLOURS[who], "middle", bold=True),
            *_words(_x(who), 37, who, "", "middle", faint=True),
        )
    ]
    label = escape(_printable(f"Exchange of {producer} with {consumer}, step by step"))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
            f'width="{_WIDTH}" role="img" aria-label="{label}" '
            'font-family="system-ui, sans-serif" font-size="13" '
            'style="max-width: 100%; height: auto">',
            f"<style>{_STYLE}</style>",
            *heads,
            *bars,
            *parts,
            "</svg>",
        ]
    )


def _cut(name: str, length: int) -> str:
    name = _printable(name)
    return (
        name if len(name) <= length else f"{name[: length - 1]}\N{HORIZONTAL ELLIPSIS}"
    )


def _x(who: str) -> int:
    return _CONSUMER if who == "consumer" else _PRODUCER


def _draw(step: Step, lines: list[str], y: float) -> list[str]:
    """Return one step: an arrow to the other side, a point on a lifeline, or a line."""
    colour, x = _COLOURS[step.who], _x(step.who)
    if step.who == "trace":
        line = (
            f'<line x1="34" y1="{y:g}" x2="{_WIDTH - 16}" y2="{y:g}" '
            'stroke="currentColor" stroke-dasharray="2 5" opacity="0.6"/>'
        )
        middle = (_CONSUMER + _PRODUCER) / 2
        return [line, *_words(middle, y - 6, lines[0], "", "middle", faint=True)]
    is_left = step.who == "consumer"
    goes = step.kind in _TO_OTHER or (step.kind == "raised" and not is_left)
    if goes and "destructor" not in step.text:
        end = _PRODUCER - 6 if is_left else _CONSUMER + 6
        back = -9 if is_left else 9
        dashes = "" if step.kind != "raised" else ' stroke-dasharray="6 4"'
        mark = (
            f'<path d="M{x} {y:g}H{end}" style="stroke: {colour}" stroke-width="1.6" '
            f'fill="none"{dashes}/><path d="M{end} {y:g}l{back} -4.5v9z" '
            f'style="fill: {colour}"/>'
        )
        out, top, at = [mark], y - 6, (_CONSUMER + _PRODUCER) / 2
        anchor = "middle"
    else:
        out = [f'<circle cx="{x}" cy="{y:g}" r="5" style="fill: {colour}"/>']
        top, at = y + 4, x + 14 if is_left else x - 14
        anchor = "start" if is_left else "end"
    top -= _LINE * (len(lines) - 1)
    for i, line in enumerate(lines):
        out += _words(at, top + i * _LINE, line, "", anchor)
    return out


def _words(
    x: float,
    y: float,
    text: str,
    colour: str,
    anchor: str,
    *,
    faint: bool = False,
    bold: bool = False,
) -> list[str]:
    if not text:
        return []
    style = f"fill: {colour or 'currentColor'}"
    more = ' opacity="0.7" font-size="11.5"' if faint else ""
    more += ' font-weight="600"' if bold else ""
    return [
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" style="{style}"{more}>'
        f"{escape(text)}</text>"
    ]
