"""The inspector's table and picture; and no struct, however broken, ends Python."""

import ctypes
import json
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import refarray as xp
from refarray.dlpack import from_capsule, inspect
from refarray.testing.forge import CUDA, Tensor, ffi, forge

GOOD = Tensor.of([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], (2, 3))
SVG = "{http://www.w3.org/2000/svg}"


def forged(**changes):
    return forge(GOOD.but(**changes))[0]


def consumed():
    capsule = xp.zeros(3).__dlpack__(max_version=(1, 3))
    from_capsule(capsule)
    return capsule


CASES = {
    "plain": lambda: np.arange(6.0).reshape(2, 3),
    "legacy": lambda: np.arange(6.0).__dlpack__(),
    "column-major": lambda: np.asfortranarray(np.ones((2, 3, 4), dtype="int16")),
    "backwards": lambda: np.arange(24.0).reshape(4, 6)[::2, ::-2],
    "repeated": lambda: np.broadcast_to(np.arange(3.0), (4, 3)),
    "complex": lambda: xp.asarray([1 + 2j, 3.5 - 1e10j]),
    "large": lambda: np.zeros((1000, 1000)),
    "far apart": lambda: np.zeros(5000)[::100],
    "no axes": lambda: xp.asarray(3.0),
    "empty": lambda: np.zeros((0, 3)),
    "64 axes": lambda: np.zeros((1,) * 62 + (2, 2)),
    "consumed": consumed,
    "device": lambda: forged(device=CUDA),
    "NULL everywhere": lambda: forged(data=None, shape=None, strides=None, ndim=2),
    "wrong shape": lambda: forged(shape=(2, -3)),
    "wrong type": lambda: forged(dtype=(200, 64, 4)),
    "offset": lambda: forged(shape=(4,), strides=(1,), byte_offset=16),
    "another version": lambda: forged(version=(2, 0)),
}
cases = pytest.mark.parametrize("make", CASES.values(), ids=CASES)


