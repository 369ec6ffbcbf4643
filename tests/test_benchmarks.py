"""The benchmarks judge what they measured, and every row runs. Nothing is timed."""

from __future__ import annotations

import itertools
import json
import math
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks import harness, libraries, plot, record, report, rows_size
from benchmarks.harness import Measure, Result, Row, Summary, Target, at_most


@pytest.fixture(autouse=True)
def only_numpy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No other library is loaded, installed or not: they have settings for all."""
    for module in ("array_api_strict", "torch", "jax", "tvm_ffi"):
        monkeypatch.setitem(sys.modules, module, None)
    libraries.libraries.cache_clear()
    yield
    libraries.libraries.cache_clear()


def scripted(log: list[str], name: str, *values: float) -> Measure:
    """A measure that notes when it is called and returns the given samples in turn."""
    samples = iter(values)

    def measure() -> float:
        log.append(name)
        return next(samples)

    return measure


def constant(**values: float) -> dict[str, Measure]:
    return {name: lambda value=value: value for name, value in values.items()}


# Measuring ---------------------------------------------------------------------------


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
    results = harness.run(lambda: [first, second], rounds=2, seconds=0)
    assert log == ["a", "b", "c"] * 3
    # the first round warms up and does not count
    assert results[0].values == {"refarray": 2.0, "numpy": 4.0}
    assert results[1].values == {"refarray": 6.0}
    assert results[0].ratio("numpy") == 0.5


def test_rounds_go_on_until_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(100))  # a second passes between two looks at it
    monkeypatch.setattr(harness.time, "monotonic", lambda: next(clock))
    log: list[str] = []
    row = Row("work", {"refarray": scripted(log, "a", *[1.0] * 100)})
    harness.run(lambda: [row], rounds=2, seconds=10)
    assert len(log) == 9 + 3  # the time is not looked at before two rounds counted


def test_while_a_target_is_missed_there_are_more_sittings() -> None:
    def sittings(*ours: float) -> tuple[int, float]:
        """How many there are when at most 2.0 is allowed, and what is found."""
        samples = iter(ours)
        made: list[int] = []

        def make() -> list[Row]:
            made.append(0)
            value = next(samples)
            measures = constant(refarray=value)  # arrays of this sitting
            return [Row("work", measures, at_most(refarray=2.0), unit="B")]

        (result,) = harness.run(make, rounds=2, seconds=0)
        return len(made), result.values["refarray"]

    assert sittings(1.0) == (1, 1.0)
    assert sittings(5.0, 4.0, 1.5) == (3, 1.5)  # until it is met
    assert sittings(3.0, *[4.0] * 5) == (harness.PATIENCE, 3.0)  # the least of all


def test_a_summary_combines_the_least_of_its_parts() -> None:
    parts = [
        Row("a", constant(refarray=2.0, numpy=1.0, torch=1.0)),
        Row("b", constant(refarray=8.0, numpy=9.0)),
    ]
    mean = Summary("mean", parts, harness.geometric_mean, at_most(numpy=1.5))
    # a part is measured whether or not it has a line of its own
    results = harness.run(lambda: [parts[0], mean], rounds=1, seconds=0)
    assert [result.work for result in results] == ["a", "mean"]
    assert results[1].values == pytest.approx({"refarray": 4.0, "numpy": 3.0})
    assert results[1].ratio("numpy") == pytest.approx(4 / 3)
    assert results[1].missed() == []


@pytest.mark.parametrize(
    ("extra", "loops", "sample"),
    [
        ([3.0, 1.0, 2.0], [1, 2, 4], 2.5),  # runs of 5, 5 and 10 seconds
        ([18.0, 0.0], [1, 1], 2.0),  # the time is up, but there was only one run
        ([98.0], [1], 100.0),
    ],
)
def test_a_sample_is_the_least_of_several_runs(
    extra: list[float],
    loops: list[int],
    sample: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(harness, "RUN_SECONDS", 10.0)
    monkeypatch.setattr(harness, "SAMPLE_SECONDS", 20.0)
    monkeypatch.setattr(harness, "LONG_SECONDS", 60.0)
    monkeypatch.setattr(harness, "WARM_RUNS", 2)
    waits = iter(extra)
    seen: list[int] = []

    class Timer:
        def __init__(self, code: str, globals: dict[str, object]) -> None:
            assert (code, globals) == ("f(x)", {"x": 3})

        def timeit(self, number: int) -> float:
            seen.append(number)
            return 2.0 * number + next(waits)

    monkeypatch.setattr(harness.timeit, "Timer", Timer)
    assert harness.statement("f(x)", x=3)() == sample
    assert seen == loops


@pytest.mark.needs("wait4")
def test_a_child_process_that_fails_is_no_result() -> None:
    with pytest.raises(RuntimeError, match="raise SystemExit"):
        harness.child_process("raise SystemExit(1)")()


def test_a_library_that_is_missing_is_complained_about_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert list(libraries.libraries()) == list(libraries.libraries())
    assert list(libraries.libraries()) == ["refarray", "numpy"]
    complaints = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in complaints] == ["NOT MEASURED"] * 4


# Judging -----------------------------------------------------------------------------


def test_a_target_is_missed_only_above_it() -> None:
    targets = at_most(numpy=2.0, torch=0.5, array_api_strict=0.1)
    result = Result("work", {"refarray": 2.0, "numpy": 1.0, "torch": 3.0}, targets)
    assert result.missed() == ["torch"]
    # the last is not installed
    assert report.verdict(result) == (
        "2.00x numpy (at most 2x), 0.67x torch (at most 0.5x) MISSED"
    )


def test_a_target_of_our_own_limits_the_value() -> None:
    result = Result("work", {"refarray": 2e-8, "numpy": 0.0}, at_most(refarray=15e-9))
    assert result.missed() == ["refarray"]
    assert report.verdict(result) == "(at most 15 ns) MISSED"


def test_an_aim_may_stay_unmet() -> None:
    targets = {"numpy": Target(2.0, aim=1.0)}
    result = Result("work", {"refarray": 1.5, "numpy": 1.0}, targets)
    assert result.missed() == []
    assert report.verdict(result) == "1.50x numpy (at most 2x, aim 1x)"


def test_the_steepest_step_is_that_beyond_its_share() -> None:
    rows = rows_size.rows()
    (summary,) = [row for row in rows if row.work == "steepest step, add"]
    sizes = [part.point[1] for part in summary.parts]
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (1, 10**8)
    assert summary.combine([1.0] * len(sizes)) == 1.0
    assert summary.combine([float(n) for n in sizes]) == pytest.approx(1.0)
    assert summary.combine([float(n) ** 2 for n in sizes]) == pytest.approx(12.5)


# Reporting ---------------------------------------------------------------------------

RESULTS = {
    "small": [
        Result("share_it", {"refarray": 3e-7, "numpy": 2e-7}, at_most(numpy=3.0)),
        Result("a * b", {"refarray": 0.01234, "torch": 1.5}),
    ],
    "breakdown": [Result("add: view", {"refarray": 2e-7})],
    "memory": [Result("array", {"refarray": 200, "numpy": 100}, unit="B")],
    "size": [
        Result(
            f"{work}, {10**k} bytes",
            {"refarray": 2.0 * 10**k, "numpy": 1.0 * 10**k, "torch": 1000.0 * 2**k},
            point=(work, 10**k),
        )
        for work in ("add", "sum")
        for k in range(9)
    ],
}


def test_table() -> None:
    assert report.table(RESULTS).splitlines() == [
        "           refarray   numpy  torch  refarray / other (target)",
        "",
        "small",
        "share_it     300 ns  200 ns      -  1.50x numpy (at most 3x)",
        "a * b       12.3 ms       -  1.5 s",
        "",
        "breakdown",
        "add: view    200 ns       -      -",
        "",
        "memory",
        "array         200 B   100 B      -  2.00x numpy",
        "",
        "size",
    ]


def test_markdown() -> None:
    text = report.markdown(RESULTS)
    assert r"| share\_it | 300 ns | 200 ns | - | 1.50x numpy (at most 3x) |" in text
    assert r"| a \* b | 12.3 ms | - | 1.5 s |  |" in text
    for block in text.split("\n\n")[1::2]:
        assert (
            len({line.replace(r"\|", "").count("|") for line in block.split("\n")}) == 1
        )


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (2.0, "s", "2 s"),
        (0.1, "s", "100 ms"),
        (3.21e-5, "s", "32.1 us"),
        (4.56e-7, "s", "456 ns"),
        (-2e-9, "s", "-2 ns"),
        (1.333, "x", "1.33x"),
        (416, "B", "416 B"),
    ],
)
def test_amount(value: float, unit: str, text: str) -> None:
    assert report.amount(value, unit) == text


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder of documentation before a run."""
    (tmp_path / "reference").mkdir()
    (tmp_path / "explanation").mkdir()
    text = "before\n<!-- figures -->\nold\nones\n<!-- end -->\nafter\n"
    (tmp_path / "explanation" / "speed.md").write_text(text)
    return tmp_path


