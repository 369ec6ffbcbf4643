"""The child process of isolation.py: python -m refarray.testing.child ADAPTER WHAT ...

ADAPTER is a name as in loading.py. WHAT is `check RULES REPORT`, to run checks and
write a report line by line, or `late`, to leave a deleter for after the end.

Next: rules.py.
"""

from __future__ import annotations

import dataclasses
import faulthandler
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from refarray.testing import findings, isolation, rules, rules_capsule
from refarray.testing.loading import LoadingError, load


def check(name: str, numbers: Sequence[int], report: TextIO) -> None:
    """Run checks; say before each rule and each case what comes."""

    def say(**line: object) -> None:
        report.write(json.dumps(line) + "\n")
        report.flush()

    try:
        adapter = load(name)
    except LoadingError as error:
        say(error=str(error))
        return
    say(about={"name": adapter.name, "version": adapter.version})
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
    if arguments[1] == "late":
        rules_capsule.park_for_exit(load(arguments[0]))
        return
    numbers = [int(n) for n in arguments[2].split(",")]
    with Path(arguments[3]).open("a", encoding="utf-8") as report:
        check(arguments[0], numbers, report)
    # What a library does at its end is no part of any rule.
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
