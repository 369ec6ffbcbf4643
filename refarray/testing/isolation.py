"""Run risky checks in a child process, where a crash or a hang is a finding.

One child runs many checks. It writes what it is about to do and what it found to a
file, line by line; when it dies, the rule it was at is the one that killed it, and a
new child goes on behind it. Next: child.py, the other side.
"""

from __future__ import annotations

import inspect
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from refarray.testing.adapters import Adapter
from refarray.testing.findings import Finding, NotApplicable, Rule

CHILD = "refarray.testing.child"
#: Seconds that one check may take before the child ends itself; the environment
#: variable REFARRAY_CHECK_PATIENCE says otherwise.
DEFAULT_PATIENCE = "60"


def patience() -> float:
    """Return the seconds that one check may take."""
    return float(os.environ.get("REFARRAY_CHECK_PATIENCE", DEFAULT_PATIENCE))


def name_of(adapter: Adapter) -> str:
    """Return `module:Class` or `file.py:Class`, by which a child finds the adapter."""
    kind = type(adapter)
    if "<locals>" in kind.__qualname__:
        raise NotApplicable(
            f"{kind.__qualname__} must stand at the top of a module: "
            "this check imports it again in a child process"
        )
    if kind.__module__ == "__main__":
        return f"{inspect.getfile(kind)}:{kind.__qualname__}"
    return f"{kind.__module__}:{kind.__qualname__}"


def run_late(adapter: Adapter) -> subprocess.CompletedProcess[str]:
    """Let a child take a tensor and delete it after its interpreter has gone."""
    ended = _child([name_of(adapter), "late"])
    if "Traceback" in ended.stderr:
        raise RuntimeError(f"the child process failed:\n{ended.stderr}")
    return ended


def judge_in_child(adapter: Adapter, rules: Sequence[Rule]) -> list[Finding]:
    """Run these checks in child processes."""
    try:
        name = name_of(adapter)
    except NotApplicable as reason:
        return [Finding(r.number, r.level, "skip", str(reason), "") for r in rules]
    findings: list[Finding] = []
    left = list(rules)
    while left:
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder, "report")
            report.touch()
            numbers = ",".join(str(rule.number) for rule in left)
            ended = _child([name, "check", numbers, str(report)])
            lines = [json.loads(line) for line in report.read_text().splitlines()]
        if not lines:
            raise RuntimeError(f"the child process did not start:\n{ended.stderr}")
        found = [Finding(**line["finding"]) for line in lines if "finding" in line]
        findings += found
        done = {line["done"] for line in lines if "done" in line}
        if len(done) < len(left):
            culprit = next(rule for rule in left if rule.number not in done)
            findings = [f for f in findings if f.rule != culprit.number]
            findings.append(_death(culprit, lines, ended))
            done.add(culprit.number)
        left = [rule for rule in left if rule.number not in done]
    return findings


def _child(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(str(Path(entry).resolve()) for entry in sys.path)
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-m", CHILD, *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )


def _death(
    rule: Rule, lines: list[dict[str, Any]], ended: subprocess.CompletedProcess[str]
) -> Finding:
    code = ended.returncode
    if "Timeout" in ended.stderr:
        seen = f"no answer after {patience():g} s"
    elif code < 0:
        seen = f"the process died of {signal.Signals(-code).name}"
    else:
        last = ended.stderr.strip().splitlines()[-1:] or ["nothing on stderr"]
        seen = f"the process ended with {code}: {last[0]}"
    case = lines[-1].get("case", rule.where)
    return Finding(rule.number, rule.level, "crash", seen, case)
