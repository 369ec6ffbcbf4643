"""Run the reports of docs/upstream/ and write their pages.

    python tools/upstream.py               every project
    python tools/upstream.py torch jax     these again; the others stay as they are
    python tools/upstream.py --pages       run nothing; write the pages once more

A report is a script, docs/upstream/PROJECT/NAME.py. Its docstring is the text, with
lines at the end that say which rule is broken, where it stands, where it was reported,
and what the script needs. It prints what is wrong and exits with 1, or with 0 when that
is repaired. Each runs in the environment of its library (environments.py), and those
about the official test suite in its clone, which `make array-api-tests` makes.

Writes docs/upstream/*.md, and what was printed to docs/upstream/found.json. Exit status
1: a script failed, or a defect is gone.
"""

from __future__ import annotations

import argparse
import ast
import datetime
import json
import platform
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from environments import ROOT, Environment, NotInstalled

FOLDER = ROOT / "docs" / "upstream"
DATA = FOLDER / "found.json"
SUITE = ROOT / ".cache" / "array-api-tests"

#: Seconds that a script may take.
PATIENCE = 300

PROJECTS = {
    "array_api": "The array API standard",
    "array_api_strict": "array-api-strict",
    "array_api_tests": "array-api-tests",
    "cuda_core": "cuda.core",
    "dlpack": "DLPack",
    "dpnp": "dpnp",
    "drjit": "Dr.Jit",
    "jax": "JAX",
    "mlx": "MLX",
    "nanobind": "nanobind",
    "numpy": "NumPy",
    "onnxruntime": "ONNX Runtime",
    "open3d": "Open3D",
    "paddle": "PaddlePaddle",
    "pyarrow": "Apache Arrow",
    "pydlpack": "pydlpack",
    "tensorflow": "TensorFlow",
    "torch": "PyTorch",
    "tvm_ffi": "TVM FFI",
    "warp": "Warp",
}
#: Not libraries: their reports run in the clone of the suite.
IN_SUITE = ("array_api", "array_api_tests")
#: Not a library either: questions about the header, which need refarray only.
HEADER = "dlpack"

KEYS = ("Rule", "Says", "Reported", "Needs")

HEAD = """\
# Reports for other projects

What the checks of refarray found in other projects, ready to be reported: a paragraph
and a script for each defect. A script needs the library and NumPy; where a capsule must
be forged, refarray does it, and the script says so. It prints what is wrong and exits
with 1, or with 0 once that is repaired. `make upstream` runs them all, each in an
environment with the library, and writes these pages; `make upstream LIBRARIES="torch
jax"` does two of them. The reports to DLPack ask what its header means; their scripts
show what happens between two libraries that read it differently.

Here are crashes, wrong values and memory that is freed twice or shared when it should
not be. Everything else that a library does otherwise than the rules is in the
[matrix](../reference/dlpack-matrix.md), the [field](../reference/field.md) and the
[deviations](../reference/deviations.md). A library may have its reasons. Look for
reports of others before you send one: "no report found" means that a short search of
issues showed none.

| Project | Version | Date | Defects | Reported |
| --- | --- | --- | ---: | ---: |
"""


@dataclass(frozen=True)
class Report:
    """A script, and what its docstring says."""

    path: Path
    title: str
    text: str
    lines: dict[str, str]

    @classmethod
    def read(cls, path: Path) -> Report:
        """Read a script."""
        words = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        title, _, rest = words.partition("\n")
        text, _, tail = rest.partition(f"\n{KEYS[0]}:")
        keys = "|".join(KEYS)
        found = re.findall(
            rf"^({keys}):\s+(.*(?:\n\s+.*)*)", f"{KEYS[0]}:{tail}", re.MULTILINE
        )
        lines = {key: " ".join(value.split()) for key, value in found}
        return cls(path, title.removesuffix("."), text.strip(), lines)

    def __str__(self) -> str:
        return self.path.stem

    @property
    def name(self) -> str:
        """The name of the script."""
        return self.path.name

    @property
    def is_reported(self) -> bool:
        """Whether an issue about this very defect is known."""
        return bool(re.match(r"https:\S+( \((open|closed)|$)", self.lines["Reported"]))


def reports(project: str) -> list[Report]:
    """Return the reports for a project, by name."""
    return [Report.read(path) for path in sorted((FOLDER / project).glob("*.py"))]


class Broken(Exception):
    """A script did neither show the defect nor find it repaired."""


