"""The benchmarks judge what they measured, and every row runs. Nothing is timed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks import harness
from benchmarks.harness import Measure, Result, Row


def scripted(log: list[str], name: str, *seconds: float) -> Measure:
    """A measure that notes when it is called and returns the given samples in turn."""
    samples = iter(seconds)

    def measure() -> float:
        log.append(name)
        return next(samples)

    return measure


def test_rounds_interleave_and_the_fastest_counts() -> None:
    log: list[str] = []
    first = Row(
        "first",
        {
            "refarray": scripted(log, "a", 0.1, 3.0, 2.0),
            "numpy": scripted(log, "b", 0.1, 4.0, 5.0),
        },
    )
    second = Row("second", {"refarray": scripted(log, "c", 0.1, 7.0, 6.0)})
    results = harness.run([first, second], rounds=2)
    assert log == ["a", "b", "c"] * 3
    # the first round warms up and does not count
    assert results[0].seconds == {"refarray": 2.0, "numpy": 4.0}
    assert results[1].seconds == {"refarray": 6.0}
    assert results[0].ratio("numpy") == 0.5


def test_a_target_is_missed_only_above_it() -> None:
    row = Row("work", {}, {"numpy": 2.0, "torch": 0.5})
    result = Result(row, {"refarray": 2.0, "numpy": 1.0, "torch": 3.0})
    assert result.missed() == ["torch"]
    assert harness.verdict(result) == (
        "2.00x numpy (at most 2x), 0.67x torch (at most 0.5x) MISSED"
    )


def test_table() -> None:
    results = [
        Result(Row("share", {}, {"numpy": 3.0}), {"refarray": 3e-7, "numpy": 2e-7}),
        Result(Row("add", {}), {"refarray": 0.01234, "torch": 1.5}),
    ]
    assert harness.table(results).splitlines() == [
        "work   refarray   numpy  torch  ratio (target)",
        "share    300 ns  200 ns      -  1.50x numpy (at most 3x)",
        "add     12.3 ms       -  1.5 s  0.01x torch",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(2.0, "2 s"), (0.1, "100 ms"), (3.21e-5, "32.1 us"), (4.56e-7, "456 ns")],
)
def test_duration(seconds: float, text: str) -> None:
    assert harness.duration(seconds) == text


@pytest.mark.parametrize(("ours", "status"), [(3.0, 0), (3.5, 1)])
def test_command_fails_when_a_target_is_missed(
    ours: float,
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    measures = {"refarray": lambda: ours, "numpy": lambda: 1.0}
    rows = [Row("work", measures, {"numpy": 3.0})]
    monkeypatch.setattr(command, "SUBJECTS", {"planted": lambda: rows})
    file = tmp_path / "seconds.json"
    assert command.main(["--rounds", "1", "--json", str(file)]) == status
    assert ("MISSED" in capsys.readouterr().out) == bool(status)
    assert json.loads(file.read_text()) == {"work": {"refarray": ours, "numpy": 1.0}}


@pytest.mark.parametrize("subject", command.SUBJECTS)
def test_every_row_runs(subject: str) -> None:
    for row in command.SUBJECTS[subject]():
        assert harness.OURS in row.measures
        assert set(row.targets) < set(row.measures)
        for measure in row.measures.values():
            assert measure() > 0
