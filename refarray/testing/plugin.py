"""Every rule of DLPack as a test, for pytest.

    pytest -p refarray.testing.plugin --dlpack-check my_adapter.py

The name of the library, and `--dlpack-rule` and `--dlpack-allow`, are as in check.py.
Several libraries can be given. Each test is named like `mine: rule 46`, so that
`-k "rule and 46"` chooses one. A broken rule that is only recommended, and one that is
allowed, count as expected failures (x).

The fixture `dlpack_doubles` hands out the doubles of doubles.py and checks after the
test that they were released:

    def test_mine(dlpack_doubles):
        mine.from_dlpack(dlpack_doubles.producer("deleter NULL").array)

The plugin has no entry point: it is there only when asked for.

Next: doubles.py.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any

import pytest

from refarray.testing.check import UsageError, chosen, resolve
from refarray.testing.doubles import Doubles
from refarray.testing.findings import Finding, Rule
from refarray.testing.isolation import Run
from refarray.testing.loading import LoadingError
from refarray.testing.report import Judgement


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    group = parser.getgroup("dlpack", "conformance with DLPack")
    group.addoption(
        "--dlpack-check",
        action="append",
        default=[],
        metavar="LIBRARY",
        help="hold a library against the rules: numpy, mine.py, package.module:Class",
    )
    group.addoption(
        "--dlpack-rule", action="append", metavar="N", help="only these: 46, 1-36"
    )
    group.addoption(
        "--dlpack-allow",
        action="append",
        metavar="N",
        help="rules that are known to be broken: they may fail",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add a test for each rule of each library."""
    given = config.option
    for library in given.dlpack_check:
        try:
            name, numbers = resolve(library)
            rules = chosen(given.dlpack_rule)
            allowed = chosen(given.dlpack_allow or [])
        except UsageError as error:
            raise pytest.UsageError(f"--dlpack-check {library}: {error}") from error
        rules = [rule for rule in rules if rule.number in numbers]
        checks = Checks(name)
        for rule in rules:
            item = RuleItem.from_parent(
                session,
                name=f"{library}: rule {rule.number}",
                nodeid=f"dlpack::{library}: rule {rule.number}",
                rule=rule,
                checks=checks,
                is_allowed=rule in allowed,
            )
            items.append(item)


def pytest_runtestloop(session: pytest.Session) -> None:
    """Tell each library which of its rules are still to be run, after -k and -m."""
    for item in session.items:
        if isinstance(item, RuleItem):
            item.checks.rules.append(item.rule)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """End the children, also after an interruption or -x."""
    for item in getattr(session, "items", ()):
        if isinstance(item, RuleItem):
            item.checks.running.close()


_RETURNED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note whether the test function came to its end."""
    if call.when == "call":
        item.stash[_RETURNED] = call.excinfo is None
    return (yield)


@pytest.fixture
def dlpack_doubles(request: pytest.FixtureRequest) -> Generator[Doubles, None, None]:
    """Make DLPack producers and consumers with one fault each, checked afterwards.

    A test that has failed already is not checked: its traceback keeps arrays alive.
    """
    doubles = Doubles()
    yield doubles
    try:
        if request.node.stash.get(_RETURNED, False):
            # Here pytest still keeps the values of fixtures that have ended.
            request.node.funcargs.clear()
            doubles.assert_released()
    finally:
        doubles.close()


class Checks:
    """The checks of one library; a child process runs them one after the other."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.rules: list[Rule] = []
        self.found: dict[int, list[Finding]] = {}
        self.running = self._run([])
        self.unloadable: LoadingError | None = None

    def findings(self, rule: Rule) -> list[Finding]:
        """Return what is found about a rule; all before it are run too."""
        while rule.number not in self.found:
            if self.unloadable:
                raise self.unloadable
            try:
                step = next(self.running, None)
            except LoadingError as error:
                self.unloadable = error
                raise
            if step is None:
                rules = [r for r in self.rules if r.number not in self.found]
                self.running = self._run(rules or [rule])
            else:
                self.found[step[0].number] = step[1]
        return self.found[rule.number]

    def _run(
        self, rules: list[Rule]
    ) -> Generator[tuple[Rule, list[Finding]], None, None]:
        yield from Run(self.name, rules)


class Broken(Exception):
    """A rule is broken; the message is the whole report."""


class RuleItem(pytest.Item):
    """One rule as a test."""

    def __init__(
        self, *, rule: Rule, checks: Checks, is_allowed: bool, **keywords: Any
    ) -> None:
        super().__init__(**keywords)
        self.rule, self.checks, self.is_allowed = rule, checks, is_allowed

    def runtest(self) -> None:
        """Look at what the check found."""
        judgement = Judgement(self.rule, self.checks.findings(self.rule))
        if judgement.verdict == "skip":
            pytest.skip(judgement.findings[0].seen)
        if judgement.verdict in ("fail", "crash"):
            if self.is_allowed or not judgement.is_broken:
                why = "allowed" if self.is_allowed else f"only {judgement.level}"
                pytest.xfail(f"{why}: {judgement.findings[0].seen}")
            raise Broken("\n".join(_story(judgement)))

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """Show the rule and what was seen, not the inside of this plugin."""
        if isinstance(excinfo.value, Broken | LoadingError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Say where the test stands: in no file."""
        library = self.name.rpartition(":")[0]
        return "dlpack", None, f"{library}, rule {self.rule.number}"


def _story(judgement: Judgement) -> Iterable[str]:
    rule = judgement.rule
    yield f"Rule {rule.number} ({judgement.level}): {rule.text}"
    yield f"Source: {rule.source}"
    for finding in judgement.findings:
        yield f"  {finding.verdict}: {finding.seen}"
        yield f"    in {finding.reproduce}"