def run(report: Report, python: str, variables: dict[str, str]) -> tuple[bool, str]:
    """Run a script; return whether the defect is there, and what was printed."""
    where = SUITE if report.path.parent.name in IN_SUITE else ROOT
    ended = subprocess.run(
        [python, "-W", "ignore", str(report.path)],
        cwd=where,
        env=variables,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    if ended.returncode not in (0, 1) or "Traceback" in ended.stderr:
        last = (ended.stderr.strip() or "nothing").splitlines()[-1]
        raise Broken(f"{report.name}: status {ended.returncode}, {last}")
    return ended.returncode == 1, ended.stdout.strip()


def place(project: str) -> tuple[str, dict[str, str]]:
    """Return the interpreter for a project, and its variables. Raises NotInstalled."""
    if project == HEADER:
        return sys.executable, Environment("refarray").variables()
    if project not in IN_SUITE:
        environment = Environment(project)
        environment.build()
        return str(environment.python), environment.variables()
    if not SUITE.exists():
        raise NotInstalled("no clone of the suite: `make array-api-tests` makes one")
    return sys.executable, Environment("refarray").variables()


def version(project: str, python: str) -> str:
    """Return the version of what a project's reports are about."""
    if project in IN_SUITE:
        folder = SUITE / "array-api" if project == "array_api" else SUITE
        ask = ["git", "-C", str(folder), "rev-parse", "--short", "HEAD"]
    elif project == HEADER:
        code = "from refarray.dlpack.shortcuts import VERSION; print(*VERSION, sep='.')"
        ask = [python, "-c", code]
    else:
        package = reports(project)[0].lines["Needs"].split(",")[0]
        code = f"import importlib.metadata as m; print(m.version({package!r}))"
        ask = [python, "-c", code]
    return subprocess.run(ask, capture_output=True, text=True).stdout.strip()


def examine(project: str, known: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Run a project's reports; return its record, and whether all are as `known`."""
    python, variables = place(project)
    found, right = {}, True
    for report in reports(project):
        try:
            there, printed = run(report, python, variables)
        except (Broken, subprocess.TimeoutExpired) as error:
            print(f"  {report.name}: FAILED: {error}")
            right = False
            if report.name in known:
                found[report.name] = known[report.name]
            continue
        right &= there
        print(f"  {report.name}: {'there' if there else 'REPAIRED'}")
        found[report.name] = {"there": there, "printed": printed}
    today = datetime.date.today().isoformat()
    record = {
        "version": version(project, python),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "date": today,
        "found": found,
    }
    if project not in IN_SUITE:
        ask = "import platform; print(platform.python_version())"
        said = subprocess.run([python, "-c", ask], capture_output=True, text=True)
        record["python"] = said.stdout.strip()
    return record, right


def linked(line: str) -> str:
    """Return a line with its addresses as links."""
    return re.sub(
        r"https://github\.com/([\w./-]+?)/(?:issues|pull)/(\d+)",
        r"[\1#\2](\g<0>)",
        line,
    )


def page(project: str, record: dict[str, Any]) -> str:
    """Return the page of a project."""
    name = PROJECTS[project]
    text = [
        f"# {name}\n",
        f"Version {record['version']}, Python {record['python']}, "
        f"{record['platform']}, {record['date']}. "
        "[What these reports are](index.md).\n",
    ]
    for report in reports(project):
        if report.name not in record["found"]:
            continue  # it has not run yet
        result = record["found"][report.name]
        rule = report.lines["Rule"]
        broken = report.lines["Says"]
        if rule != "none":
            broken = f"[rule {rule}](../reference/rules.md); {broken}"
        text += [f"## {report.title}\n"]
        if report.text:
            text += [f"{report.text}\n"]
        if not result["there"]:
            text += [f"**Repaired** in {record['version']}.\n"]
        label = "About" if project == HEADER else "Broken"
        text += [f"- {label}: {broken}"] if broken != "-" else []
        text += [
            f"- Upstream: {linked(report.lines['Reported'])}",
            f"- Needs: {report.lines['Needs']}\n",
            f"[{report.name}]({project}/{report.name}) prints:\n",
            f"```text\n{result['printed'] or '(nothing)'}\n```\n",
        ]
    return "\n".join(text)


def is_there(record: dict[str, Any], report: Report) -> bool:
    """Whether a report's defect was there when it last ran."""
    return bool(record["found"].get(report.name, {}).get("there"))


def index(data: dict[str, Any]) -> str:
    """Return the page with the list of projects."""
    lines, order = [HEAD], sorted(data, key=lambda name: PROJECTS[name].lower())
    for project in order:
        record = data[project]
        there = [r for r in reports(project) if is_there(record, r)]
        known = sum(report.is_reported for report in there)
        lines.append(
            f"| [{PROJECTS[project]}]({project}.md) | {record['version']} | "
            f"{record['date']} | {len(there)} | {known or ''} |\n"
        )
    pages = "\n".join(order)
    return "".join([*lines, f"\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n"])


def write(data: dict[str, Any]) -> None:
    """Write the data and every page."""
    DATA.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    for project, record in data.items():
        target = FOLDER / f"{project}.md"
        target.write_text(page(project, record), encoding="utf-8")
    (FOLDER / "index.md").write_text(index(data), encoding="utf-8")


def main() -> int:
    """Run the reports that are asked for, and write their pages."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("projects", nargs="*", metavar="PROJECT")
    parser.add_argument("--pages", action="store_true", help="write the pages only")
    options = parser.parse_args()
    for name in options.projects:
        if name not in PROJECTS:
            parser.error(f"there is no {name!r}; known: {', '.join(PROJECTS)}")
    data = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {}
    right = True
    for project in [] if options.pages else options.projects or PROJECTS:
        print(f"{PROJECTS[project]}:", flush=True)
        try:
            known = data.get(project, {}).get("found", {})
            data[project], as_known = examine(project, known)
        except NotInstalled as reason:
            print(f"  not run: {reason}")
            continue
        right &= as_known
        write(dict(sorted(data.items())))
    write(dict(sorted(data.items())))
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