def test_a_record_is_read_as_it_was_written(docs: Path) -> None:
    record.write(docs, RESULTS)
    text = (docs / "reference" / "speed.json").read_text()
    assert record.from_json(text) == RESULTS
    assert set(json.loads(text)["versions"]) == {"numpy"}
    explanation = (docs / "explanation" / "speed.md").read_text().splitlines()
    assert explanation[0::6] == ["before", "after"]
    assert explanation[1:6] == [
        "<!-- figures -->",
        "|  | time |",
        "| --- | ---: |",
        "| add: view | 200 ns |",
        "<!-- end -->",
    ]


def test_the_documentation_shows_the_record() -> None:
    docs = Path(__file__).resolve().parents[1] / "docs"
    text = (docs / "reference" / "speed.json").read_text()
    results = record.from_json(text)
    points = [result for rows in results.values() for result in rows]
    assert (docs / "reference" / "speed.md").read_text() == record.page(text)
    assert (docs / "reference" / "speed.svg").read_text() == plot.svg(points)
    explanation = (docs / "explanation" / "speed.md").read_text()
    assert explanation == record.with_figures(explanation, results)
    assert set(results) == set(command.SUBJECTS)


# The plot ----------------------------------------------------------------------------

SVG = "{http://www.w3.org/2000/svg}"


