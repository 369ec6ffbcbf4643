"""Imports of compiled modules, which the contract of `make layers` cannot see.

The contract stands in pyproject.toml. It has to allow refarray/_memory/native.py the
import of the whole package, which is how it sees that of the compiled _native.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "refarray"

# Everything here may be imported from refarray/__init__.py, so none of it imports that.
CHAPTERS = ["_base", "_memory", "dlpack", "_compute", "_standard"]


def python_files(*folders: str) -> list[str]:
    return [
        path.relative_to(PACKAGE).as_posix()
        for folder in folders
        for path in sorted(PACKAGE.joinpath(folder).rglob("*.py"))
    ]


def imports(file: str) -> Iterator[str]:
    """Absolute dotted names of what a file imports, wherever in it that happens."""
    package = ["refarray", *Path(file).parts[:-1]]
    for node in ast.walk(ast.parse(PACKAGE.joinpath(file).read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            module = ".".join(above + ([node.module] if node.module else []))
            yield from (f"{module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("file", python_files(*CHAPTERS))
def test_chapters_do_not_import_the_whole(file: str) -> None:
    parts = {"_native", "_cuda_driver", *CHAPTERS}
    for name in imports(file):
        package, _, rest = name.partition(".")
        if package == "refarray":
            assert rest.split(".")[0] in parts, f"{file} imports {name}"


def test_one_file_imports_the_native_module() -> None:
    assert [
        file
        for file in python_files(".")
        if any(name.startswith("refarray._native") for name in imports(file))
    ] == ["_memory/native.py"]


@pytest.mark.parametrize("file", python_files("testing"))
def test_testing_sees_only_what_users_see(file: str) -> None:
    for name in imports(file):
        if name.startswith("refarray."):
            assert not name.split(".")[1].startswith("_"), f"{file} imports {name}"
