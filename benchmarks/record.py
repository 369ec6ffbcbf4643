"""What a run leaves behind: docs/reference/speed.json, and what is made from it.

That is the page and the plot beside it, and the figures in docs/explanation/speed.md.

Next: __main__.py.
"""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import platform
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import harness, plot, report
from benchmarks.harness import Result, Target
from benchmarks.libraries import libraries

PACKAGES = {
    "numpy": "numpy",
    "array-api-strict": "array-api-strict",
    "torch": "torch",
    "jax": "jax",
    "tvm-ffi": "apache-tvm-ffi",
}


def as_json(results: report.Results) -> str:
    """Return the results as JSON, with when, where and with what they were measured."""
    record = {
        "date": datetime.date.today().isoformat(),
        "python": platform.python_version(),
        "processor": _processor(),
        "versions": {
            name: importlib.metadata.version(package)
            for name, package in PACKAGES.items()
            if name in libraries()
        },
        "subjects": {
            subject: [_rounded(asdict(result)) for result in rows]
            for subject, rows in results.items()
        },
    }
    return json.dumps(record, indent=1) + "\n"


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    values = {name: float(f"{value:.4g}") for name, value in row["values"].items()}
    return row | {"values": values}


def _processor() -> str:
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def from_json(text: str) -> report.Results:
    """Return the results that `as_json` wrote."""
    return {
        subject: [_result(row) for row in rows]
        for subject, rows in json.loads(text)["subjects"].items()
    }


def _result(row: dict[str, Any]) -> Result:
    targets = {name: Target(**target) for name, target in row.pop("targets").items()}
    point = row.pop("point")
    return Result(**row, targets=targets, point=None if point is None else tuple(point))


def page(text: str) -> str:
    """Return the page for the results as JSON."""
    record = json.loads(text)
    versions = ", ".join(f"{name} {v}" for name, v in record["versions"].items())
    return f"""\
# Speed: the figures

Written by `make bench`. What they mean: [where the time goes](../explanation/speed.md).

Measured on {record["date"]} with Python {record["python"]} on one thread of
{record["processor"]}: {versions}.

Each figure is the least of at least 20 rounds, in which all libraries take turns; where
a target was missed, of {harness.PATIENCE} times as many at most, with new arrays. The
last column is refarray's in units of the other library's, with the highest that is
allowed. Values depend on the machine, ratios hardly do.

![Time in units of NumPy's](speed.svg)

{report.markdown(from_json(text))}
"""


def with_figures(text: str, results: report.Results) -> str:
    """Return docs/explanation/speed.md with the figures of the breakdown renewed."""
    figures = report.figures(results["breakdown"])
    before, start, rest = text.partition("<!-- figures -->\n")
    _, end, after = rest.partition("\n<!-- end -->")
    return before + start + figures + end + after


def write(docs: Path, results: report.Results) -> None:
    """Write speed.json and what is made from it."""
    text = as_json(results)
    (docs / "reference" / "speed.json").write_text(text, encoding="utf-8")
    render(docs)


def render(docs: Path) -> None:
    """Make speed.md and speed.svg from speed.json; renew the figures."""
    text = (docs / "reference" / "speed.json").read_text(encoding="utf-8")
    results = from_json(text)
    points = [result for rows in results.values() for result in rows]
    (docs / "reference" / "speed.md").write_text(page(text), encoding="utf-8")
    (docs / "reference" / "speed.svg").write_text(plot.svg(points), encoding="utf-8")
    explanation = docs / "explanation" / "speed.md"
    renewed = with_figures(explanation.read_text(encoding="utf-8"), results)
    explanation.write_text(renewed, encoding="utf-8")
