"""What the pages say of the code, held against the code. `make docs` checks the rest.

An error of the protocol ends with the section of docs/reference/signatures.md that it
is about, in parentheses; docs/reference/errors.md explains each.
"""

from __future__ import annotations

import ast
import re
import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest

import refarray

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PYTHON = sorted((ROOT / "refarray" / "dlpack").glob("*.py"))
C = sorted((ROOT / "_cffi_build").glob("*.c"))

CLAUSE = re.compile(r"\(((?:array API|DLPack), [^()]+)\)$")

#: Files whose every error is one of the protocol.
WHOLE = {
    *("consumer.py", "cuda.py", "memory.py", "producer.py", "structs.py"),
    *("consumer.c", "exchange.c", "export.c", "import.c"),
}
#: Errors of functions that only refarray calls: they show the call as it should be.
OWN = re.compile(r"^\w+\([^)]*\)$|^prepare_export must")
#: What another library said, handed on.
FORWARDED = re.compile(r"^(…|no buffer of …: …)$")


def python_text(node: ast.AST) -> str | None:
    """The text of a string or f-string, with `…` for what is filled in."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(python_text(part) or "…" for part in node.values)
    return None


def python_messages(path: Path) -> Iterator[tuple[str, bool]]:
    """Each string of a file, and whether it is raised right there."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    raised = {
        id(node.exc.args[0])
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Call)
        and node.exc.args
    }
    parts = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    for node in ast.walk(tree):
        if id(node) in parts:
            continue
        text = python_text(node)
        if text is None and id(node) in raised:
            text = "…"
        if text is not None:
            yield text, id(node) in raised


STRING = r'"(?:[^"\\\n]|\\.)*"'
STRINGS = re.compile(rf"(PyExc_\w+,\s*)?({STRING}(?:[\s\\]*{STRING})*)")


def c_messages(path: Path) -> Iterator[tuple[str, bool]]:
    """Each string of a file in C, and whether it is given to PyErr_Format."""
    for found in STRINGS.finditer(path.read_text(encoding="utf-8")):
        parts = re.findall(STRING, found[2])
        text = "".join(part[1:-1] for part in parts)
        yield re.sub(r"%z?[a-zA-Z]", "…", text), found[1] is not None


MESSAGES = [(path.name, *it) for path in PYTHON for it in python_messages(path)]
MESSAGES += [(path.name, *it) for path in C for it in c_messages(path)]


def test_the_page_of_errors_has_them_all() -> None:
    page = (DOCS / "reference" / "errors.md").read_text(encoding="utf-8")
    explained = re.findall(r"^`(.+)`\n:  ", page, re.MULTILINE)
    assert len(explained) == len(set(explained))
    assert {text for _, text, _ in MESSAGES if CLAUSE.search(text)} == set(explained)


def test_the_page_of_errors_has_what_may_be_wrong_with_a_tensor() -> None:
    source = (ROOT / "_cffi_build" / "tensor.c").read_text(encoding="utf-8")
    page = (DOCS / "reference" / "errors.md").read_text(encoding="utf-8")
    said = re.findall(r"^ *\| (its .+?) \|", page.replace("\\", ""), re.MULTILINE)
    assert set(re.findall(r'"(its .+?)"', source)) == set(said)


def test_each_error_of_the_protocol_names_its_clause() -> None:
    silent = {
        (name, text)
        for name, text, raised in MESSAGES
        if raised and name in WHOLE and not CLAUSE.search(text)
        if not OWN.search(text) and not FORWARDED.search(text)
    }
    assert silent == set()


def test_each_clause_is_a_section_of_the_signatures() -> None:
    page = (DOCS / "reference" / "signatures.md").read_text(encoding="utf-8")
    sections = set(re.findall(r"^## (.+)$", page.replace("\\", ""), re.MULTILINE))
    found = {clause[1] for _, text, _ in MESSAGES if (clause := CLAUSE.search(text))}
    assert found <= sections
    assert found  # the strings are still read as they are written


def test_each_category_of_the_standard_has_a_page() -> None:
    modules = {
        getattr(refarray, name).__module__.rpartition(".")[2]
        for name in refarray.__all__
        if getattr(getattr(refarray, name), "__module__", "").startswith(
            "refarray._standard"
        )
    }
    pages = {path.stem for path in (DOCS / "reference" / "api").glob("*.md")}
    assert modules <= pages


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:)([^)#]+)", text)
    assert [link for link in links if not (ROOT / link).exists()] == []


# ---- The comparison of pages with what they print ------------------------------------

expected = runpy.run_path(str(DOCS / "_extensions" / "expected.py"))


@pytest.mark.parametrize(
    ("said", "printed"),
    [
        ("[7. 1.]", "[7. 1.]\n"),
        ("at 0x...", "at 0x7f00"),
        ("(...) [1.0]", "() [1.0]"),
        ("first\n...\nlast", "first\n2\n3\nlast"),
        ("first\n...", "first\n2\n3"),
        ("Error: no\nreason", "\x1b[31mError: no  \nreason"),
    ],
)
def test_what_agrees(said: str, printed: str) -> None:
    assert expected["agrees"](said, printed)


@pytest.mark.parametrize(
    ("said", "printed"),
    [
        ("[7. 1.]", "[7. 1. 2.]"),
        ("7.0", "710"),
        ("at 0x...", "at 0x7f00\nat 0x7f01"),
        ("first\n...\nlast", "first\nlast of all"),
        ("", "7"),
    ],
)
def test_what_does_not_agree(said: str, printed: str) -> None:
    assert not expected["agrees"](said, printed)


def test_values_in_a_sentence_are_whole_words() -> None:
    has = expected["has_printed"]
    assert has("size 80, (2, 3)", "80")
    assert has("size 80, (2, 3)", "(2, 3)")
    assert not has("size 80, (2, 3)", "8")
    assert not has("0.80", "80")
