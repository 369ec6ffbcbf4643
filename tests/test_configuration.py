"""The files for a public forge say what is so: targets exist, and all steps are there.

The files are YAML; what these tests need of them is read line by line, so that they run
without a parser, and with one where there is one.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import refarray

ROOT = Path(__file__).parents[1]
FORGE = ROOT / ".github"
FILES = sorted(FORGE.rglob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def targets() -> set[str]:
    makefile = (ROOT / "Makefile").read_text()
    return set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))


def asked_for(text: str) -> set[str]:
    """Targets in commands: `make NAME` at the start of code, or `target: [NAMES]`."""
    found = set(re.findall(r"(?:`|run: |step \S+ )make ([a-z-]+)", text))
    for names in re.findall(r"target: \[(.*)\]", text):
        found |= set(names.split(", "))
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_yaml_can_be_read(path: Path) -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    content = yaml.safe_load(path.read_text())
    if path.parent.name == "workflows":
        assert all("steps" in job for job in content["jobs"].values())
    elif path.stem != "config":
        assert content["name"] and content["description"]
        for part in content["body"]:
            assert part["id"] and part["attributes"]["label"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_yaml_is_indented_with_spaces_and_has_no_tabs(path: Path) -> None:
    for line in path.read_text().splitlines():
        assert "\t" not in line and line == line.rstrip()


WORKFLOWS = [f".github/workflows/{name}.yml" for name in ("test", "wheels")]


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", ".ci/run", *WORKFLOWS])
def test_each_target_named_is_there(name: str) -> None:
    named = asked_for((ROOT / name).read_text())
    assert named
    assert named <= targets()


def test_each_target_is_phony_and_has_its_line_in_the_help() -> None:
    makefile = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY:((?:.*\\\n)*.*)", makefile, flags=re.MULTILINE)
    assert phony
    assert set(phony[1].replace("\\", "").split()) == targets()
    helped = re.findall(r"^([a-z-]+):.*## \S", makefile, flags=re.MULTILINE)
    assert set(helped) == targets()


def test_what_the_fast_tests_are_is_there() -> None:
    makefile = (ROOT / "Makefile").read_text()
    fast = re.search(r"^FAST :=((?:.*\\\n)*.*)", makefile, flags=re.MULTILINE)
    assert fast
    paths = fast[1].replace("\\", "").split()
    assert "tests/base" in paths
    for path in paths:
        assert (ROOT / path).exists(), path


def test_the_forge_runs_what_ci_runs() -> None:
    """Each target of .ci/run has a job."""
    workflow = asked_for((FORGE / "workflows" / "test.yml").read_text())
    assert asked_for((ROOT / ".ci" / "run").read_text()) <= workflow


def test_versions_agree() -> None:
    """The oldest Python, and the version, each said in several places."""
    assert PROJECT["project"]["requires-python"] == ">=3.11"
    assert PROJECT["tool"]["cibuildwheel"]["build"][0] == "cp311-*"
    workflow = (FORGE / "workflows" / "test.yml").read_text()
    assert 'python: ["3.11",' in workflow
    version = PROJECT["project"]["version"]
    assert version == refarray.__version__
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n## {version}" in (ROOT / "CHANGELOG.md").read_text()


def test_each_dependency_has_its_reason() -> None:
    """A comment on its line, in pyproject.toml."""
    lines = (ROOT / "pyproject.toml").read_text().splitlines()
    named = [*PROJECT["project"]["dependencies"]]
    for group in PROJECT["dependency-groups"].values():
        named += [entry for entry in group if isinstance(entry, str)]
    for extra in PROJECT["project"]["optional-dependencies"].values():
        named += extra
    for dependency in named:
        at = [line for line in lines if f'"{dependency}"' in line]
        at = [line for line in at if not line.startswith("requires = ")]
        assert at and all("# " in line for line in at), dependency


def test_what_the_wheel_is_tested_with_is_there() -> None:
    settings = PROJECT["tool"]["cibuildwheel"]
    for source in settings["test-sources"]:
        assert (ROOT / source).exists(), source
    for path in re.findall(r"tests/[\w./]+", settings["test-command"]):
        assert (ROOT / path).exists(), path
