"""Each test and each command that docs/reference/promises.md names is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "reference" / "promises.md").read_text(encoding="utf-8")


def test_each_test_that_proves_a_promise_is_there() -> None:
    named = set(re.findall(r"`((?:\w+/)*\w+\.(?:py|h))\b", PAGE))
    assert len(named) > 10
    for name in named:
        # Beside the file that was named before it, if no folder is given.
        found = (ROOT / name).is_file() or (ROOT / "tests" / "stress" / name).is_file()
        assert found, name


def test_each_command_is_there() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    assert set(re.findall(r"`make ([a-z-]+)", PAGE)) <= targets
