"""The environments of other libraries, and the page of what they keep."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def environments(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    import environments

    return environments


@pytest.fixture
def matrix(environments):
    import matrix

    return matrix


def test_every_adapter_says_what_to_install(environments):
    names = environments.known()
    assert {"numpy", "torch", "refarray"} <= set(names)
    wanted = {name: environments.Environment(name).requirements for name in names}
    assert wanted["torch"] == ["torch==2.13.0"]
    assert [name for name in names if not wanted[name]] == ["refarray"]


def test_what_refarray_needs_is_what_its_wheel_asks_for(environments):
    wanted = importlib.metadata.requires("refarray")
    needed = [text for text in wanted if "extra ==" not in text]
    assert sorted(needed) == sorted(environments.always()[: len(needed)])
    assert any(text.startswith("pytest") for text in environments.always())


def test_an_environment_is_built_once(environments, monkeypatch, tmp_path):
    monkeypatch.setenv("ENVIRONMENTS", str(tmp_path))
    commands = []

    def run(*command):
        commands.append(command[1:4])
        return f"{tmp_path}\n"

    monkeypatch.setattr(environments, "_run", run)
    environment = environments.Environment("refarray")
    environment.folder.mkdir()
    environment.build()
    environment.build()
    assert commands[0][:2] == ("-m", "venv")
    assert len(commands) == 3
    assert (tmp_path / "refarray_checkout.pth").read_text() == f"{ROOT}\n"


#: A library with a build of its own, so that pip needs no network for it.
EDITABLE = """\
import os, zipfile

FILES = {
    "toy.pth": os.getcwd(),
    "toy-1.dist-info/METADATA": "Metadata-Version: 2.1\\nName: toy\\nVersion: 1\\n",
    "toy-1.dist-info/WHEEL": "Wheel-Version: 1.0\\nTag: py3-none-any\\n"
    "Generator: toy\\nRoot-Is-Purelib: true\\n",
    "toy-1.dist-info/RECORD": "",
}

def build_editable(folder, settings=None, metadata=None):
    with zipfile.ZipFile(f"{folder}/toy-1-py3-none-any.whl", "w") as wheel:
        for name, text in FILES.items():
            wheel.writestr(name, text)
    return "toy-1-py3-none-any.whl"
"""


def test_a_folder_is_installed_as_it_is_now(environments, monkeypatch, tmp_path):
    library, field = tmp_path / "library", tmp_path / "field"
    library.mkdir()
    (library / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "make"\nbackend-path = ["."]\n'
    )
    (library / "make.py").write_text(EDITABLE)
    field.mkdir()
    lines = f"Install: -e {library}\nApart: refarray would need the network"
    (field / "test_toy.py").write_text(f'"""A toy.\n\n{lines}\n"""\n')
    monkeypatch.setattr(environments, "FIELD", field)
    monkeypatch.setenv("ENVIRONMENTS", str(tmp_path / "environments"))
    monkeypatch.setenv("ANY_SIZE", "1")  # spares pip a dry run
    toy = environments.Environment("toy")
    for version in ("1", "2"):
        (library / "toy.py").write_text(f"print({version})")
        toy.build()
        assert environments._run(str(toy.python), "-B", "-m", "toy") == f"{version}\n"


def test_packages_for_gpus_are_refused(environments, monkeypatch, tmp_path):
    monkeypatch.setenv("ENVIRONMENTS", str(tmp_path))
    monkeypatch.delenv("ANY_SIZE", raising=False)
    names = ("torch", "nvidia-cublas", "triton")
    plan = {"install": [{"metadata": {"name": name}} for name in names]}
    monkeypatch.setattr(environments, "_run", lambda *command: json.dumps(plan))
    with pytest.raises(environments.NotInstalled, match="nvidia-cublas, triton"):
        environments.Environment("torch").build()


def test_an_unknown_library_ends_with_the_known_ones(environments):
    with pytest.raises(SystemExit, match="no library 'nunpy'; known: array_api_st"):
        environments.choose(["nunpy"])


def test_a_failed_installation_says_why(environments):
    with pytest.raises(environments.NotInstalled, match="No module named no_such"):
        environments._run(environments.sys.executable, "-m", "no_such")


def test_the_page_is_that_of_the_data(matrix):
    data = json.loads(matrix.DATA.read_text(encoding="utf-8"))
    assert matrix.PAGE.read_text(encoding="utf-8") == matrix.page(data), (
        "python tools/matrix.py refarray"
    )


def test_a_rule_is_added_before_every_library_was_asked_again(matrix, monkeypatch):
    data = json.loads(matrix.DATA.read_text(encoding="utf-8"))
    new = max(matrix.RULES) + 1
    monkeypatch.setattr(matrix, "RULES", {**matrix.RULES, new: None})
    data["refarray"]["rules"][str(new)] = {"verdict": "pass"}
    page = matrix.page(data).splitlines()
    asked = [name for name, found in data.items() if "rules" in found]
    rows = [row for row in page if row.startswith(f"| {new} |")]
    assert [(row.count("+"), row.count("?")) for row in rows] == [(1, len(asked) - 1)]


def test_refarray_keeps_every_rule_in_the_matrix(matrix):
    rules = json.loads(matrix.DATA.read_text(encoding="utf-8"))["refarray"]["rules"]
    assert {rule["verdict"] for rule in rules.values()} == {"pass", "skip"}


def test_a_check_that_ends_in_silence_is_no_traceback(matrix, monkeypatch):
    ended = subprocess.CompletedProcess([], -9, "", "")
    monkeypatch.setattr(matrix.subprocess, "run", lambda *a, **k: ended)
    with pytest.raises(matrix.NotInstalled, match="the check ended with -9"):
        matrix.check(matrix.Environment("refarray"))


def test_a_judgement_is_shortened(matrix):
    finding = {"verdict": "fail", "level": "should", "seen": "a|b", "reproduce": "f(x)"}
    rule = {"verdict": "fail", "level": "should", "findings": [finding, finding]}
    short = matrix.shortened(rule)
    assert short == {"verdict": "weak", "findings": ["a|b, in f(x)", "a|b, in f(x)"]}
    assert matrix.plain(short["findings"]) == "a\\|b, in f(x) (and 1 more)"
