"""docs/explanation/how-to-read-this-code.md links to the lines that it shows."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]

_spec = importlib.util.spec_from_file_location(
    "code_tour", ROOT / "tools" / "code_tour.py"
)
code_tour = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(code_tour)


def test_each_link_leads_to_the_line_that_it_shows() -> None:
    page = code_tour.PAGE.read_text()
    assert code_tour.renumbered(page) == page, "run python tools/code_tour.py"


def test_each_link_to_a_line_shows_one_and_each_block_has_a_link() -> None:
    page = code_tour.PAGE.read_text()
    steps = len(code_tour.STEP.findall(page))
    assert steps == page.count("#L")
    assert steps == len(re.findall(r"^```\w+$", page, re.MULTILINE))


def test_wrong_numbers_are_put_right_and_missing_lines_named() -> None:
    page = code_tour.PAGE.read_text()
    wrong = re.sub(r", line(\s)\d+\]", r", line\g<1>7]", page)
    wrong = re.sub(r"#L\d+\)", "#L7)", wrong)
    assert wrong != page
    assert code_tour.renumbered(wrong) == page
    try:
        code_tour.line_of("x = nowhere\n", "setup.py")
    except LookupError as error:
        assert "0 times in setup.py" in str(error)
    else:
        raise AssertionError("found a line that is not there")
