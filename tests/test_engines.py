"""The tool that runs the engines, and what the pages say of it.

The examples themselves run with `make engines`, each in the environment of its engine.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "examples" / "distributed"
EXAMPLES = sorted(path.name for path in FOLDER.glob("*.py"))


@pytest.fixture
def engines(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    import engines

    return engines


def test_every_example_is_run(engines):
    run = [
        Path(part).name for _, command in engines.ENGINES.values() for part in command
    ]
    assert {name for name in run if name.endswith(".py")} == set(EXAMPLES)


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_and_its_page_name_each_other(example):
    text = FOLDER.joinpath(example).read_text()
    compile(text, example, "exec")
    (page,) = [line.split()[1] for line in text.split("\n") if line[:7] == "How-to:"]
    page = ROOT.joinpath(page.rstrip("."))
    assert f"(../../examples/distributed/{example})" in page.read_text()


def test_the_page_of_cubed_lists_what_does_not_pass(engines):
    page = ROOT.joinpath("docs", "howto", "cubed.md").read_text()
    for name in engines.NOT_PASSING:
        assert f"`{name}`" in page


def report(passed, failed):
    cases = [f'<testcase name="test_{i}"/>' for i in range(passed)]
    cases += [f'<testcase name="{name}"><failure/></testcase>' for name in failed]
    cases.append('<testcase name="test_skip"><skipped/></testcase>')
    return ElementTree.fromstring(f"<testsuite>{''.join(cases)}</testsuite>")


def test_failures_that_the_page_explains_are_right(engines, capsys):
    found = report(300, ["test_mean_int", "test_var[True-1.0-None]"])
    assert engines.judge(found) is True
    assert capsys.readouterr().out.splitlines()[-1] == "300 passed, 2 failed, 1 skipped"


def test_any_other_failure_is_wrong(engines, capsys):
    assert engines.judge(report(350, ["test_add[threads]"])) is False
    assert "does not say why: test_add[threads]" in capsys.readouterr().out


def test_too_few_that_pass_are_wrong(engines, capsys):
    assert engines.judge(report(287, [])) is False
    assert "at least 288" in capsys.readouterr().out


def test_an_unknown_engine_is_refused(engines, monkeypatch):
    monkeypatch.setattr("sys.argv", ["engines.py", "spark"])
    with pytest.raises(SystemExit, match="no engine 'spark'; known: mpi, dask, cubed"):
        engines.main()


def test_a_program_that_fails_is_told(engines, monkeypatch, tmp_path, capfd):
    monkeypatch.setenv("ENVIRONMENTS", str(tmp_path))
    folder = tmp_path / "engine-mpi" / "bin"
    folder.mkdir(parents=True)
    for status in (0, 3):
        folder.joinpath("mpiexec").write_text(f"#!/bin/sh\nexit {status}\n")
        folder.joinpath("mpiexec").chmod(0o755)
        assert engines.run_example(engines.Engine("mpi")) is (status == 0)
    command = "mpiexec -n 3 python examples/distributed/mpi_ring.py"
    assert command in capfd.readouterr().out
