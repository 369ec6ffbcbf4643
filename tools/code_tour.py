"""The line numbers in docs/explanation/how-to-read-this-code.md, made right again.

    python tools/code_tour.py

Each link to a line is followed by a block with the text of that line, and perhaps of
some after it. The text says where the link has to lead; it stands in its file once.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "explanation" / "how-to-read-this-code.md"

# [file, line 1](../../file#L1), perhaps more of the paragraph, and the block.
STEP = re.compile(
    r"\[(?P<file>[\w./]+), line\s(?P<line>\d+)\]\(\.\./\.\./(?P=file)#L\d+\)"
    r"(?P<between>(?:(?!\]\(|```).)*?)\n\n"
    r"```(?:c|python)\n(?P<block>.*?)```",
    re.DOTALL,
)


def line_of(block: str, file: str) -> int:
    """Return the number of the line at which `block` stands in a file.

    Indentation aside. LookupError unless it stands there once.
    """
    wanted = [line.strip() for line in block.splitlines()]
    lines = [line.strip() for line in (ROOT / file).read_text().splitlines()]
    found = [
        number
        for number in range(len(lines))
        if lines[number : number + len(wanted)] == wanted
    ]
    if len(found) != 1:
        raise LookupError(f"{len(found)} times in {file}, not once:\n{block}")
    return found[0] + 1


def renumbered(text: str) -> str:
    """Return the page with right line numbers. LookupError as above."""

    def step(match: re.Match[str]) -> str:
        file, number = match["file"], line_of(match["block"], match["file"])
        space = re.search(r"line(\s)", match[0])
        assert space
        link = f"[{file}, line{space[1]}{number}](../../{file}#L{number})"
        return link + match[0][match[0].index(")") + 1 :]

    return STEP.sub(step, text)


if __name__ == "__main__":
    before = PAGE.read_text()
    try:
        after = renumbered(before)
    except LookupError as error:
        sys.exit(str(error))
    PAGE.write_text(after)
    print("changed" if after != before else "all numbers were right")
