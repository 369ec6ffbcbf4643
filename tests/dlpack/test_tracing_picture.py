"""The trace as a picture and as HTML: sound, escaped, and in two colours."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import refarray as xp
from refarray.dlpack import trace

PRODUCER, CONSUMER = "#c2571a", "#1a6fc2"
SVG = "{http://www.w3.org/2000/svg}"


class Odd:
    """A producer whose words would be markup."""

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **kwargs):
        raise BufferError("<script>alert('&')</script> \x00\x1b " + "long " * 60)


@pytest.fixture
def exchange():
    with trace(consumer="NumPy") as t:
        y = np.from_dlpack(t.watch(xp.ones((2, 3))))
    del y
    return t


@pytest.fixture
def refusal():
    with pytest.raises(BufferError), trace(producer="<odd>") as t:
        xp.from_dlpack(t.watch(Odd()))
    return t


def texts(t):
    root = ET.fromstring(t.svg())
    return [element.text for element in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("name", ["exchange", "refusal"])
def test_everything_is_in_the_picture(name, request):
    t = request.getfixturevalue(name)
    joined = re.sub(r"[^\w]+", "", " ".join(texts(t)))
    for step in t.steps:
        assert re.sub(r"[^\w]+", "", step.text) in joined
    assert {t.producer, t.consumer} <= set(texts(t))


@pytest.mark.parametrize("name", ["exchange", "refusal"])
def test_nothing_leaves_the_picture(name, request):
    t = request.getfixturevalue(name)
    root = ET.fromstring(t.svg())
    _, _, width, height = map(float, root.get("viewBox").split())
    heights = [float(e.get("y")) for e in root.iter(f"{SVG}text")]
    assert max(heights) < height and min(heights) > 0
    for element in root.iter(f"{SVG}text"):
        x, letters = float(element.get("x")), len(element.text)
        # 13 pixels high, a letter is less than 8 wide on average.
        if element.get("text-anchor") == "start":
            assert x + 7.2 * letters < width
        elif element.get("text-anchor") == "middle":
            assert x - 3.6 * letters > 0 and x + 3.6 * letters < width
        else:
            assert x - 7.2 * letters > 0


def test_each_side_has_its_colour(exchange):
    root = ET.fromstring(exchange.svg())
    arrows = [e.get("style") for e in root.iter(f"{SVG}path") if e.get("stroke-width")]
    colours = [PRODUCER if PRODUCER in style else CONSUMER for style in arrows]
    # The question, the capsule, and the deleter.
    assert colours == [CONSUMER, PRODUCER, CONSUMER]
    html = exchange._repr_html_()
    assert html.count(PRODUCER) == 2 and html.count(CONSUMER) == 5


def test_the_owner_has_the_thick_line(exchange):
    root = ET.fromstring(exchange.svg())
    bars = [e for e in root.iter(f"{SVG}line") if e.get("stroke-width") == "7"]
    owners = [PRODUCER if PRODUCER in e.get("style") else CONSUMER for e in bars]
    assert owners == [PRODUCER, CONSUMER, PRODUCER]
    assert [e.get("y2") for e in bars[:-1]] == [e.get("y1") for e in bars[1:]]


def test_no_markup_gets_in(refusal):
    for text in (refusal.svg(), refusal._repr_html_()):
        assert "<script>" not in text and "&lt;script&gt;" in text
    ET.fromstring(refusal._repr_html_().replace("&rarr;", ""))


def test_a_trace_of_nothing_can_be_looked_at():
    t = trace()
    assert str(t) == "producer (producer) -> consumer (consumer)"
    ET.fromstring(t.svg())
    assert "<table>" in t._repr_html_() and t.steps == t.unseen == ()
