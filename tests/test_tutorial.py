"""Lessons 4 and 5, followed to the letter, end with what `check` passes."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILE = re.compile(r"```\{code-cell\}\n%%writefile (\S+)\n(.*?)```", re.DOTALL)


def follow(lesson, folder):
    """Write the files that a lesson lets its reader write; return the whole page."""
    page = (ROOT / "docs" / "tutorial" / lesson).read_text()
    for name, text in FILE.findall(page):
        (folder / name).write_text(text)
    return page


def run(folder, *arguments):
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


def broken(folder, adapter):
    """Return the exit status, and the rules that are not kept."""
    ended = run(folder, "-m", "refarray", "check", adapter, "--json", "found.json")
    rules = json.loads((folder / "found.json").read_text())["rules"]
    verdicts = {rule["rule"]: rule["verdict"] for rule in rules}
    return ended.returncode, {n for n, v in verdicts.items() if v in ("fail", "crash")}


@pytest.fixture
def producer(tmp_path):
    """The folder of a reader at the end of lesson 4."""
    page = follow("04-write-a-producer.md", tmp_path)
    ended = run(tmp_path, "build_rain.py")
    assert ended.returncode == 0, ended.stderr
    (code,) = re.findall(r'CODE = """\n(.*?)"""', page, re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 20
    return tmp_path


@pytest.mark.needs("C compiler")
def test_the_producer_of_lesson_4(producer):
    assert broken(producer, "adapter.py:producer") == (0, set())


@pytest.mark.needs("C compiler")
def test_the_producer_in_ctypes_of_lesson_4(producer):
    # What becomes of a callback after Python (rule 34) is undefined, but not good.
    status, rules = broken(producer, "adapter_ctypes.py:producer")
    assert status == 1
    assert rules == {32, 34}


def test_the_consumer_of_lesson_5(tmp_path):
    follow("05-write-a-consumer.md", tmp_path)
    assert broken(tmp_path, "adapter.py:consumer") == (0, set())
