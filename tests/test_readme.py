"""What README.md shows is printed, and what its table says was measured."""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
README = Path(__file__).parents[1] / "README.md"


def test_the_first_example() -> None:
    blocks = re.findall(r"```(\w+)\n(.*?)```", README.read_text(), flags=re.DOTALL)
    languages = [language for language, _ in blocks]
    python = languages.index("python")
    assert languages[python + 1] == "text", "the example's output comes right after it"

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(blocks[python][1], str(README), "exec"), {})
    assert printed.getvalue() == blocks[python + 1][1]


expected = runpy.run_path(str(ROOT / "docs" / "_extensions" / "expected.py"))
COMMANDS = re.findall(
    r"```sh\n\.venv/bin/python ([^\n]*)\n```\n\n```text\n(.*?)```",
    README.read_text(encoding="utf-8"),
    flags=re.DOTALL,
)


def test_each_reader_has_a_command() -> None:
    assert len(COMMANDS) == 3


@pytest.mark.parametrize(("command", "said"), COMMANDS)
def test_a_command_prints_what_is_shown(command: str, said: str) -> None:
    """Of NumPy it says what holds for the versions that it was tried with."""
    version = tuple(map(int, np.__version__.split(".")[:2]))
    if "numpy" in command and not (2, 2) <= version < (2, 6):
        pytest.skip(f"the README shows NumPy 2.2 to 2.5; here is {np.__version__}")
    if " standard " in command:
        pytest.importorskip("mpmath")
    ended = subprocess.run(
        [sys.executable, *shlex.split(command)],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert expected["agrees"](said, ended.stdout), ended.stdout


def test_the_table_shows_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "tools")
    import comparison

    text = README.read_text(encoding="utf-8")
    assert comparison.place(text) == text
