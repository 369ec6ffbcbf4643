"""The command `python -m refarray check`, on doubles and on mistakes."""

from __future__ import annotations

import html.parser
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import refarray.testing.check
from refarray.__main__ import main
from refarray.testing.check import SIDES, chosen, known_adapters, resolve
from refarray.testing.rules import RULES

ROOT = Path(__file__).parents[2]
LAST = max(RULES)

GOOD = """
from refarray.testing.library import Library

class Good(Library):
    name, version = "good", "1.2"
"""
BAD = """
import os
from refarray.testing.library import Library
from refarray.testing.violators_consumer import Violator46

class Bad(Violator46):
    '''The byte offset is ignored; strides <b>crash</b>; lent tensors hang.'''
    name = "bad"

    def check_tensor(self, found):
        if found.strides is None:
            os.abort()
        super().check_tensor(found)

    def exchange_lend(self, x):
        while True:
            pass
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty folder with two adapters; commands run there."""
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "bad.py").write_text(BAD)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(*arguments: str) -> int:
    return main(["check", *arguments])


def test_every_rule_of_a_correct_library_is_kept(capsys):
    assert check("good.py") == 0
    out = capsys.readouterr().out
    assert out.startswith("good 1.2, Python 3.")
    numbers = [int(n) for n in re.findall(r"^ {0,3}(\d+)  \w+ +pass ", out, re.M)]
    skipped = [15, 17, 18, 19, 58]
    assert numbers == [n for n in RULES if n not in skipped]
    assert "15, 19, 58: the rule is about kDLCUDA or kDLROCM" in out
    assert out.endswith("65 kept, 5 not applicable\n")


def test_what_is_broken_is_told_with_the_way_to_see_it(capsys):
    assert check("bad.py:Bad", "--rule", "45-46") == 1
    out = capsys.readouterr().out
    assert "  46  must    fail  The first element lies at data + byte_offset." in out
    assert "in from_dlpack(x), byte_offset=16" in out
    assert "1 kept, 1 broken" in out


def test_crash_and_hang_are_findings_and_the_rest_goes_on(capsys, monkeypatch):
    monkeypatch.setenv("REFARRAY_CHECK_PATIENCE", "0.5")
    assert check("bad.py", "--rule", "47,67-68", "--json", "found.json") == 1
    rules = json.loads(Path("found.json").read_text())["rules"]
    assert [(r["rule"], r["verdict"]) for r in rules] == [
        (47, "crash"),
        (67, "crash"),
        (68, "pass"),
    ]
    assert rules[0]["findings"][0]["seen"] == "the process died of SIGABRT"
    assert rules[1]["findings"][0]["seen"] == "no answer after 0.5 s"
    assert "2 crashed" in capsys.readouterr().out


def test_one_side_of_a_library():
    assert resolve("good.py:consumer") == ("good.py", range(37, 61))
    assert resolve("pkg.mod:Class:exchange") == ("pkg.mod:Class", range(61, 71))
    assert resolve("pkg.mod:Class") == ("pkg.mod:Class", range(1, 71))


def test_broken_rules_can_be_allowed(capsys):
    assert check("bad.py", "--rule", "46", "--allow", "46") == 0
    assert "Allowed" not in capsys.readouterr().out
    assert check("bad.py", "--rule", "45,46", "--allow", "45") == 1
    assert capsys.readouterr().out.endswith("Allowed, but kept: 45\n")


def test_only_recommended_rules_do_not_count(folder, capsys):
    folder.joinpath("lax.py").write_text(
        "from refarray.testing.violators import VIOLATORS\n"
        "class Lax(VIOLATORS[40]):\n    pass\n"
    )
    assert check("lax.py", "--rule", "40") == 0
    assert "1 not kept, but only recommended" in capsys.readouterr().out


