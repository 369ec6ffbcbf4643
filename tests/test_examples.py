"""Every example runs as a reader would run it, and prints what it promises.

Those in examples/distributed need an engine each: tools/engines.py runs them.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from examples_adapters import Consumer, Producer

from refarray.__main__ import main
from refarray.testing.rules import RULES

FOLDER = Path(__file__).parents[1] / "examples"
ADAPTERS = Path(__file__).with_name("examples_adapters.py")
EXAMPLES = sorted(path.name for path in FOLDER.glob("*.py"))


def run(name: str) -> list[str]:
    """Run an example, and return the lines that it prints."""
    ended = subprocess.run(
        [sys.executable, "-W", "error", FOLDER / f"{name}.py"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout.splitlines()


# ---- All of them ---------------------------------------------------------------------


def test_they_are_numbered_and_each_has_a_test() -> None:
    assert [int(name[:2]) for name in EXAMPLES] == list(range(1, len(EXAMPLES) + 1))
    own = Path(__file__).read_text("utf-8")
    for name in EXAMPLES:
        assert f'run("{name.removesuffix(".py")}")' in own


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_is_short_and_says_what_to_read_next(name: str) -> None:
    text = (FOLDER / name).read_text("utf-8")
    assert len(text.splitlines()) < 60
    docstring = ast.get_docstring(ast.parse(text)) or ""
    following = EXAMPLES[EXAMPLES.index(name) + 1 :]
    expected = f"Next: {following[0]}" if following else "This is the last example"
    assert expected in " ".join(docstring.split())
    for page in re.findall(r"docs/[\w/.-]+\.md", docstring):
        assert FOLDER.parent.joinpath(page).exists()


def test_the_page_lists_them() -> None:
    page = FOLDER.parent.joinpath("docs", "howto", "examples.md").read_text("utf-8")
    linked = set(re.findall(r"\(\.\./\.\./examples/([\w.]+)\)", page))
    assert linked == {path.name for path in FOLDER.iterdir() if path.is_file()}


# ---- One by one ----------------------------------------------------------------------


def test_share() -> None:
    assert run("01_share") == [
        "NumPy sees what refarray wrote: [100.0, 1.0, 2.0]",
        f"refarray's result in NumPy: {[3**0.5, 2.0, -1.0]}",
        "the memory is still there: [3., 4., 5.]",
        "given back to NumPy: 1",
        "given back to refarray: 1",
    ]


def test_inspect() -> None:
    lines = run("02_inspect")
    assert lines[0].startswith(
        "capsule 'dltensor_versioned' -> struct DLManagedTensorV"
    )
    assert any(
        re.match(r"  64  dl_tensor.strides .* \[1, 3\]$", line) for line in lines
    )
    assert lines[-5:-2] == [
        "strides count elements: [1, 3]",
        "NumPy counts bytes: (8, 24)",
        "",
    ]
    assert lines[-2] == "before: dltensor_versioned  after: used_dltensor_versioned"
    assert "it has been consumed" in lines[-1]


def test_trace() -> None:
    first, title, *lines = run("03_trace")
    assert first.startswith("while b lives: ['capsule asked', 'capsule made', 'taken o")
    assert "deleter" not in first
    assert title == "a (producer) -> b (consumer)"
    steps = [
        line for line in lines if re.match(r" +\d+  (producer|consumer|trace) ", line)
    ]
    assert "calls __dlpack__(" in steps[0] and " consumer " in steps[0]
    assert "makes a capsule, 'dltensor_versioned'" in steps[1]
    assert "calls the deleter: the memory goes back" in steps[-1]
    assert lines[-2] == "consumer calls __dlpack__()"
    assert lines[-1].startswith("producer raises BufferError: ")


@pytest.mark.needs("C compiler")
def test_a_minimal_producer() -> None:
    assert run("04_producer") == ["NumPy wrote 100.0"]


def test_a_minimal_consumer() -> None:
    assert run("05_consumer") == ["read in place: [0. 2. 4.]"]


def test_a_test_double() -> None:
    lines = run("06_test_double")
    assert lines[0] == "no fault: [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]"
    assert lines[1] == "an offset: [3.0, 4.0, 5.0, 6.0] expected [3.0, 4.0, 5.0, 6.0]"
    assert lines[2].startswith("producer 'byte_offset=16' (rule 46), made at 06_test_d")
    assert "leaked: the consumer took the tensor and did not call its" in lines[3]
    assert lines[4:] == [
        "deleter NULL: (2, 3); a right consumer accepts it",
        "shape (-1, 3): ValueError; a right consumer refuses it",
        "capsule of version (1, 99): (2, 3); a right consumer accepts it",
    ]


def test_streams() -> None:
    assert run("07_streams") == [
        "waits: True values: [3., 5., 7.]",
        "races found: 0",
        "waits: False values: [3., 5., 7.]",
        "races found: 1",
    ]


def test_shared_memory() -> None:
    expected = "doubled by the other process: [0., 2., 4.] [ 6.,  8., 10.]"
    assert run("08_shared_memory") == [expected]


def test_distributed() -> None:
    assert run("09_distributed") == [
        "all of them refarray's: True",
        "sum of 1: True",
        "sum of i: True",
        "sum of i**2: True",
        "none in this process: True",
    ]


# ---- Producer and consumer, against the rules ----------------------------------------


@pytest.mark.parametrize("name", ["04_producer.py", "05_consumer.py"])
def test_they_know_nothing_of_refarray(name: str) -> None:
    for node in ast.walk(ast.parse((FOLDER / name).read_text("utf-8"))):
        if isinstance(node, ast.Import):
            assert not any(alias.name.startswith("refarray") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not str(node.module).startswith("refarray")


@pytest.mark.parametrize(
    ("adapter", "rules", "not_applicable"),
    [
        # No numbers that cannot be exported, no read-only ones, no views, no GPU.
        pytest.param(
            *("Producer:producer", range(1, 37), {3, 15, 17, 18, 19, 21, 23, 25}),
            marks=pytest.mark.needs("C compiler"),
        ),
        ("Consumer:consumer", range(37, 61), {58}),
    ],
)
def test_they_keep_every_rule(
    adapter: str, rules: range, not_applicable: set[int], capsys: pytest.CaptureFixture
) -> None:
    assert main(["check", f"{ADAPTERS}:{adapter}"]) == 0
    out = capsys.readouterr().out
    kept = {int(n) for n in re.findall(r"^ {0,3}(\d+)  \w+ +pass ", out, re.M)}
    assert kept == {number for number in RULES if number in rules} - not_applicable
    assert "broken" not in out and "recommended" not in out


@pytest.mark.needs("C compiler")
def test_one_takes_what_the_other_gives() -> None:
    x = Producer().make([1, 2, 3, 4, 5, 6], (2, 3), "float64")
    y = Consumer.from_dlpack(x)
    y[1, 2] = 60.0
    assert x.memory.tolist() == [1, 2, 3, 4, 5, 60]
    del x
    assert y.tolist() == [[1, 2, 3], [4, 5, 60]]
    z = Consumer.from_dlpack(np.arange(6).reshape(2, 3)[::-1, ::2], copy=True)
    assert z.tolist() == [[3, 5], [0, 2]]
