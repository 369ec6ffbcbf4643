"""The pytest plugin: each rule a test, in a test run of its own."""

from __future__ import annotations

import pytest

from refarray.testing.rules import RULES

pytest_plugins = ["pytester"]

ADAPTERS = """
from refarray.testing.violators import VIOLATORS

class Offset(VIOLATORS[46]):
    pass

class Device(VIOLATORS[40]):
    pass
"""


@pytest.fixture
def run(pytester):
    """Run pytest with the plugin in an empty folder."""
    pytester.makepyfile(adapters_here=ADAPTERS)

    def pytest_here(*arguments):
        return pytester.runpytest_inprocess(
            *("-p", "refarray.testing.plugin", "-p", "no:cacheprovider", "-v"),
            *arguments,
        )

    return pytest_here


def test_each_rule_is_a_test(run):
    ended = run(
        *("--dlpack-check", "adapters_here.py:Offset"),
        *("--dlpack-rule", "44-47,58"),
    )
    for line in (
        "dlpack::adapters_here.py:Offset: rule 44 PASSED",
        "dlpack::adapters_here.py:Offset: rule 46 FAILED",
        "dlpack::adapters_here.py:Offset: rule 47 PASSED",
        "Rule 46 (must): The first element lies at data + byte_offset.",
        "    in from_dlpack(x), byte_offset=16",
        "1 failed, 3 passed, 1 skipped",
    ):
        assert line in str(ended.stdout)
    assert "runtest" not in str(ended.stdout)
    assert ended.ret == 1


def test_what_is_recommended_or_allowed_is_an_expected_failure(run):
    ended = run(
        *("--dlpack-check", "adapters_here.py:Offset"),
        *("--dlpack-check", "adapters_here.py:Device:consumer"),
        *("--dlpack-rule", "1,40,46", "--dlpack-allow", "46"),
    )
    assert "adapters_here.py:Offset: rule 46 XFAIL" in str(ended.stdout)
    assert "adapters_here.py:Device:consumer: rule 40 XFAIL (only sho" in str(
        ended.stdout
    )
    assert "3 passed, 2 xfailed" in str(ended.stdout)
    assert ended.ret == 0


def test_one_rule_is_chosen_like_any_test(run):
    ended = run("--dlpack-check", "adapters_here.py:Device", "-k", "rule and 46")
    assert f"1 passed, {len(RULES) - 1} deselected" in str(ended.stdout)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nunpy"], "no adapter named 'nunpy'; did you mean numpy?"),
        (["adapters_here.py:Device", "--dlpack-rule", "99"], "there is no rule 99"),
        (["gone.py", "--dlpack-rule", "1"], "there is no file"),
    ],
)
def test_mistakes_are_explained(run, arguments, message):
    ended = run("--dlpack-check", *arguments)
    assert message in str(ended.stdout) + str(ended.stderr)
    assert "Traceback" not in str(ended.stdout) + str(ended.stderr)
    assert ended.ret in (1, 4)


def test_what_cannot_be_loaded_is_tried_once(run, pytester):
    pytester.makepyfile(
        broken="open('tries', 'a').write('x')\nraise ImportError('no library')"
    )
    ended = run("--dlpack-check", "broken.py", "--dlpack-rule", "1-5")
    assert str(ended.stdout).count("broken.py cannot be imported: no library") >= 5
    assert "5 failed" in str(ended.stdout)
    assert (pytester.path / "tries").read_text() == "x"


def test_nothing_happens_unasked(run):
    ended = run()
    assert "no tests ran" in str(ended.stdout)
