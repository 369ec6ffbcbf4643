"""The marks of the tests here, and `--record FILE`, which writes what they state.

    @pytest.mark.works       what else the library does, in the exchange
    @pytest.mark.refuses     what it refuses, or refarray does, as it should
    @pytest.mark.bug(url)    what it does wrong, and where that is reported (or None),
                             or the page of docs/upstream/ that has a script for it

The first line of a marked test's docstring is a sentence of docs/reference/field.md. A
module may say more: LIBRARY and VERSION of what it tests, and DIRECTIONS ("both",
"gives", "takes" or "none"), if that does not follow from its class of exchange.py.
"""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import Any

import pytest

pytest.register_assert_rewrite("exchange", "gives", "takes", "traces", "faults")

from side import Side  # noqa: E402

MARKS = {
    "works": "works: what else the library does in the exchange",
    "refuses": "refuses: what the library or refarray refuses, as it should",
    "bug": "bug(url): what the library does wrong, and where that is reported",
}

#: Statement of a class of the battery -> the test without which nothing is known of it.
#: In the order in which field.json has them.
PROOFS = {
    "takes": "test_takes_values",
    "refusal": "test_refuses_other_types",
    "converts": "test_takes_values",
    "refused_layouts": "test_refuses_other_layouts",
    "copied_layouts": "test_takes_layouts",
    "copies": "test_our_writes_are_seen_there_and_its_writes_here",
    "read_only": "test_our_read_only_memory",
    "asks": "test_what_it_asks",
    "gives": "test_gives_values",
    "given_layouts": "test_gives_layouts",
    "gives_version": "test_the_version_of_its_capsules",
    "gives_writable": "test_gives_values",
    "given_read_only": "test_its_read_only_memory",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--record",
        metavar="FILE",
        type=Path,
        help="write what the tests here state of their library, and which ran",
    )


def pytest_configure(config: pytest.Config) -> None:
    for line in MARKS.values():
        config.addinivalue_line("markers", line)
    path = config.getoption("--record", default=None)
    if path is not None:
        config.pluginmanager.register(Recorder(path))


class Recorder:
    """Writes what passed, once all of it has."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.items: list[pytest.Item] = []
        self.passed: set[str] = set()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.items = session.items

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.passed.add(report.nodeid)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        if exitstatus == pytest.ExitCode.OK and self.passed:
            text = json.dumps(self.record(), indent=1)
            self.path.write_text(text, encoding="utf-8")

    def record(self) -> dict[str, Any]:
        """Return what field.json keeps of a library."""
        items = [item for item in self.items if item.nodeid in self.passed]
        classes = {item.cls for item in items if issubclass(item.cls or object, Side)}
        kinds = sorted(classes, key=lambda kind: kind.__name__)
        for kind in kinds:
            require_proofs(kind, {i.originalname for i in items if i.cls is kind})  # type: ignore[attr-defined]
        statements = [statement(kind) for kind in kinds]
        record: dict[str, Any] = {
            "python": platform.python_version(),
            "platform": f"{platform.system()} {platform.machine()}",
            "directions": directions(statements),
        }
        for kind in kinds:
            record |= {"name": kind.adapter.name, "version": kind.adapter.version}
        for item in items:
            for word in ("LIBRARY", "VERSION", "DIRECTIONS"):
                said = getattr(item.module, word, None)  # type: ignore[attr-defined]
                if isinstance(said, str):  # VERSION of arrays.py is a pair
                    key = "name" if word == "LIBRARY" else word.lower()
                    record[key] = str(said)
        if not {"name", "version"} <= set(record):
            raise pytest.UsageError("without an adapter, say LIBRARY and VERSION")
        record["exchange"] = statements
        for mark in MARKS:
            record[mark] = sentences(items, mark)
        record["tests"] = len(items)
        return record


def sentences(items: list[pytest.Item], mark: str) -> list[Any]:
    """Return the sentences of all tests with that mark; for bugs, with the report."""
    found: dict[str, Any] = {}
    for item in items:
        marker = item.get_closest_marker(mark)
        if marker is None:
            continue
        lines = (item.function.__doc__ or "").strip().splitlines()  # type: ignore[attr-defined]
        if not lines:
            raise pytest.UsageError(f"{item.nodeid} is marked, and has no docstring")
        sentence = lines[0].rstrip(".")
        found[sentence] = {
            "text": sentence,
            "url": marker.args[0] if marker.args else None,
        }
    return list(found.values()) if mark == "bug" else list(found)


def require_proofs(kind: Any, passed: set[str]) -> None:
    """Let no class state what no test of it has shown."""
    for attribute, test in PROOFS.items():
        if getattr(kind, attribute, None) and test not in passed:
            raise pytest.UsageError(
                f"{kind.__name__} states {attribute!r}, and {test} has not passed"
            )


def statement(kind: Any) -> dict[str, Any]:
    """Return what the attributes of a class of exchange.py state."""
    told: dict[str, Any] = {"about": kind.adapter.name}
    for name in PROOFS:
        if hasattr(kind, name):
            told[name] = plain(getattr(kind, name))
    return told


def plain(value: Any) -> Any:
    """Return a value of a statement as JSON has it, exceptions by their names."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(entry) for entry in value]
    if isinstance(value, type):
        return value.__name__
    return value


def directions(statements: list[dict[str, Any]]) -> str:
    """Return in which direction data goes, by the classes of the battery."""
    takes = any(told.get("takes") for told in statements)
    gives = any(told.get("gives") for told in statements)
    words = {(True, True): "both", (True, False): "takes", (False, True): "gives"}
    return words.get((takes, gives), "none")
