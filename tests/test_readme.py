"""The example that README.md opens with prints what README.md says it prints."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

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
