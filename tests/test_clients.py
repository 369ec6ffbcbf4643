"""The tool that runs the test suites of clients: what it makes of their output."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def clients(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    import clients

    return clients


def test_counts(clients):
    counts = clients.counts
    last = "=== 2 failed, 7 passed, 1 error in 3.00s (0:00:03) ===\n"
    assert counts(f"FAILED tests/test_a.py::test_8_passed\n{last}") == {
        "passed": 7,
        "failed": 2,
        "errors": 1,
        "skipped": 0,
        "xfailed": 0,
        "xpassed": 0,
    }
    assert counts(
        "= 12 passed, 3 skipped, 9 deselected, 1 xfailed, 4 xpassed in 1s ="
    ) == {
        "passed": 12,
        "failed": 0,
        "errors": 0,
        "skipped": 3,
        "xfailed": 1,
        "xpassed": 4,
    }


def test_failed_tests(clients, tmp_path):
    report = tmp_path / "report.xml"
    report.write_text(
        """<testsuites><testsuite>
        <testcase classname="a.TestB" name="test_c[1]"><failure/></testcase>
        <testcase classname="a" name="test_d"><skipped type="pytest.xfail"/></testcase>
        <testcase classname="a" name="test_e"/>
        <testcase classname="f" name="test_g"><error/></testcase>
        </testsuite></testsuites>"""
    )
    assert list(clients.failed_tests(report)) == ["a.TestB::test_c[1]", "f::test_g"]


def run(passed, *failures):
    return {
        "passed": passed,
        "failed": len(failures),
        "errors": 0,
        "skipped": 3,
        "xfailed": 0,
        "xpassed": 0,
        "seconds": 5,
        "failures": list(failures),
    }


def test_problems(clients):
    suite = clients.Suite(
        "s", "e", "About it.", (), passed=10, failed=2, alone=("TestB::test_c",)
    )

    def problems(ours, theirs=None):
        runs = {"refarray": ours}
        if theirs is not None:
            runs["array-api-strict"] = theirs
        return clients.problems(suite, runs)

    assert problems(run(10)) == []
    assert problems(run(9)) == ["9 passed, at least 10 should"]
    assert problems(run(11, "a", "b", "c")) == ["3 failed, at most 2 may"]
    assert problems(run(11, "a"), run(12, "a")) == []
    assert problems(run(11, "a.TestB::test_c[x]"), run(12)) == []
    assert problems(run(11, "a.TestBB::test_c"), run(12)) == [
        "fail here alone: a.TestBB::test_c (1 in all)"
    ]


def test_the_page(clients, monkeypatch):
    suite = clients.Suite(
        "s", "e", "About it.", (), passed=10, failed=2, why="Because."
    )
    monkeypatch.setattr(clients, "SUITES", (suite,))
    found = {
        "date": "2026-11-29",
        "python": "3.13.0",
        "versions": {"numpy": "2.5.5"},
        "runs": {"refarray": run(11, "a", "b"), "array-api-strict": run(12, "a")},
    }
    page = clients.page({"s": found})
    assert "| [s](#s) | 10 passed, at most 2 failed | refarray | 11 | 2 | 3 |" in page
    assert "|  |  | array-api-strict | 12 | 1 | 3 | 0 | 5 |" in page
    assert "2 failed on refarray, 1 of them on array-api-strict too:\n\n- `a`\n" in page
    assert page.endswith("Because.\n")


def test_every_suite_has_an_environment_with_exact_versions(clients):
    for suite in clients.SUITES:
        main = clients.ENVIRONMENTS[suite.environment][0]
        assert "==" in main
        assert suite.environment in ("probes", main.partition("==")[0])


def test_the_python_that_is_given_is_taken(clients, monkeypatch):
    monkeypatch.setenv("PYTHON", "some/python")
    assert clients.find_python() == "some/python"


def test_failures_under_a_profile_have_a_cause(clients):
    import client_profiles

    def report(*files, error):
        lines = [f'  File "/e/array_api_extra/{file}", line 3, in f' for file in files]
        lines.append('  File "/e/refarray/_compute/array.py", line 9, in __bool__')
        return "\n".join([*lines, error])

    values = "TypeError: bool() needs the values of an array"
    there = report("tests/main/test_at.py", "_agnostic/_statistical.py", error=values)
    number = client_profiles.cause_of(there)
    assert client_profiles.CAUSES[number].fault == "the client's"
    number = client_profiles.cause_of(report("tests/main/test_at.py", error=values))
    assert client_profiles.CAUSES[number].fault == "by design"
    assert client_profiles.cause_of(report("_at.py", error="ZeroDivisionError")) is None
    assert client_profiles.cause_of("nothing that is known") is None


def test_a_profile_that_the_page_does_not_have_is_refused(clients, monkeypatch):
    import client_profiles

    monkeypatch.setattr("sys.argv", ["client_profiles.py", "gpu", "adversarial"])
    with pytest.raises(SystemExit, match=r"no profile 'adversarial' here; known: "):
        client_profiles.main()
