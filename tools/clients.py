"""Run the test suites of array API clients, unmodified, on refarray; count.

    python tools/clients.py                  all of them
    python tools/clients.py --only scipy-1   this one again; can be repeated
    python tools/clients.py --baseline       array-api-strict again as well

Each client is installed from the package index into an environment of its own, with a
wheel of refarray, which then stands in for array-api-strict (`refarray.testing.
as_array_api_strict`). In the same environment each suite runs on array-api-strict
itself, once for each set of versions. Writes docs/reference/clients.md, and its data to
clients.json beside it. Ends with status 1 if a suite does not reach what it should.

Needs Python 3.12, as the clients do: $PYTHON, or one that is found.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import environments
from client_suites import ENVIRONMENTS, SUITES, Suite
from environments import ROOT

PAGE = ROOT / "docs" / "reference" / "clients.md"
DATA = PAGE.with_suffix(".json")

STAND_IN = ("-p", "refarray.testing.as_array_api_strict")
(BASELINE,) = environments.Environment("array_api_strict").requirements


class Failed(Exception):
    """A client could not be installed, or its suite did not run; says why."""


# Environments ------------------------------------------------------------------------


def find_python() -> str:
    """Return an interpreter of 3.12 or later: $PYTHON, this one, or one found."""
    given = os.environ.get("PYTHON")
    if given:
        return given
    if sys.version_info >= (3, 12):
        return sys.executable
    for version in ("3.13", "3.12", "3.14"):
        found = environments.find_python(version)
        if found is not None:
            return found
    raise Failed("the clients need Python 3.12 or later: set PYTHON to one")


@dataclass
class Environment:
    """The environment of one client."""

    name: str
    folder: Path
    installed: dict[str, str] = field(default_factory=dict)

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    def build(self, wheel: Path) -> None:
        """Create it, or bring it up to date, and install the wheel."""
        wanted = [*ENVIRONMENTS[self.name], BASELINE, "pytest>=8.2"]
        stamp = self.folder / "installed"
        if not stamp.exists() or stamp.read_text().split("\n") != wanted:
            _run(find_python(), "-m", "venv", "--clear", str(self.folder))
            self._pip("install", *wanted)
            stamp.write_text("\n".join(wanted))
        self._pip("install", "--force-reinstall", "--no-deps", str(wheel))
        self._pip("install", str(wheel))
        listed = json.loads(
            _run(str(self.python), "-m", "pip", "list", "--format=json")
        )
        self.installed = {item["name"].lower(): item["version"] for item in listed}
        del self.installed["pip"]

    def packages(self) -> Path:
        """Return where its packages lie."""
        ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
        return Path(_run(str(self.python), "-c", ask).strip())

    def python_version(self) -> str:
        """Return the version of its interpreter."""
        return _run(str(self.python), "-V").split()[1]

    def _pip(self, *arguments: str) -> str:
        # A half-made environment must not pass what it gets on to its Python.
        always = ("--require-virtualenv", "--disable-pip-version-check", "--no-input")
        return _run(str(self.python), "-m", "pip", *always, "-qq", *arguments)


def _run(*command: str) -> str:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        said = ended.stderr.strip().splitlines()
        errors = [line for line in said if line.startswith("ERROR")] or said[-1:]
        raise Failed("; ".join(errors[:2]) or f"{command[0]} failed")
    return ended.stdout


def environment_of(suite: Suite) -> Environment:
    """Return the environment of a suite, in $ENVIRONMENTS or the checkout."""
    parent = Path(os.environ.get("ENVIRONMENTS", str(ROOT / ".environments")))
    return Environment(
        suite.environment, parent.resolve() / f"client-{suite.environment}"
    )


def build_wheel(folder: Path) -> Path:
    """Build refarray's wheel, from the files as they are now."""
    # Of a copy: what lies in build/ would get into the wheel.
    source = folder / "source"
    source.mkdir()
    environments.copy_sources(source)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-qq")
    options = ("--no-deps", "--no-build-isolation", "--wheel-dir", str(folder))
    _run(*pip, "wheel", str(source), *options)
    (wheel,) = folder.glob("*.whl")
    return wheel


