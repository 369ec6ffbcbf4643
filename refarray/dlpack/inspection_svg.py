"""An inspection as a picture: the capsule, the struct byte by byte, what it points to.

A row of the struct is eight bytes, so that a field is as wide as it is in memory.

Next: `inspection_html.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from refarray.dlpack.inspection_drawing import AXES, LEFT, RIGHT, WIDTH, Drawing
from refarray.dlpack.inspection_strip import strip

if TYPE_CHECKING:
    from refarray.dlpack.inspection import Field, Inspection
    from refarray.dlpack.inspection_memory import Description

_BYTE = (RIGHT - LEFT) / 8
_HIGH = 32.0
# The lines from the struct run down beside it, each in a lane of its own.
_LANES = {"shape": 349.0, "strides": 359.0, "data": 369.0}
# So many extents are drawn; the last box stands for the others.
_EXTENTS = 6


def picture(it: Inspection) -> str:
    """Return the text of an SVG."""
    drawing = Drawing()
    _capsule(drawing, it)
    if it.fields:
        tails = _struct(drawing, it)
        if it.tensor is not None:
            _targets(drawing, it, it.tensor, tails)
    if it.unread:
        drawing.paragraph(f"Not read: {it.unread}.")
    for rule in it.broken:
        drawing.paragraph(f"\N{WARNING SIGN} breaks {rule}")
    drawing.y += 2
    return drawing.render(_title(it), _words(it))


def _title(it: Inspection) -> str:
    made = f" made by {it.producer}" if it.producer else ""
    return f"Capsule {it.name}{made}: {it.struct} in memory"


def _words(it: Inspection) -> str:
    """Return what the picture shows, for those who do not see it."""
    words = [
        f"{field.name} at offset {field.offset}: {field.value}" for field in it.fields
    ]
    for element in it.elements:
        index = ", ".join(map(str, element.indices))
        value = "not read" if element.value is None else element.value
        words.append(f"element [{index}] at {element.address:#x}: {value}")
    if it.unread:
        words.append(f"not read: {it.unread}")
    words += [f"breaks {rule}" for rule in it.broken]
    return "; ".join(words)


# The capsule and the struct ----------------------------------------------------------


def _capsule(drawing: Drawing, it: Inspection) -> None:
    whose = "ra-consumer" if it.consumed else "ra-producer"
    drawing.box(LEFT, drawing.y - 10, RIGHT - LEFT, 26, f"ra-b {whose}")
    drawing.text(LEFT + 8, drawing.y + 7, f'capsule "{it.name}"')
    top = drawing.y + 16
    drawing.line([(LEFT + 20, top), (LEFT + 20, top + 30)], dot=True)
    drawing.text(LEFT + 30, top + 13, f"{it.address:#x}")
    drawing.text(LEFT + 30, top + 26, it.struct)
    drawing.y = top + 32
    if not it.fields:
        drawing.box(LEFT, drawing.y, RIGHT - LEFT, 40, "ra-g")
        drawing.text(WIDTH / 2, drawing.y + 24, "not read", "ra-p ra-m")
        drawing.y += 60


def _struct(drawing: Drawing, it: Inspection) -> dict[str, tuple[float, float]]:
    """Draw the fields; return where the lines of the pointers among them begin."""
    top = drawing.y
    tails = {}
    inner = [field for field in it.fields if field.name.startswith("dl_tensor.")]
    for field in it.fields:
        y = top + field.offset // 8 * _HIGH
        _field(drawing, it, field, y)
        name = field.name.removeprefix("dl_tensor.")
        if name in _LANES and field.value != "NULL":
            tails[name] = (RIGHT - 8, y + _HIGH / 2)
    last = it.fields[-1]
    bottom = top + (last.offset + last.nbytes) // 8 * _HIGH
    drawing.box(LEFT, top, RIGHT - LEFT, bottom - top, "ra-b ra-producer")
    if inner:
        start = top + inner[0].offset // 8 * _HIGH
        end = inner[-1]
        high = (end.offset + end.nbytes - inner[0].offset) // 8 * _HIGH
        drawing.box(LEFT + 2, start + 2, RIGHT - LEFT - 4, high - 4, "ra-g")
    drawing.y = bottom + 18
    return tails


def _field(drawing: Drawing, it: Inspection, field: Field, y: float) -> None:
    x = LEFT + field.offset % 8 * _BYTE
    width = field.nbytes * _BYTE
    in_tensor = field.name.startswith("dl_tensor.")
    drawing.open(f"{field.ctype} {field.name} = {field.value}")
    drawing.box(x, y, width, _HIGH, "ra-b ra-struct" if in_tensor else "ra-b")
    if field.offset % 8 == 0:
        drawing.text(LEFT - 4, y + 20, f"+{field.offset}", "ra-s ra-e")
    name = field.name.removeprefix("dl_tensor.")
    short = name.split(".")[-1] if width < 4 * _BYTE else name
    drawing.text(x + 5, y + 12, short, "ra-s")
    if width > 7 * _BYTE:
        kind = field.ctype if len(field.ctype) < 24 else "function *"
        note = f"dl_tensor: {kind}" if name == "data" else kind
        drawing.text(RIGHT - 18, y + 12, note, "ra-s ra-e")
    room = int((width - 6) / 6.7)
    value = field.value.split(" (")[0] if len(field.value) > room else field.value
    drawing.text(x + 5, y + 26, value.split(" ->")[0][:room])
    drawing.close()


# What the pointers point to -----------------------------------------------------------


def _targets(
    drawing: Drawing,
    it: Inspection,
    tensor: Description,
    tails: dict[str, tuple[float, float]],
) -> None:
    for name in ("shape", "strides"):
        _extents(drawing, tensor, name, tails.get(name))
    _data(drawing, it, tensor, tails.get("data"))


def _pointer(
    drawing: Drawing, name: str, tail: tuple[float, float], y: float, x: float = RIGHT
) -> None:
    lane = _LANES[name]
    drawing.line([tail, (lane, tail[1]), (lane, y), (x + 1, y)], dot=True)


def _extents(
    drawing: Drawing,
    tensor: Description,
    name: str,
    tail: tuple[float, float] | None,
) -> None:
    where = tensor.shape_address if name == "shape" else tensor.strides_address
    found = tensor.shape if name == "shape" else tensor.strides
    implied = name == "strides" and not where
    extents = tensor.steps if implied else found
    if tail is None and not (implied and extents):
        return
    title = f"{name} at {where:#x}" if where else f"{name}: NULL, so row-major"
    drawing.text(LEFT, drawing.y, f"{title}, int64_t[{tensor.ndim}]")
    y = drawing.y + 5
    shown = (extents or ())[:_EXTENTS]
    more = len(extents or ()) - len(shown)
    boxes = len(shown) + bool(more)
    width = min(96.0, (RIGHT - LEFT) / max(boxes, 1))
    for axis, extent in enumerate(shown):
        x = LEFT + axis * width
        kind = "ra-g" if implied else "ra-b"
        drawing.open(f"{name}[{axis}] = {extent}")
        drawing.box(x, y, width, _HIGH, kind, AXES[axis % len(AXES)], 0.2)
        drawing.text(x + width / 2, y + 11, f"axis {axis}", "ra-s ra-m")
        text = str(extent) if len(str(extent)) * 6.8 < width else f"{extent:.0e}"
        drawing.text(x + width / 2, y + 25, text, "ra-m")
        drawing.close()
    if more:
        drawing.box(LEFT + (boxes - 1) * width, y, width, _HIGH, "ra-g")
        middle = LEFT + (boxes - 0.5) * width
        drawing.text(middle, y + 20, f"+{more} more", "ra-s ra-m")
    if not shown:
        drawing.box(LEFT, y, 96, _HIGH, "ra-g")
        words = "no axes" if extents == () else "not read"
        drawing.text(LEFT + 48, y + 20, words, "ra-p ra-m")
    if tail is not None:
        right = LEFT + max(boxes * width, 96 if not shown else 0)
        _pointer(drawing, name, tail, y + _HIGH / 2, right)
    drawing.y = y + _HIGH + 20


def _data(
    drawing: Drawing,
    it: Inspection,
    tensor: Description,
    tail: tuple[float, float] | None,
) -> None:
    size = tensor.size
    many = "" if size is None else f"{size:,} elements of " if size != 1 else "one "
    drawing.text(LEFT, drawing.y, f"{many}{tensor.dtype_name}"[:52], "ra-h")
    drawing.y += 6
    if tail is not None:
        words = f"data {tensor.data:#x}"
        if tensor.byte_offset:
            words += f" + {tensor.byte_offset}"
            words += "" if tensor.is_handle else f" = {tensor.first:#x}"
        drawing.box(LEFT, drawing.y, RIGHT - LEFT, 20)
        drawing.text(LEFT + 5, drawing.y + 14, words)
        _pointer(drawing, "data", tail, drawing.y + 10)
        drawing.y += 20
    if it.elements:
        strip(drawing, tensor, it.elements)
    else:
        drawing.y += 18
