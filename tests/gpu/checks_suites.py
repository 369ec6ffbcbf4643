"""Checks by test suites: the contract of all drivers, and data-apis/array-api-tests.

Next: `checks_exchange.py`.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from libraries import library
from record import NotHere, Record
from run_array_api_tests import DEVICE_CORRECTIONS, SIMULATED

ROOT = Path(__file__).resolve().parents[2]


# A line of `pytest -v`, with the outcome before the name (by pytest-xdist) or after it.
BEFORE = re.compile(r"^\[gw\d+\].*? (PASSED|FAILED|ERROR) (.*)", re.MULTILINE)
AFTER = re.compile(r"^(\S+::.*?) (PASSED|FAILED|ERROR)\b", re.MULTILINE)


def run_pytest(
    record: Record, folder: Path, *arguments: str, **environment: str
) -> None:
    """Run pytest in a folder; every test that fails is a failure of the check.

    What it has not done in time is left out.
    """
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider"]
    command += ["-rN", "--tb=line", "--color=no", *arguments]
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **environment, "PYTHONUNBUFFERED": "1"},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            process.wait(record.seconds_left - 5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            record.write("left out", "the rest of the tests", "no time was left")
        output.seek(0)
        text = output.read()
    ended = [(name, outcome) for outcome, name in BEFORE.findall(text)]
    ended += AFTER.findall(text)
    passed = sum(outcome == "PASSED" for _, outcome in ended)
    for name, outcome in ended:
        if outcome != "PASSED":
            record.expect(False, f"{outcome} {name.strip()}")
    record.measure("passed", passed)
    if passed < len(ended) or not ended:
        record.measure("pytest said", text[-3000:])
    record.expect(passed > 50, f"{passed} tests ran and passed")


def need(*packages: str) -> None:
    """Leave the check out where a package is missing."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            raise NotHere(f"{package} is not installed")


def contract(record: Record) -> None:
    """tests/cuda/test_contract*.py, which the fake and the simulation pass too."""
    need("pytest")
    files = sorted(map(str, (ROOT / "tests" / "cuda").glob("test_contract*.py")))
    # Whichever library answers to the name of the driver is the target "driver".
    target = "simulation" if record.target == "simulation" else "driver"
    run_pytest(record, ROOT, "-k", target, *files)


# As in run_array_api_tests.py: on one line, and without a single quote.
ON_DEVICE = "from refarray import profiles; " + (
    'profiles.set_default(devices=["cuda:0", "cpu"]); '
)
SCRIPT = 'import refarray; xp = refarray.namespace("2025.12")'


def array_api_tests(record: Record) -> None:
    """data-apis/array-api-tests, with few examples, the device as the default one."""
    if record.suite is None:
        raise NotHere("no folder of array-api-tests was given (--suite)")
    if record.target != "simulation":
        library(record, "cupy")
    need("pytest", "hypothesis", "ndindex")
    begin = SIMULATED if record.target == "simulation" else ON_DEVICE
    with tempfile.TemporaryDirectory() as place:
        suite = Path(place) / "suite"
        shutil.copytree(record.suite, suite, ignore=shutil.ignore_patterns(".git"))
        for correction in DEVICE_CORRECTIONS:
            path = suite / correction.file
            text = path.read_text().replace(correction.wrong, correction.right)
            path.write_text(text)
        arguments = ["--max-examples=3", "--disable-deadline", "--disable-warnings"]
        if importlib.util.find_spec("xdist"):
            arguments += ["-n", str(min(8, os.cpu_count() or 1))]
        run_pytest(
            record,
            suite,
            *arguments,
            "array_api_tests",
            ARRAY_API_TESTS_MODULE=f"exec('{begin}{SCRIPT}')",
            ARRAY_API_TESTS_VERSION="2025.12",
            PYTHONHASHSEED="0",  # the parallel processes must name the tests alike
        )
