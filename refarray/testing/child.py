"""The child process of isolation.py: python -m refarray.testing.child ADAPTER WHAT ...

ADAPTER is `module:Class` or `file.py:Class`. WHAT is `check RULES REPORT`, to run
checks and write a report line by line, or `late`, to leave a deleter for after the end.
"""

from __future__ import annotations

import dataclasses
import faulthandler
import importlib
import json
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from refarray.testing import findings, isolation, rules, rules_capsule
from refarray.testing.adapters import Adapter


def load(name: str) -> Adapter:
    """Import an adapter class by name and make one."""
    where, _, attribute = name.rpartition(":")
    if where.endswith(".py"):
        kind = runpy.run_path(where, run_name="<adapter>")[attribute]
    else:
        kind = getattr(importlib.import_module(where), attribute)
    adapter: Adapter = kind()
    return adapter


def check(adapter: Adapter, numbers: Sequence[int], report: TextIO) -> None:
    """Run checks; say before each rule and each case what comes."""

    def say(**line: object) -> None:
        report.write(json.dumps(line) + "\n")
        report.flush()

    findings.listen(lambda case: say(case=case))
    for number in numbers:
        say(start=number)
        faulthandler.dump_traceback_later(isolation.patience(), exit=True)
        for finding in findings.judge(rules.RULES[number], adapter):
            say(finding=dataclasses.asdict(finding))
        faulthandler.cancel_dump_traceback_later()
        say(done=number)


def main(arguments: Sequence[str]) -> None:
    """Do what the arguments say."""
    adapter = load(arguments[0])
    if arguments[1] == "late":
        rules_capsule.park_for_exit(adapter)
        return
    numbers = [int(n) for n in arguments[2].split(",")]
    with Path(arguments[3]).open("a", encoding="utf-8") as report:
        check(adapter, numbers, report)


if __name__ == "__main__":
    main(sys.argv[1:])
