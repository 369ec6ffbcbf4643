"""The reports for other projects: scripts, pages, and what both say of each other.

Those about libraries that are installed here are run; `make upstream` runs them all.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))
try:
    import upstream
finally:
    del sys.path[0]

from refarray.testing.rules import RULES  # noqa: E402

DATA = json.loads(upstream.DATA.read_text(encoding="utf-8"))
REPORTS = [report for project in DATA for report in upstream.reports(project)]


def installed(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def test_each_folder_is_a_project_with_a_record() -> None:
    folders = {path.parent.name for path in upstream.FOLDER.glob("*/*.py")}
    assert folders == set(upstream.PROJECTS) == set(DATA)


@pytest.mark.parametrize("project", upstream.PROJECTS)
def test_the_page_is_what_the_scripts_say(project: str) -> None:
    found = upstream.FOLDER / f"{project}.md"
    assert found.read_text(encoding="utf-8") == upstream.page(project, DATA[project])


@pytest.mark.parametrize("project", upstream.PROJECTS)
def test_page_and_scripts_name_each_other(project: str) -> None:
    text = (upstream.FOLDER / f"{project}.md").read_text(encoding="utf-8")
    linked = set(re.findall(rf"\({project}/(\w+\.py)\)", text))
    assert linked == {path.name for path in (upstream.FOLDER / project).glob("*.py")}
    assert linked == set(DATA[project]["found"])


def test_the_list_of_projects() -> None:
    found = (upstream.FOLDER / "index.md").read_text(encoding="utf-8")
    assert found == upstream.index(DATA)


@pytest.mark.parametrize("report", REPORTS, ids=lambda r: f"{r.path.parent.name}/{r}")
def test_a_report_says_all_that_is_needed(report: upstream.Report) -> None:
    assert tuple(report.lines) == upstream.KEYS
    assert report.title
    assert report.lines["Rule"] == "none" or int(report.lines["Rule"]) in RULES
    source = report.path.read_text(encoding="utf-8")
    uses = re.search(r"^(?:import|from) refarray", source, re.MULTILINE)
    assert bool(uses) == ("refarray" in report.lines["Needs"])


HERE = [
    report
    for report in REPORTS
    if report.path.parent.name not in upstream.IN_SUITE
    and installed(re.split(r",| \(", report.lines["Needs"])[0])
]


@pytest.mark.parametrize("report", HERE, ids=lambda r: f"{r.path.parent.name}/{r}")
def test_a_script_shows_its_defect(report: upstream.Report) -> None:
    """In the version of the record it does; in another it may be repaired."""
    project = report.path.parent.name
    there, printed = upstream.run(report, sys.executable, dict(os.environ))
    record = DATA[project]
    if upstream.version(project, sys.executable) == record["version"]:
        assert there == record["found"][report.name]["there"]
    assert printed


def test_a_script_that_fails_is_no_defect(tmp_path: Path) -> None:
    script = tmp_path / "wrong.py"
    script.write_text('"""No."""\nimport no_such_module\n')
    with pytest.raises(upstream.Broken, match="no_such_module"):
        upstream.run(upstream.Report.read(script), sys.executable, dict(os.environ))