def test_curves_are_in_units_of_numpy() -> None:
    curves = plot.curves(RESULTS["small"] + RESULTS["size"])
    assert list(curves) == ["add", "sum"]
    assert curves["add"]["refarray"] == [(10**k, 2.0) for k in range(9)]
    assert curves["sum"]["torch"][1] == (10, 200.0)


def test_a_scale_has_whole_decades() -> None:
    scale = plot.Scale([3.0, 40.0, 900.0], start=100.0, end=40.0)
    assert list(scale.decades()) == [0, 1, 2, 3]
    assert [scale(10.0**k) for k in range(4)] == pytest.approx([100, 80, 60, 40])


def test_the_plot_is_an_svg_with_a_curve_for_each_library() -> None:
    root = ElementTree.fromstring(plot.svg(RESULTS["size"]))
    assert root.tag == f"{SVG}svg"
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    assert (left, top) == (0, 0)
    panels = root.findall(f"{SVG}g")
    assert len(panels) == 2
    for panel in panels:
        lines = panel.findall(f"{SVG}polyline")
        assert len(lines) == 3 - 1  # NumPy is the line at 1
        assert lines[-1].attrib["stroke"] == plot.COLOURS["refarray"]
        for line in lines:
            points = [
                tuple(map(float, p.split(","))) for p in line.attrib["points"].split()
            ]
            assert len(points) == 9
            assert all(0 < x < width and 0 < y < height for x, y in points)
            assert points == sorted(points)
    # log-log: the curve of torch, over a NumPy that grows tenfold, falls in even steps
    torch = panels[0].findall(f"{SVG}polyline")[0].attrib["points"].split()
    heights = [float(point.split(",")[1]) for point in torch]
    steps = {round(b - a) for a, b in itertools.pairwise(heights)}
    assert len(steps) == 1


def test_the_plot_follows_dark_pages() -> None:
    assert "@media (prefers-color-scheme: dark)" in plot.svg(RESULTS["size"])


# The command -------------------------------------------------------------------------


@pytest.mark.parametrize(("ours", "status"), [(3.0, 0), (3.5, 1)])
def test_command_fails_when_a_target_is_missed(
    ours: float,
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    docs: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    values = constant(refarray=ours, numpy=1.0)
    subjects = {
        "planted": lambda: [Row("work", values, at_most(numpy=3.0))],
        "size": lambda: [Row("add", values, point=("add", 8))],
        "breakdown": lambda: [],
    }
    monkeypatch.setattr(command, "SUBJECTS", subjects)
    options = ["--rounds", "1", "--seconds", "0", "--write", str(docs)]
    assert command.main(options) == status
    assert ("MISSED" in capsys.readouterr().out) == bool(status)
    results = record.from_json((docs / "reference" / "speed.json").read_text())
    assert results["planted"][0].values == {"refarray": ours, "numpy": 1.0}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "no such subject: nothing; there are exchange, small, "),
        (["small", "--write", "docs"], "--write is for all subjects together"),
    ],
)
def test_arguments_that_are_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        command.main(arguments)
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "subject",
    [
        pytest.param(name, marks=pytest.mark.needs("wait4") if name == "import" else ())
        for name in command.SUBJECTS
    ],
)
def test_every_row_runs(subject: str) -> None:
    for entry in command.SUBJECTS[subject]():
        for row in entry.parts if isinstance(entry, Summary) else [entry]:
            assert harness.OURS in row.measures
            for measure in row.measures.values():
                assert math.isfinite(measure())