# Running -----------------------------------------------------------------------------


def run_suite(suite: Suite, environment: Environment, on: str) -> dict[str, Any]:
    """Run a suite on refarray, or on array-api-strict, and return what came of it."""
    report = report_of(suite, environment, on)
    folder, log = report.parent, report.with_name("log.txt")
    folder.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    (folder / "pytest.ini").write_text(suite.ini)
    plugin = STAND_IN if on == "refarray" and suite.stand_in else ()
    command = [str(environment.python), "-m", "pytest", "-p", "no:cacheprovider"]
    command += ["-c", str(folder / "pytest.ini"), f"--junitxml={report}", *plugin]
    command += [arg.format(root=ROOT) for arg in suite.arguments]
    packages = environment.packages()
    command.append(f"--rootdir={folder if suite.copied else packages}")
    if suite.copied:
        copied = packages / suite.copied
        shutil.copytree(copied, folder / copied.name, dirs_exist_ok=True)
    started = time.monotonic()
    with log.open("w") as output:
        subprocess.run(
            command,
            cwd=folder,
            env=os.environ | suite.variables,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    seconds = round(time.monotonic() - started)
    text = log.read_text(errors="replace")
    if not report.exists():
        raise Failed(f"{suite.name} on {on} did not run; see {log}")
    if plugin and "array_api_strict: refarray" not in text:
        raise Failed(f"{suite.name} did not run on refarray; see {log}")
    failures = sorted(failed_tests(report))
    return {**counts(text), "seconds": seconds, "failures": failures}


def report_of(suite: Suite, environment: Environment, on: str) -> Path:
    """Return where the report of a run is."""
    return environment.folder / "runs" / suite.name / on / "report.xml"


OUTCOMES = ("passed", "failed", "errors", "skipped", "xfailed", "xpassed")


def counts(output: str) -> dict[str, int]:
    """Return the counts in the last line of pytest's output."""
    last = output.rstrip().rpartition("\n")[2]
    found = {word: int(n) for n, word in re.findall(r"(\d+) ([a-z]+)", last)}
    found["errors"] = found.get("errors", found.get("error", 0))
    return {word: found.get(word, 0) for word in OUTCOMES}


def failed_tests(report: Path) -> Iterator[str]:
    """Yield the names of the tests that failed, from a JUnit report."""
    for case in ElementTree.parse(report).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            yield f"{case.get('classname')}::{case.get('name')}"


def problems(suite: Suite, runs: dict[str, Any]) -> list[str]:
    """Return how the run on refarray falls short of what is wanted, in words."""
    run = runs["refarray"]
    failed = run["failed"] + run["errors"]
    found = []
    if run["passed"] < suite.passed:
        found.append(f"{run['passed']} passed, at least {suite.passed} should")
    if failed > suite.failed:
        found.append(f"{failed} failed, at most {suite.failed} may")
    if "array-api-strict" in runs:
        new = [name for name in alone(runs) if not name_in(name, suite.alone)]
        if new:
            found.append(f"fail here alone: {', '.join(new[:5])} ({len(new)} in all)")
    return found


def alone(runs: dict[str, Any]) -> list[str]:
    """Return the tests that fail on refarray and not on array-api-strict."""
    known = runs.get("array-api-strict", {}).get("failures", [])
    return [name for name in runs["refarray"]["failures"] if name not in known]


def name_in(name: str, tests: tuple[str, ...]) -> bool:
    """Tell whether a name in a report is that of one of these tests."""
    return any(re.search(rf"\b{test}\b", name) for test in tests)


# The page ----------------------------------------------------------------------------

HEAD = """\
# Clients: their own test suites on refarray

Libraries that take any array API namespace test themselves on array-api-strict, by that
name. Here their suites ran unmodified, with refarray in its place:

    pytest -p refarray.testing.as_array_api_strict --pyargs scipy.fft ...

and, in the same environment, on array-api-strict itself. `make clients` installs each
client from the package index, runs the suites and writes this page.
`tools/client_suites.py` has the exact commands and versions. The seconds are those of a
machine that had other work.

"""


def page(data: dict[str, Any]) -> str:
    """Return the page."""
    rows = [
        "| Suite | Wanted | On | Passed | Failed | Skipped | Expected failures | s |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for suite in SUITES:
        runs = data.get(suite.name, {}).get("runs", {})
        for on in ("refarray", "array-api-strict"):
            if on not in runs:
                continue
            run = runs[on]
            first = on == "refarray"
            cells = [
                f"[{suite.name}](#{suite.name})" if first else "",
                suite.wanted if first else "",
                on,
                run["passed"],
                run["failed"] + run["errors"],
                run["skipped"],
                f"{run['xfailed']} + {run['xpassed']} that passed"
                if run["xpassed"]
                else run["xfailed"],
                run["seconds"],
            ]
            rows.append("| " + " | ".join(map(str, cells)) + " |")
    rows.append("")
    for suite in SUITES:
        if suite.name in data:
            rows += _section(suite, data[suite.name])
    return HEAD + "\n".join(rows).rstrip() + "\n"


def _section(suite: Suite, found: dict[str, Any]) -> list[str]:
    versions = ", ".join(f"{n} {v}" for n, v in found["versions"].items())
    rows = [f"## {suite.name}", "", f"{suite.about}", ""]
    rows.append(f"{found['date']}, Python {found['python']}; {versions}.")
    rows.append("")
    failures = found["runs"]["refarray"]["failures"]
    if failures:
        count, both = len(failures), len(failures) - len(alone(found["runs"]))
        rows.append(
            f"{count} failed on refarray, {both} of them on array-api-strict too:"
        )
        rows.append("")
        rows += [f"- `{name}`" for name in failures]
        rows += ["", suite.why, ""] if suite.why else [""]
    return rows


# -------------------------------------------------------------------------------------


def main() -> int:
    """Run the suites that are named, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, add_help=True)
    names = [suite.name for suite in SUITES]
    parser.add_argument("--only", action="append", choices=names, metavar="NAME")
    parser.add_argument("--baseline", action="store_true")
    options = parser.parse_args()
    data = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {}
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        wheel = build_wheel(Path(folder))
        for suite in SUITES:
            if options.only and suite.name not in options.only:
                continue
            print(f"{suite.name} ...", flush=True)
            try:
                environment = environment_of(suite)
                environment.build(wheel)
                data[suite.name] = measure(
                    suite, environment, data.get(suite.name, {}), options.baseline
                )
                short = problems(suite, data[suite.name]["runs"])
            except Failed as reason:
                short = [str(reason)]
            for line in short:
                status = 1
                print(f"  {line}")
            if suite.name in data:
                for on, run in data[suite.name]["runs"].items():
                    print(f"  {on}: " + ", ".join(f"{run[w]} {w}" for w in OUTCOMES))
            DATA.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
            PAGE.write_text(page(data), encoding="utf-8")
    return status


def measure(
    suite: Suite, environment: Environment, before: dict[str, Any], again: bool
) -> dict[str, Any]:
    """Run a suite on refarray, and on array-api-strict unless that is known."""
    others = {n: v for n, v in environment.installed.items() if n != "refarray"}
    python = environment.python_version()
    runs: dict[str, Any] = {}
    if suite.stand_in:
        known = before.get("runs", {}).get("array-api-strict")
        same = (before.get("python"), before.get("installed")) == (python, others)
        if known is None or again or not same:
            known = run_suite(suite, environment, "array-api-strict")
        runs["array-api-strict"] = known
    runs["refarray"] = run_suite(suite, environment, "refarray")
    main = [
        requirement.partition("==")[0].partition("[")[0].lower()
        for requirement in ENVIRONMENTS[suite.environment]
    ]
    main += ["numpy", "pytest"]
    return {
        "date": datetime.date.today().isoformat(),
        "python": python,
        "versions": {n: others[n] for n in dict.fromkeys(main) if n in others},
        "installed": others,
        "refarray": environment.installed["refarray"],
        "runs": runs,
    }


if __name__ == "__main__":
    sys.exit(main())