class Table(HTMLParser):
    """The cells of each row, and whether every tag is closed."""

    def __init__(self, html):
        super().__init__()
        self.open, self.rows = [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        if tag == "wbr":
            return
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


@cases
def test_the_table_has_every_field(make):
    found = inspect(make())
    html = found._repr_html_()
    table = Table(html)
    assert table.open == []
    assert table.rows[1:] == [
        [str(f.offset), f.name, f.ctype, f.value.replace("->", "→")]
        for f in found.fields
    ]
    # Nothing from elsewhere, no script, and no colour that assumes a background.
    assert not re.search(
        r"src=|href=|url\(|<script|background:#|color:(black|#000)", html
    )


@cases
def test_the_picture_is_well_formed_and_accessible(make):
    found = inspect(make())
    text = found.svg()
    root = ET.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root[0].tag == f"{SVG}title"
    assert root[1].tag == f"{SVG}desc"
    assert found.name in root[0].text
    for field in found.fields:
        assert f"{field.name} at offset {field.offset}: {field.value}" in root[1].text
    # It fits any width, and needs nothing from elsewhere.
    assert root.get("width") is None
    assert root.get("height") is None
    assert "width:100%" in root.get("style")
    assert not re.search(r"href|url\(|<image|<script|@import", text)


@cases
def test_the_picture_stays_within_its_edges(make):
    root = ET.fromstring(inspect(make()).svg())
    _, _, wide, high = map(float, root.get("viewBox").split())
    assert wide <= 400  # a unit is a pixel, more or less, at the width of a phone
    for box in root.iter(f"{SVG}rect"):
        x, y, w, h = (float(box.get(key)) for key in ("x", "y", "width", "height"))
        assert 0 <= x <= x + w <= wide
        assert 0 <= y <= y + h <= high
    for line in root.iter(f"{SVG}polyline"):
        for point in line.get("points").split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= wide
            assert 0 <= y <= high
    for text in root.iter(f"{SVG}text"):
        assert 0 <= float(text.get("y")) <= high
        kinds = text.get("class").split()
        size = 6.0 if "ra-s" in kinds else 5.9 if "ra-p" in kinds else 6.7
        length = size * len(text.text or "")
        x = float(text.get("x"))
        start = x - length * ("ra-e" in kinds) - length / 2 * ("ra-m" in kinds)
        assert start >= -2, text.text
        assert start + length <= wide + 2, text.text


def boxes(root):
    """What rests under the pointer over each box, with the texts in it."""
    for group in root.iter(f"{SVG}g"):
        tip = group.find(f"{SVG}title").text
        yield tip, [text.text for text in group.iter(f"{SVG}text")]


def test_the_picture_shows_fields_extents_and_elements():
    a = np.asarray([[0.5, 1.5, 2.5], [3.5, 4.5, 5.5]])
    found = inspect(a)
    texts = dict(boxes(ET.fromstring(found.svg())))
    assert texts["int32_t dl_tensor.ndim = 2"][-1] == "2"
    assert texts[f"void * dl_tensor.data = {a.ctypes.data:#x}"][:2] == ["+32", "data"]
    assert texts["shape[1] = 3"] == ["axis 1", "3"]
    assert texts["strides[0] = 3"] == ["axis 0", "3"]
    for i, j in np.ndindex(2, 3):
        where = a.ctypes.data + 24 * i + 8 * j
        drawn = texts[f"[{i},{j}] at {where:#x}: {a[i, j]}"]
        assert drawn[-2:] == [str(a[i, j]), f"[{i},{j}]"]


def test_elements_are_drawn_in_the_order_of_memory():
    a = np.asfortranarray([[1, 2, 3], [4, 5, 6]], dtype="int64")
    tips = [tip for tip, _ in boxes(ET.fromstring(inspect(a).svg())) if " at 0x" in tip]
    assert [int(tip.split(": ")[1]) for tip in tips] == [1, 4, 2, 5, 3, 6]


def test_places_that_are_skipped_are_drawn():
    root = ET.fromstring(inspect(np.arange(12.0)[::2]).svg())
    between = [tip for tip, _ in boxes(root) if "between" in tip]
    assert len(between) == 5
    assert all(tip.startswith("8 bytes between") for tip in between)
    root = ET.fromstring(inspect(np.arange(200.0)[::100]).svg())
    [(tip, texts)] = [box for box in boxes(root) if "between" in box[0]]
    assert tip.startswith("792 bytes between")
    assert "99" in texts


def test_names_of_producers_are_escaped():
    class Producer:
        def __dlpack__(self, *, max_version=None):
            return forged()

        def __dlpack_device__(self):
            return (1, 0)

    Producer.__qualname__ = '<b>&"\x00\ud800'
    found = inspect(Producer())
    ET.fromstring(found.svg().encode())
    assert "&lt;b&gt;&amp;" in found._repr_html_()
    assert Table(found._repr_html_()).open == []


# Broken structs ----------------------------------------------------------------------

WILD = [1, 8, 0xFFF, 2**32, 2**47, 2**63, 2**64 - 8, 0xDEAD_BEEF_0000]


def look(found):
    """Use all of an inspection."""
    str(found)
    json.dumps(found.to_dict(), allow_nan=False)
    Table(found._repr_html_())
    ET.fromstring(found.svg())
    return found


@pytest.mark.parametrize("wild", WILD)
def test_pointers_to_nothing(wild):
    found = look(inspect(forged(data=wild)))
    assert {e.value for e in found.elements} <= {None}
    capsule, case = forge(GOOD)
    for name in ("shape", "strides"):
        setattr(case.struct.versioned.dl_tensor, name, ffi.cast("int64_t *", wild))
        found = look(inspect(capsule))
        field = next(f for f in found.fields if f.name == f"dl_tensor.{name}")
        assert field.value == f"{wild:#x} (not read: nothing is there)"
        assert (24, "must") in [broken[:2] for broken in found.broken]
        assert found.elements == ()


@pytest.mark.parametrize("name", [b"dltensor", b"dltensor_versioned"])
@pytest.mark.parametrize("wild", WILD)
def test_capsules_over_nothing(name, wild):
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    found = look(inspect(new(wild, name, None)))
    assert found.fields == ()
    assert found.unread == "nothing is at the address in the capsule"


# The inspector lets the kernel copy memory that may be nobody's, by write(), which
# AddressSanitizer stops before the kernel can say that nothing is there.
@pytest.mark.slow
@pytest.mark.not_under_sanitizers("reads memory that may be nobody's")
def test_random_structs():
    # In a process of its own: what this must not do is end it.
    program = (
        "import test_inspection_looks as t\n"
        "for seed in range(400):\n"
        "    t.look(t.inspect(t.random_capsule(seed)))\n"
        "print('alive')"
    )
    out = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent,
    )
    assert out.stdout == "alive\n", out.stderr[-2000:]


def random_capsule(seed):
    """Return a capsule with random fields, half of them sensible."""
    choose = random.Random(seed)
    ints = [-(2**63), -(2**40), -1, 0, 1, 2, 3, 7, 2**31, 2**40, 2**62, 2**63 - 1]

    def extents():
        return tuple(choose.choice(ints) for _ in range(ndim))

    ndim = choose.choice([0, 1, 2, 3, 8, 64])
    return forged(
        data=choose.choice([None, GOOD.data, *WILD]),
        shape=choose.choice([None, extents(), tuple(range(1, ndim + 1))]),
        strides=choose.choice([None, extents(), (1,) * ndim]),
        ndim=choose.choice([None, None, -1, 10**9, -(2**31), 2]),
        dtype=choose.choice(
            [(2, 64, 1), (2, 64, 65535), (17, 4, 1), (255, 255, 0), (5, 64, 2)]
        ),
        device=choose.choice([(1, 0), (1, -1), (2, 3), (-(2**31), 2**31 - 1)]),
        byte_offset=choose.choice([0, 0, 8, 2**63, 2**64 - 1]),
        version=choose.choice([None, (1, 3), (1, 0), (0, 0), (2**32 - 1, 0)]),
        flags=choose.choice([0, 1, 4, 7, 2**64 - 1]),
        deleter=choose.choice([None, "counts"]),
    )
