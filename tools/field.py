"""Exchange arrays with real libraries, each in its own environment, and publish it.

    python tools/field.py              every library of tests/field/
    python tools/field.py torch jax    these again; the others stay as they are
    python tools/field.py --check      write nothing; fail if less is true than before
    python tools/field.py --in-ci      those that say `In CI: yes`

Writes docs/reference/field.md, and its data to field.json beside it. What is installed
for a library says environments.py; its tests are tests/field/test_NAME.py, and files
there with the line `Library: NAME`. They run in its environment, or, if it cannot share
a process with refarray, in this one, with its interpreter in LIBRARY_PYTHON. Only what
passes is published: a failure ends with status 1, and the row stays as it was.
"""

from __future__ import annotations

import argparse
import ast
import json
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import field_page
from environments import (
    FIELD,
    ROOT,
    Environment,
    LeftOut,
    NotInstalled,
    choose,
    in_the_field,
)

PAGE = ROOT / "docs" / "reference" / "field.md"
DATA = PAGE.with_suffix(".json")

#: Seconds that the tests of one library may take.
PATIENCE = 900

#: Libraries at work at a time.
AT_ONCE = 2


class Failed(Exception):
    """The tests of a library did not pass; has what they printed."""


def test_files(name: str) -> list[str]:
    """Return the files with the tests of a library, relative to the checkout."""
    files = [FIELD / f"test_{name}.py"]
    for path in sorted(FIELD.glob("test_*.py")):
        beside = Environment(path.stem.removeprefix("test_"))
        if beside.line("Library") == name:
            files.append(path)
    return [str(path.relative_to(ROOT)) for path in files]


def run(environment: Environment) -> dict[str, Any]:
    """Run the tests of a library; return what they state. Raises Failed."""
    variables = environment.variables()
    # Some libraries bring plugins for pytest with them, of other releases of it.
    variables["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    python = environment.python
    if environment.line("Apart"):
        variables["LIBRARY_PYTHON"] = str(python)
        python = Path(sys.executable)
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder, "record.json")
        command = [
            *(str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *(*test_files(environment.name), "--record", str(record)),
        ]
        try:
            ended = subprocess.run(
                command,
                cwd=ROOT,
                env=variables,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                timeout=PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Failed(f"its tests took over {PATIENCE} s") from None
        if ended.returncode or not record.exists():
            raise Failed(ended.stdout)
        found: dict[str, Any] = json.loads(record.read_text(encoding="utf-8"))
    return {**found, "date": time.strftime("%Y-%m-%d")}


def about(environment: Environment) -> str:
    """Return what the docstring of a test says, without its title and its lines."""
    path = FIELD / f"test_{environment.name}.py"
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    _, _, prose = text.partition("\n")
    return " ".join(re.sub(r"^[A-Z][\w ]*:.*$", "", prose, flags=re.MULTILINE).split())


def not_installed(environment: Environment, reason: NotInstalled) -> dict[str, Any]:
    """Return the row of a library that cannot be had here."""
    return {
        "name": environment.line("Name") or environment.name,
        "tried": " ".join(["pip install", *environment.requirements]),
        "reason": " ".join(str(reason).split()),
        "about": about(environment),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "date": time.strftime("%Y-%m-%d"),
    }


def losses(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    """Say what was published of a library, and is no longer true."""
    for kind in ("works", "refuses", "bug"):
        for told in old.get(kind, []):
            if told not in new.get(kind, []):
                sentence = told["text"] if isinstance(told, dict) else told
                yield f"nothing says any longer: {kind}: {sentence}"
    if old.get("version") == new.get("version"):
        if old.get("exchange") != new.get("exchange"):
            yield "its class of exchange.py states something else"
        if new["tests"] < old.get("tests", 0):
            yield f"only {new['tests']} tests passed, and once {old['tests']}"


def visit(environment: Environment) -> dict[str, Any] | NotInstalled | Failed:
    """Install a library and run its tests; return the row, or what went wrong."""
    try:
        environment.build()
        return run(environment)
    except (NotInstalled, Failed) as reason:
        return reason


def judge(name: str, found: Any, old: dict[str, Any] | None) -> tuple[bool, str]:
    """Say of a library whether what was found is as published, or better."""
    if isinstance(found, LeftOut):
        return True, f"left out: {found}"
    if isinstance(found, NotInstalled):
        return False, f"not installed: {found}"
    if isinstance(found, Failed):
        return False, f"failed\n{found}"
    told = list(losses(old or {}, found))
    if old is None:
        told.append(f"has no row yet: python tools/field.py {name}")
    words = f"{found['version']}: {found['tests']} tests passed"
    return not told, "; ".join([words, *told])


def publish(environment: Environment, found: Any) -> tuple[bool, str]:
    """Write the row of a library; tell whether it is as it should be, in words."""
    data = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {}
    old = data.get(environment.name)
    if isinstance(found, Failed):
        return False, f"failed; its row stays as it was\n{found}"
    if isinstance(found, NotInstalled):
        if old is not None and "reason" not in old:
            return False, f"not installed; its row stays as it was: {found}"
        words, found = f"not installed: {found}", not_installed(environment, found)
    else:
        words = f"{found['version']}: {found['tests']} tests passed"
    data[environment.name] = found
    data = {name: data[name] for name in in_the_field() if name in data}
    page = field_page.page(data)
    DATA.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page, encoding="utf-8")
    return True, words


def main() -> None:
    """Visit the libraries that are named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--in-ci", action="store_true")
    options = parser.parse_args()
    environments = choose(options.names, in_the_field())
    if options.in_ci:
        environments = [e for e in environments if e.line("In CI") == "yes"]
    published = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {}
    wrong = []
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for environment, found in zip(
            environments, pool.map(visit, environments), strict=True
        ):
            name = environment.name
            if options.check:
                right, words = judge(name, found, published.get(name))
            else:
                right, words = publish(environment, found)
            print(f"{name}: {words}", flush=True)
            if not right:
                wrong.append(name)
    if wrong:
        sys.exit(f"not as it should be: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
