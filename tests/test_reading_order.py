"""The package reads like a book: each file says which one comes next.

One road leads through each folder. It passes every file once, in the order in which the
folder's own docstring names them, and its last file names the folder that follows.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "refarray"
FOLDERS = {
    "_base": "_memory",
    "_memory": "dlpack",
    "dlpack": "_compute",
    "_compute": "_standard",
    "_standard": "testing",
    "commands": "testing",
    "testing": "standard",
}
C_CODE = ROOT / "_cffi_build"


def docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text())) or ""


def words_of(path: Path) -> str:
    """The module docstring, or the comment that a C file begins with, on one line."""
    if path.suffix == ".py":
        return " ".join(docstring(path).split())
    comment = path.read_text().partition("*/")[0]
    return " ".join(comment.replace("\n *", "\n").split())


def next_file(path: Path) -> str | None:
    found = re.search(r"Next: `?([\w.]+\.(?:py|c|h))\b", words_of(path))
    return found[1] if found else None


def road(folder: Path, first: str) -> list[str]:
    passed = [first]
    while (name := next_file(folder / passed[-1])) is not None:
        assert (folder / name).is_file(), f"{passed[-1]}: there is no {name}"
        assert name not in passed, f"{passed[-1]}: {name} was read before"
        passed.append(name)
    return passed


@pytest.mark.parametrize("folder", FOLDERS)
def test_one_road_leads_through_each_folder(folder: str) -> None:
    contents = docstring(PACKAGE / folder / "__init__.py")
    files = {path.name for path in (PACKAGE / folder).glob("*.py")} - {"__init__.py"}
    listed = [name for name in re.findall(r"\w+\.py", contents) if name in files]
    passed = road(PACKAGE / folder, listed[0])
    assert set(passed) == files, "read, and there"
    places = [listed.index(name) for name in passed if name in listed]
    if folder == "testing":  # its files of a kind go by one name: rules_*.py
        assert len(places) > 15
    else:
        assert places == list(range(len(files))), f"{contents} but {passed}"
    end = words_of(PACKAGE / folder / passed[-1])
    assert f"Next folder: `{FOLDERS[folder]}/`" in end


def test_one_road_leads_through_the_c_code() -> None:
    readme = (C_CODE / "README.md").read_text()
    order = readme.partition("\nReading order:")[2].partition("\n## ")[0]
    listed = re.findall(r"`(\w+\.[ch])`", order)
    native = road(C_CODE, "dlpack.h")
    forge = road(C_CODE, "forge.h")
    assert native + forge == listed
    assert {*listed, "cuda_driver.h"} == {p.name for p in C_CODE.glob("*.[ch]")}

    build = words_of(C_CODE / "build_native.py")
    said = [f for f in re.findall(r"\w+\.[ch]", build.partition("order")[2])]
    assert said == [name for name in native if name != "check_layout.h"]


def test_one_road_leads_through_the_benchmarks() -> None:
    folder = ROOT / "benchmarks"
    files = {path.name for path in folder.glob("*.py")} - {"__init__.py"}
    assert set(road(folder, "harness.py")) == files


def test_docstrings_name_files_that_are_there() -> None:
    for path in sorted(PACKAGE.rglob("*.py")):
        text = docstring(path)
        # cffi writes the one without.
        assert text or path.name == "_cuda_driver.py", f"{path} has no docstring"
        beside = [path.parent, PACKAGE, ROOT, C_CODE]
        for name in re.findall(r"[\w/-]+\.(?:py|c|h|md)\b", text):
            if name not in ("my_adapter.py", "folder/file.py"):  # names for examples
                there = any((folder / name).is_file() for folder in beside)
                assert there, f"{path}: there is no {name}"
