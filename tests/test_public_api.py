"""What is public is documented, and nothing else is exported; and files stay short.

The layering itself is the contract of `make layers` and of tests/test_layers.py; here
stands that every chapter is in it.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from _cffi_backend import FFI

import refarray

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "refarray"

PUBLIC = [
    "refarray",
    "refarray.cuda",
    "refarray.dlpack",
    "refarray.fft",
    "refarray.linalg",
    "refarray.memory",
    "refarray.profiles",
]

# Objects of kinds that carry no docstring: numbers, versions, None, and cffi's `ffi`.
PLAIN = (int, float, str, tuple, type(None), FFI)

LONGEST = 400


def module(name: str) -> ModuleType:
    found = refarray
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("name", PUBLIC)
def test_what_is_exported_is_there_and_documented(name: str) -> None:
    public = module(name)
    assert inspect.getdoc(public)
    assert len(set(public.__all__)) == len(public.__all__)
    for exported in public.__all__:
        thing = getattr(public, exported)
        if not isinstance(thing, PLAIN):
            assert inspect.getdoc(thing), f"{name}.{exported} has no docstring"


@pytest.mark.parametrize("name", PUBLIC)
def test_methods_and_properties_are_documented(name: str) -> None:
    public = module(name)
    for exported in public.__all__:
        thing = getattr(public, exported)
        if inspect.isclass(thing) and thing.__module__.startswith("refarray"):
            for attribute, value in vars(thing).items():
                if not attribute.startswith("_") and is_code(value):
                    where = f"{name}.{exported}.{attribute}"
                    assert inspect.getdoc(getattr(thing, attribute)), where


def is_code(value: object) -> bool:
    wrapped = getattr(value, "__func__", value)  # of class and static methods
    return inspect.isroutine(wrapped) or isinstance(value, property)


@pytest.mark.parametrize("name", PUBLIC)
def test_dir_shows_what_is_exported(name: str) -> None:
    """And little else: what a module imports for itself has an underscore or a home."""
    public = module(name)
    seen = {n for n in dir(public) if not n.startswith("_")}
    assert set(public.__all__) - seen <= {n for n in public.__all__ if n[0] == "_"}
    for other in sorted(seen - set(public.__all__)):
        thing = getattr(public, other)
        defined_here = getattr(thing, "__module__", None) == public.__name__
        assert not defined_here, f"{name}.{other} is defined here and not exported"


def test_testing_documents_what_it_exports() -> None:
    """Its files are public one by one, and each says what it is for."""
    for path in sorted((PACKAGE / "testing").rglob("*.py")):
        tree = ast.parse(path.read_text())
        assert ast.get_docstring(tree), path
        if path.stem.startswith("_"):
            continue
        for node in tree.body:
            if (
                isinstance(node, ast.FunctionDef | ast.ClassDef)
                and not node.name.startswith("_")
                and not node.name.startswith("pytest_")  # their names are pytest's
            ):
                assert ast.get_docstring(node), f"{path}: {node.name}"


def test_the_reference_has_a_page_for_all_of_it() -> None:
    """`{members}` in a page stands for all that a module exports or defines."""
    pages = ROOT / "docs" / "reference" / "api"
    everything = "".join(page.read_text() for page in sorted(pages.glob("*.md")))
    shown = set(re.findall(r"\{members\} (refarray[\w.]*)", everything))
    for name in PUBLIC[1:]:
        home = module(name).__name__
        assert home in shown, f"no page of {pages} has {{members}} {home}"
    for exported in refarray.__all__:
        thing = getattr(refarray, exported)
        if inspect.isfunction(thing):
            alone = f"autofunction:: refarray.{exported}\n"
            assert thing.__module__ in shown or alone in everything, exported


def test_every_chapter_has_its_place_in_the_contract() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    layers, testing, _ = project["tool"]["importlinter"]["contracts"]
    inside = {
        path.stem
        for path in PACKAGE.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    outside = {"__init__", "testing", "_cuda_driver", "memory"}
    assert inside - outside == set(layers["layers"])
    assert testing["source_modules"] == ["refarray.testing"]
    importlib.import_module("refarray.memory")  # above `_memory`, below nothing


def own_files() -> list[str]:
    """The files that git has, which people wrote; of a copy without git, none."""
    listed = subprocess.run(
        ["git", "ls-files", "*.py", "*.c", "*.h"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return [name for name in listed.stdout.splitlines() if (ROOT / name).exists()]


def test_no_file_is_long_without_a_reason() -> None:
    """At most 400 lines; a longer one says "More than 400 lines: why" at its top."""
    without = []
    for name in own_files():
        text = (ROOT / name).read_text()
        top = " ".join(text[:3000].split())
        if text.count("\n") > LONGEST and not re.search("More than 400 lines: ", top):
            without.append(name)
    assert without == []