def test_a_rule_is_explained(capsys):
    assert check("--explain", "46") == 0
    out = capsys.readouterr().out
    assert "Rule 46 (must)" in out
    assert "The first element lies at data + byte_offset." in out
    assert "rules_contents" in out and "Violator46" in out


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.stack, self.words, self.seen = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag != "meta":
            self.stack.append(tag)

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_the_page_needs_nothing_else(folder):
    assert check("bad.py", "--rule", "46", "--html", "page.html") == 1
    page = Page(folder.joinpath("page.html").read_text(encoding="utf-8"))
    assert page.stack == []
    assert not [tag for tag, a in page.seen if {"src", "href"} & set(a)]
    viewport = {"name": "viewport", "content": "width=device-width, initial-scale=1"}
    assert ("meta", viewport) in page.seen
    assert ("details", {"class": "fail", "open": None}) in page.seen
    text = "".join(page.words)
    assert "prefers-color-scheme: dark" in text
    assert "from_dlpack(x), byte_offset=16" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nunpy"], "no adapter named 'nunpy'; did you mean numpy?"),
        (["nunpy"], "By name: array_api_strict, "),
        ([], "which library?"),
        (["--json", "good.py"], "--json took good.py for its file; the library first"),
        (["good.py", "--rule", f"{LAST + 1}"], f"there is no rule {LAST + 1}; rules a"),
        (["good.py", "--rule", "x"], f"'x' is no rule; rules are 1 to {LAST}"),
        (["good.py", "--rule", "5-3"], "'5-3' is no range of rules: the lower comes"),
        (["good.py", "--rule", "1-9999999999"], "there is no rule 9999999999"),
        (["good.py", "--rule", "0"], "there is no rule 0; rules are 1 to"),
        (["good.py", "--allow", "0"], "there is no rule 0; rules are 1 to"),
        (
            ["good.py:producer", "--rule", "46"],
            "--rule 46 is none of the rules for good.py:producer, which are 1 to 36",
        ),
        (["--explain", "0x2e"], "'0x2e' is no rule"),
        (["--explain", "0"], "there is no rule 0; rules are 1 to"),
        (["gone.py"], "there is no file"),
        (["good.py:Nobody"], "good.py has no Nobody; adapters in it: Good"),
        (["no.such:Thing"], "no.such cannot be imported: No module named 'no'"),
        (["json:loads"], "json:loads is no subclass of refarray.testing.adapters.Ad"),
        (["good.py", "--json", "no/x.json"], "there is no folder no for x.json"),
        (["good.py", "--rule", "1", "--html", "."], ". cannot be written: Is a"),
    ],
)
def test_mistakes_are_explained(capsys, arguments, message):
    assert check(*arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import no_such_library", "cannot be imported: No module named"),
        ("1 / 0", "fails with ZeroDivisionError: division by zero"),
        ("import os; os.abort()", "cannot be loaded: the process died of SIGABRT"),
        ("x = 1", "has no adapter: no class in it is a refarray.testing.adapters.A"),
        (f"{GOOD}\nclass Other(Good): pass", "has 2 adapters: Good, Other. Name one"),
    ],
)
def test_an_adapter_that_cannot_be_loaded_is_explained(folder, capsys, text, message):
    folder.joinpath("mine.py").write_text(text)
    assert check("mine.py") == 2
    assert message in capsys.readouterr().err


def test_an_interruption_is_no_traceback(capsys, monkeypatch):
    def interrupt(name, rules):
        raise KeyboardInterrupt

    monkeypatch.setattr(refarray.testing.check, "judge", interrupt)
    assert check("good.py") == 130
    assert capsys.readouterr().err == "python -m refarray check: interrupted\n"


def test_rules_are_chosen_in_several_ways():
    assert [r.number for r in chosen(["5,8", "2-3", "8"])] == [2, 3, 5, 8]
    assert chosen([]) == []
    assert chosen(None) == list(RULES.values())


def test_every_rule_is_about_one_side():
    assert [number for side in SIDES.values() for number in side] == list(RULES)


def test_adapters_here_come_first(folder):
    folder.joinpath("adapters").mkdir()
    folder.joinpath("adapters", "numpy.py").write_text(GOOD)
    assert known_adapters()["numpy"] == folder.joinpath("adapters", "numpy.py")
    assert known_adapters(folder)["good"] == folder / "good.py"


def test_json_takes_the_place_of_the_table(capsys):
    assert check("good.py", "--rule", "46", "--json") == 0
    (rule,) = json.loads(capsys.readouterr().out)["rules"]
    assert (rule["rule"], rule["verdict"]) == (46, "pass")
    assert check("--explain", "46", "--json") == 0
    assert json.loads(capsys.readouterr().out)["level"] == "must"


def test_the_how_to_leads_to_an_adapter(folder, capsys):
    page = ROOT / "docs" / "howto" / "check-your-library.md"
    blocks = re.findall(r"```(\w+)\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    (adapter,) = [text for kind, text in blocks if kind == "python"]
    folder.joinpath("mine.py").write_text(adapter)
    commands = [
        line for kind, text in blocks if kind == "sh" for line in text.split("\n")
    ]
    prefix = "python -m refarray check "
    for line in commands:
        if line.startswith(prefix):
            arguments = line.removeprefix(prefix).split()
            whole = "--rule" in arguments or "--explain" in arguments
            check(*arguments, *([] if whole else ["--rule", "24,46,61"]))
            assert capsys.readouterr().err == ""
    assert folder.joinpath("report.html").exists()


def test_numpy_by_name(folder):
    command = [sys.executable, "-m", "refarray", "check", "numpy", "--rule", "1,46"]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "2 kept" in ended.stdout
