"""The rules of DLPack, 1 to 70, and `check`, which holds a library against them.

    from refarray.testing.rules import check
    for finding in check(MyAdapter()):
        print(finding)

`python -m refarray.testing.rules` prints the list as a page of the documentation.
Next: library_table.py and library.py; they and violators.py show that each check sees
what it is for.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from refarray.testing import (
    rules_capsule,
    rules_consumer,
    rules_contents,
    rules_device,
    rules_exchange,
    rules_producer,
    rules_stream,
)
from refarray.testing.adapters import Adapter
from refarray.testing.findings import Finding, Rule, judge
from refarray.testing.isolation import judge_in_child
from refarray.testing.violators import VIOLATORS

#: number -> rule, in order.
RULES: dict[int, Rule] = {
    rule.number: rule
    for rule in sorted(
        rules_device.RULES
        + rules_producer.RULES
        + rules_stream.RULES
        + rules_capsule.RULES
        + rules_consumer.RULES
        + rules_contents.RULES
        + rules_exchange.RULES,
        key=lambda rule: rule.number,
    )
}


def check(
    adapter: Adapter, rules: Iterable[int] | None = None, *, isolate: bool = True
) -> list[Finding]:
    """Check a library; by default against every rule.

    Checks in which libraries are known to crash run in a child process; with
    `isolate=False` everything runs here, which is faster and may end this process.
    """
    chosen = [RULES[number] for number in (RULES if rules is None else rules)]
    findings = []
    for rule in chosen:
        if not (rule.risky and isolate):
            findings += judge(rule, adapter)
    risky = [rule for rule in chosen if rule.risky and isolate]
    if risky:
        findings += judge_in_child(adapter, risky)
    return sorted(findings, key=lambda finding: finding.rule)


HEAD = """\
# The rules of DLPack

Each rule is written once, as the docstring of the function that checks it. `check` of
`refarray.testing.rules` holds any library against all of them. For every rule there is
a planted violator, a library with exactly one fault, which the check catches.
Written by `python -m refarray.testing.rules`; a test compares.

| Rule | Level | Text | Source | Check | Planted violator |
| ---: | --- | --- | --- | --- | --- |
"""


def page() -> str:
    """Return the list of rules as Markdown."""
    rows = []
    for number, rule in RULES.items():
        violator = VIOLATORS[number]
        check_name = rule.where.removeprefix("refarray.testing.")
        fault = f"`{violator.__name__}`: {violator.__doc__}"
        cells = (str(number), rule.level, rule.text, rule.source, f"`{check_name}`")
        rows.append("| " + " | ".join((*cells, fault)) + " |\n")
    return HEAD + "".join(rows)


if __name__ == "__main__":
    sys.stdout.write(page())
