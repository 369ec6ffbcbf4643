"""The data in memory, element by element, in the order of addresses.

A box is one place for an element. A place that the tensor jumps over is empty, and many
of these together are one box. An arrow for each axis leads from the first element to
the next along that axis: its stride.

Next: `inspection_svg.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from refarray.dlpack.inspection_drawing import AXES, LEFT, RIGHT, Drawing
from refarray.dlpack.inspection_memory import Description, Element

_HIGH = 30.0
_LANE = 7.0
# So many empty places are drawn one by one.
_EMPTY = 3
# After as many boxes side by side, a gap ends the row.
_RUN = 3
# So many axes are explained.
_LISTED = 6
_TIMES = "\N{MULTIPLICATION SIGN}"
# Width of a small letter.
_SMALL = 6.0
# From the box of the data pointer to the first row.
_ABOVE = 14.0


@dataclass
class _Place:
    """One box: elements at one address, or `skipped` places that hold none."""

    address: int
    elements: list[Element] = field(default_factory=list)
    skipped: int = 0
    row: int = 0
    column: int = 0


def strip(drawing: Drawing, tensor: Description, elements: tuple[Element, ...]) -> None:
    """Draw the elements, the strides between them, and what the colours mean."""
    places = list(_places(tensor, elements))
    texts = [_text(place.elements[0]) for place in places if place.elements]
    columns = _columns(max(map(len, texts)))
    _arrange(places, columns)
    steps = list(_steps(tensor, elements))
    at = {element: place for place in places for element in place.elements}
    tops = _tops(drawing.y + _ABOVE, places, [(at[a], at[b]) for _, a, b in steps])
    width = (RIGHT - LEFT) / columns
    for place in places:
        x = LEFT + place.column * width
        _draw(drawing, tensor, place, x, tops[place.row], width)
    first = at[elements[0]]
    if first.row == 0:
        middle = LEFT + (first.column + 0.5) * width
        drawing.line([(middle, drawing.y), (middle, tops[0])], dot=True)
    for lane, (axis, start, end) in enumerate(steps):
        _arrow(drawing, at[start], at[end], tops, width, lane, len(steps), axis)
    drawing.y = tops[-1] + 14
    _legend(drawing, tensor, elements, places)


def _places(tensor: Description, elements: tuple[Element, ...]) -> Iterator[_Place]:
    size = tensor.itemsize or 1
    places: dict[int, _Place] = {}
    for element in elements:
        place = places.setdefault(element.address, _Place(element.address))
        place.elements.append(element)
    ordered = [places[address] for address in sorted(places)]
    # What the whole tensor reaches before and after the elements that are shown.
    low, high = tensor.reach or (ordered[0].address, ordered[-1].address + size)
    yield from _empty(low, (ordered[0].address - low) // size)
    for place, following in pairwise(ordered):
        yield place
        gap = (following.address - place.address) // size - 1
        yield from _empty(place.address + size, gap, size)
    yield ordered[-1]
    last = ordered[-1].address + size
    yield from _empty(last, (high - last) // size)


def _empty(address: int, n: int, size: int = 0) -> Iterator[_Place]:
    """Yield boxes for n places without elements: one by one if `size` is given."""
    if n > _EMPTY or (n > 0 and not size):
        yield _Place(address, skipped=n)
    else:
        yield from (_Place(address + i * size, skipped=1) for i in range(n))


def _arrange(places: list[_Place], columns: int) -> None:
    """Give each box a row and a column."""
    row = column = run = 0
    for place in places:
        if column == columns:
            row, column = row + 1, 0
        place.row, place.column = row, column
        column += 1
        if place.skipped > 1:
            column = columns if run >= _RUN else column
            run = 0
        else:
            run += 1


def _columns(longest: int) -> int:
    return next((n for n in (8, 4, 2) if longest * 6.8 <= (RIGHT - LEFT) / n - 3), 1)


def _text(element: Element) -> str:
    value = element.value
    if value is None:
        return "?"
    if isinstance(value, float | complex):
        text = f"{value:.5g}"
        return text if isinstance(value, complex) or "e" in text else _decimal(text)
    text = str(value)
    return text if len(text) <= 40 else f"{text[:38]}\N{HORIZONTAL ELLIPSIS}"


def _decimal(text: str) -> str:
    """Mark a whole float as one: 1.0, not 1."""
    return f"{text}.0" if text.lstrip("-").isdigit() else text


def _steps(
    tensor: Description, elements: tuple[Element, ...]
) -> Iterator[tuple[int, Element, Element]]:
    """Yield for each axis that has a second index: axis, first element, second."""
    by_index = {element.indices: element for element in elements}
    start = elements[0]
    drawn = 0
    for axis in range(tensor.ndim):
        index = (*start.indices[:axis], 1, *start.indices[axis + 1 :])
        if index in by_index and drawn < len(AXES):
            drawn += 1
            yield axis, start, by_index[index]


def _tops(
    y: float, places: list[_Place], arrows: list[tuple[_Place, _Place]]
) -> list[float]:
    """Return the upper edge of each row, with room below it for its arrows; the end."""
    busy = {end.row for arrow in arrows for end in arrow}
    tops = [y]
    for row in range(places[-1].row + 1):
        room = _LANE * len(arrows) + 9 if row in busy else 6
        tops.append(tops[-1] + _HIGH + room)
    return tops


def _draw(
    drawing: Drawing,
    tensor: Description,
    place: _Place,
    x: float,
    y: float,
    width: float,
) -> None:
    middle = x + width / 2
    if place.column == 0:
        offset = place.address - tensor.first
        words = f"{offset:+d}" if abs(offset) < 10**5 else f"{offset:+.0e}"
        drawing.text(LEFT - 4, y + 18, words.replace("e+0", "e+"), "ra-s ra-e")
    if not place.elements:
        size = tensor.itemsize or 1
        drawing.open(
            f"{place.skipped * size} bytes between, from {place.address:#x} on"
        )
        drawing.box(x, y, width, _HIGH, "ra-g")
        if place.skipped > 1:
            dots, many = "\N{MIDLINE HORIZONTAL ELLIPSIS}", f"{place.skipped}"
            drawing.text(middle, y + 13, dots, "ra-m")
            count = many if len(many) < 7 else f"{place.skipped:.0e}"
            drawing.text(middle, y + 25, count, "ra-s ra-m")
        drawing.close()
        return
    names = [_index(element) for element in place.elements]
    first = place.elements[0]
    drawing.open(f"{' '.join(names[:8])} at {place.address:#x}: {_text(first)}")
    row = first.indices[0] if tensor.ndim > 1 else 1
    drawing.box(x, y, width, _HIGH, "ra-b", AXES[0], 0.06 + 0.16 * (row % 4))
    if place.address == tensor.first:
        drawing.box(x + 1.5, y + 1.5, width - 3, _HIGH - 3, "ra-b ra-producer")
    drawing.text(middle, y + 13, _text(first), "ra-m")
    label = names[0] if len(names) == 1 else f"{_TIMES}{len(names)}"
    if len(label) * _SMALL > width - 2:
        label = label.strip("[]")
    if len(label) * _SMALL <= width - 2:
        drawing.text(middle, y + 25, label, "ra-s ra-m")
    drawing.close()


def _index(element: Element) -> str:
    return f"[{','.join(map(str, element.indices))}]"


def _arrow(
    drawing: Drawing,
    start: _Place,
    end: _Place,
    tops: list[float],
    width: float,
    lane: int,
    lanes: int,
    axis: int,
) -> None:
    """Lead a line below the boxes, and beside them where it changes the row."""
    spread = (lane - (lanes - 1) / 2) * 6
    below = 4 + _LANE * (lane + 1)
    x0 = LEFT + (start.column + 0.5) * width + spread
    x1 = LEFT + (end.column + 0.5) * width + spread
    y0, y1 = tops[start.row] + _HIGH, tops[end.row] + _HIGH
    if start is end:
        x0, x1 = x0 - 4, x1 + 4
    points = [(x0, y0), (x0, y0 + below)]
    if start.row != end.row:
        beside = RIGHT + 6 + 6 * lane
        points += [(beside, y0 + below), (beside, y1 + below)]
    points += [(x1, y1 + below), (x1, y1 + 1)]
    drawing.line(points, AXES[axis % len(AXES)], dot=True)


# What the colours mean ---------------------------------------------------------------


def _legend(
    drawing: Drawing,
    tensor: Description,
    elements: tuple[Element, ...],
    places: list[_Place],
) -> None:
    axes = list(zip(tensor.shape or (), tensor.steps or (), strict=False))
    for axis, (n, step) in enumerate(axes[:_LISTED]):
        drawing.box(8, drawing.y - 9, 10, 10, "ra-b", AXES[axis % len(AXES)], 0.8)
        drawing.text(24, drawing.y, _stride(tensor, axis, n, step), "ra-p")
        drawing.y += 15
    notes = []
    if len(axes) > _LISTED:
        notes.append(f"And {len(axes) - _LISTED} axes more.")
    if tensor.ndim > 1:
        notes.append("One shade for each index of axis 0.")
    if tensor.size != len(elements):
        notes.append(f"{len(elements)} of {tensor.size:,} elements are drawn.")
    if any(place.skipped for place in places):
        notes.append("Dashed: places that are skipped, and how many.")
    if any(len(place.elements) > 1 for place in places):
        notes.append(f"{_TIMES}n: n elements in one place.")
    notes.append("At the left: bytes from the first element, which is framed.")
    drawing.paragraph(" ".join(notes))


def _stride(tensor: Description, axis: int, n: int, step: int) -> str:
    elements = "element" if abs(step) == 1 else "elements"
    nbytes = _short(step * (tensor.itemsize or 1))
    length = f"axis {axis}: {_short(n)} long"
    return f"{length}, step {_short(step)} {elements} = {nbytes} bytes"


def _short(n: int) -> str:
    return f"{n:,}" if abs(n) < 10**7 else f"{n:.1e}"
