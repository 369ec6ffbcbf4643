"""Run checks in a child process, where a crash or a hang is a finding.

One child runs many checks. It writes what it is about to do and what it found to a
file, line by line; when it dies, the rule it was at is the one that killed it, and a
new child goes on behind it. Next: child.py, the other side.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from refarray.testing.adapters import Adapter
from refarray.testing.findings import Finding, NotApplicable, Rule
from refarray.testing.loading import LoadingError, name_of

CHILD = "refarray.testing.child"
#: Seconds that one check may take before the child ends itself; the environment
#: variable REFARRAY_CHECK_PATIENCE says otherwise.
DEFAULT_PATIENCE = "60"
#: Seconds that a library may take to be imported.
LONGEST_START = 300.0
#: How a process ends that we kill; on Windows as if it had ended itself.
if sys.platform == "win32":
    KILLED = 1
else:
    KILLED = -signal.SIGKILL


def patience() -> float:
    """Return the seconds that one check may take."""
    return float(os.environ.get("REFARRAY_CHECK_PATIENCE", DEFAULT_PATIENCE))


def run_late(adapter: Adapter) -> subprocess.CompletedProcess[str]:
    """Let a child take a tensor and delete it after its interpreter has gone.

    subprocess.TimeoutExpired if it does not end: then the child is ended.
    """
    ended = subprocess.run(
        **_command([name_of(adapter), "late"]),
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=patience(),
    )
    if "Traceback" in ended.stderr:
        raise RuntimeError(f"the child process failed:\n{ended.stderr}")
    return ended


def judge_in_child(adapter: Adapter, rules: Sequence[Rule]) -> list[Finding]:
    """Run these checks in child processes."""
    try:
        name = name_of(adapter)
    except NotApplicable as reason:
        return [Finding(r.number, r.level, "skip", str(reason), "") for r in rules]
    return [finding for _, findings in Run(name, rules) for finding in findings]


class Run:
    """Checks of one adapter in child processes: a rule and its findings at a time.

    Raises LoadingError if no child can load the adapter.
    """

    def __init__(self, name: str, rules: Sequence[Rule]) -> None:
        self.name, self.left = name, list(rules)
        #: Name and version of the library, from the first child on.
        self.about: dict[str, str] = {}

    def __iter__(self) -> Iterator[tuple[Rule, list[Finding]]]:
        while self.left:
            with tempfile.TemporaryDirectory() as folder:
                yield from self._one_child(Path(folder))

    def _one_child(self, folder: Path) -> Iterator[tuple[Rule, list[Finding]]]:
        report, errors = folder / "report", folder / "errors"
        report.touch()
        numbers = ",".join(str(rule.number) for rule in self.left)
        command = _command([self.name, "check", numbers, str(report)])
        findings: list[Finding] = []
        last, case, started = time.monotonic(), "", False
        with errors.open("w") as stream, report.open(encoding="utf-8") as lines:
            child = subprocess.Popen(
                **command, stdout=subprocess.DEVNULL, stderr=stream
            )
            try:
                for line in _follow(child, lines):
                    last = time.monotonic()
                    if "error" in line:
                        raise LoadingError(line["error"])
                    self.about = line.get("about", self.about)
                    started = started or "start" in line
                    case = "" if "start" in line else line.get("case", case)
                    if "finding" in line:
                        findings.append(Finding(**line["finding"]))
                    if "done" in line:
                        yield self.left.pop(0), findings
                        findings = []
            finally:
                child.kill()
                child.wait()
        said = errors.read_text(errors="replace")
        if not started:
            tail = "\n".join(said.strip().splitlines()[-4:])
            how = _end(child.returncode, said, last)
            raise LoadingError(f"{self.name} cannot be loaded: {how}\n{tail}")
        if self.left:
            rule = self.left.pop(0)
            seen = _end(child.returncode, said, last)
            reproduce = case or rule.where
            yield rule, [Finding(rule.number, rule.level, "crash", seen, reproduce)]


def _command(arguments: list[str]) -> dict[str, Any]:
    path = os.pathsep.join(str(Path(entry).resolve()) for entry in sys.path)
    return {
        # With our path and, for -P, no other: the current folder may be left out of it.
        "args": [sys.executable, "-P", "-X", "faulthandler", "-m", CHILD, *arguments],
        "env": {**os.environ, "PYTHONPATH": path},
        "stdin": subprocess.DEVNULL,
    }


def _follow(child: subprocess.Popen[Any], lines: Any) -> Iterator[dict[str, Any]]:
    """Yield what the child writes until it ends, or is silent for too long."""
    begun, silent_since, rest = False, time.monotonic(), ""
    while True:
        ended = child.poll() is not None
        text = rest + lines.read()
        *whole, rest = text.split("\n")
        for line in whole:
            silent_since = time.monotonic()
            found = json.loads(line)
            begun = begun or "start" in found
            yield found
        # The child ends itself when its patience is over; if it cannot, we end it.
        allowed = 2 * patience() + 10 if begun else LONGEST_START
        if ended or time.monotonic() - silent_since > allowed:
            return
        time.sleep(0.01)


def _end(code: int, said: str, last: float) -> str:
    """Say how a child ended."""
    if "Timeout" in said:
        return f"no answer after {patience():g} s"
    if code == KILLED and time.monotonic() - last > patience():
        return f"no answer after {time.monotonic() - last:.0f} s"
    if sys.platform == "win32" and code >= 0xC0000000:
        return f"the process died of exception {code:#x}"
    if code < 0:
        return f"the process died of {signal.Signals(-code).name}"
    lines = said.strip().splitlines()[-1:] or ["nothing on stderr"]
    return f"the process ended with {code}: {lines[0]}"
