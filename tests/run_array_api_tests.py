"""Run the official test suite of the standard, data-apis/array-api-tests, on refarray.

    make array-api-tests [VERSION=2023.12] [EXAMPLES=200] [CORRECTED=1]
                         [DEVICE=simulated]

The suite is not on a package index, so it is cloned into .cache/, with the text of the
standard that it reads, at the commits below. There is no skip file and no xfail file:
every test of the suite counts. A whole run becomes one row of
docs/reference/array-api-tests.md.

Two lines of the suite are wrong for old versions of the standard, whatever the library;
`--corrected` replaces them in the clone.

For 2021.12 and 2022.12 the namespace gets a few names that came later, which the suite
uses in every version.

With `--device simulated`, the default device is a simulated CUDA device, beside another
and the CPU, and one line of the suite that is right for the CPU only is replaced. A
race between its streams is an error of the test that it happens in.

Exit status: that of pytest, or 3 if the suite cannot be cloned (0 with `--optional`).
"""

from __future__ import annotations

import argparse
import datetime
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import refarray

ROOT = Path(__file__).resolve().parents[1]
SUITE = ROOT / ".cache" / "array-api-tests"
SUMMARY = ROOT / "docs" / "reference" / "array-api-tests.md"

SOURCES = (
    (
        SUITE,
        "https://github.com/data-apis/array-api-tests.git",
        "55fcc60179efa2680ddd6cd926ddf17b83530e2b",
    ),
    (
        SUITE / "array-api",
        "https://github.com/data-apis/array-api.git",
        "5f847a3858875c682ae901aa22b0413bf24be9da",
    ),
)


class Correction(NamedTuple):
    """A line of the suite that is wrong, what it should be, and why."""

    file: str
    wrong: str
    right: str
    why: str


CORRECTIONS = (
    Correction(
        "array_api_tests/_array_module.py",
        '_funcs += ["take", "isdtype", "conj", "imag", "real"]',
        '_funcs += ["take", "isdtype", "conj", "imag", "real", '
        '"__array_namespace_info__"]',
        "test_from_dlpack asks for the devices also before 2023.12, when the suite "
        "does not look that function up",
    ),
    Correction(
        "array_api_tests/hypothesis_helpers.py",
        "all_dtypes = sampled_from(_sorted_dtypes)",
        "all_dtypes = sampled_from(dh.all_dtypes)",
        "in 2021.12, which has no complex dtypes, tests draw them, and Hypothesis "
        "refuses to",
    ),
)

# For a default device whose memory the host cannot read.
DEVICE_CORRECTIONS = (
    Correction(
        "array_api_tests/test_dlpack.py",
        "        x.__dlpack__(**copy_kw, **max_version_kw, **dl_device_kw)",
        '        dl_device_kw = {} if copy_kw.get("copy") is False else dl_device_kw\n'
        "        x.__dlpack__(**copy_kw, **max_version_kw, **dl_device_kw)",
        "test_dunder_dlpack asks a device for its memory on the CPU without a copy, "
        "where the standard has BufferError",
    ),
)


class Result(NamedTuple):
    """What became of the tests, and why some were skipped."""

    passed: int
    failed: list[str]
    skipped: Counter[str]


def main() -> int:
    """Clone, install, run, summarize."""
    parser = argparse.ArgumentParser(description="Run data-apis/array-api-tests.")
    parser.add_argument("--version", default="2025.12", help="of the standard")
    parser.add_argument("--examples", type=int, default=100, help="for each test")
    parser.add_argument("--jobs", default="2", help="processes to run in")
    parser.add_argument(
        "--corrected", action="store_true", help="correct two lines of the suite"
    )
    parser.add_argument(
        "--device", choices=("cpu", "simulated"), default="cpu", help="the default one"
    )
    parser.add_argument(
        "--optional", action="store_true", help="no error if it cannot be cloned"
    )
    parser.add_argument("tests", nargs="*", help="files to run; no summary is written")
    chosen = parser.parse_args()

    for folder, url, commit in SOURCES:
        if not clone(folder, url, commit):
            print(
                f"\n!!! array-api-tests NOT RUN: cannot clone {url} at {commit[:7]}\n"
            )
            return 0 if chosen.optional else 3
    if chosen.corrected:
        for correction in CORRECTIONS:
            correct(correction)
    if chosen.device != "cpu":
        for correction in DEVICE_CORRECTIONS:
            correct(correction)
    install()
    label = chosen.version
    if chosen.corrected:
        label += ", corrected"
    if chosen.device != "cpu":
        label += f", {chosen.device} device"
    report = SUITE / f"{label}.xml"
    status = run_suite(chosen, report)
    if not report.exists():
        return status or 1
    result = read(report)
    print(f"{label}: {counts(result)}")
    if not chosen.tests:
        summarize(label, chosen.examples, result)
    return status


def clone(folder: Path, url: str, commit: str) -> bool:
    """Bring `folder` to `commit`, unchanged; False if that is not possible."""

    def git(*arguments: str) -> bool:
        return subprocess.run(["git", *arguments], check=False).returncode == 0

    checkout = ("-C", str(folder), "checkout", "--quiet", "--force", commit)
    if not (folder / ".git").exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        return git("clone", "--quiet", url, str(folder)) and git(*checkout)
    return git(*checkout) or (
        git("-C", str(folder), "fetch", "--quiet", "origin") and git(*checkout)
    )


def correct(correction: Correction) -> None:
    """Replace a wrong line in the clone, and say so."""
    path = SUITE / correction.file
    text = path.read_text()
    if text.count(correction.wrong) != 1:
        raise SystemExit(
            f"{correction.file} does not have the line {correction.wrong!r}"
        )
    path.write_text(text.replace(correction.wrong, correction.right))
    print(f"corrected {correction.file}: {correction.why}")


def install() -> None:
    """Install what the suite needs beside this Python."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "-qq"]
    requirements = str(SUITE / "requirements.txt")
    subprocess.run([*pip, "-r", requirements, "pytest-xdist"], check=True)


# On one line and without a single quote, for the suite takes no other script.
SIMULATED = (
    "import atexit, contextlib; from refarray import profiles; "
    "from refarray.testing.simulated_driver import simulated_cuda; "
    "stack = contextlib.ExitStack(); atexit.register(stack.close); "
    'stack.enter_context(simulated_cuda(on_race="raise")); '
    'profiles.set_default(devices=["cuda:0", "cuda:1", "cpu"]); '
)


# The suite uses these whatever the version that it tests: when it is imported it looks
# for the widest complex dtype and for the devices, and its test of vecdot calls conj.
NEEDED = ("complex64", "complex128", "conj", "__array_namespace_info__")


def run_suite(chosen: argparse.Namespace, report: Path) -> int:
    """Run pytest in the clone and return its exit status."""
    script = f'import refarray; xp = refarray.namespace("{chosen.version}")'
    there = refarray.namespace(chosen.version)
    for name in NEEDED:
        if not hasattr(there, name):
            script += f"; xp.{name} = refarray.{name}"
    if chosen.device == "simulated":
        script = SIMULATED + script
    environment = {
        **os.environ,
        "ARRAY_API_TESTS_MODULE": f"exec('{script}')",
        "ARRAY_API_TESTS_VERSION": chosen.version,
        # The parallel processes must name the tests alike.
        "PYTHONHASHSEED": "0",
    }
    report.unlink(missing_ok=True)
    command = [
        *(sys.executable, "-m", "pytest", "--quiet", "--disable-warnings"),
        *("-p", "no:cacheprovider"),
        *("-n", chosen.jobs, f"--junitxml={report}"),
        *(f"--max-examples={chosen.examples}", "--disable-deadline"),
        *(f"array_api_tests/{name}" for name in chosen.tests or [""]),
    ]
    return subprocess.run(command, cwd=SUITE, env=environment, check=False).returncode


def read(report: Path) -> Result:
    """Read the results that pytest wrote as JUnit XML."""
    passed, failed, skipped = 0, [], Counter[str]()
    for case in ET.parse(report).iter("testcase"):
        skip = case.find("skipped")
        if skip is not None:
            skipped[skip.get("message", "")] += 1
        elif case.find("failure") is not None or case.find("error") is not None:
            failed.append(case.get("name", ""))
        else:
            passed += 1
    return Result(passed, failed, skipped)


def counts(result: Result) -> str:
    """The three numbers, in words."""
    return (
        f"{result.passed} passed, {len(result.failed)} failed, "
        f"{result.skipped.total()} skipped"
    )


HEADER = f"""\
# The official test suite

data-apis/array-api-tests at {SOURCES[0][2][:7]}, with the text of the standard at
{SOURCES[1][2][:7]}, and neither a skip file nor an xfail file. `make array-api-tests`
runs it and writes one row here: see `tests/run_array_api_tests.py`.

"Flaky" is the suite's word for five tests that it skips for every library; "requires"
stands for tests of what came with a later version of the standard; `fft` came with
2022.12. No skip depends on refarray. "Corrected" rows come from a clone in which two
lines of the suite are replaced, without which no library can pass for 2021.12 and
2022.12; the script says which lines and why. In these two versions the script also adds
later names to the namespace, because the suite uses them in every version: `complex64`,
`complex128`, `conj` and `__array_namespace_info__`. "Simulated device" rows have a
simulated CUDA device as the default one (`DEVICE=simulated`), and another line
replaced, which is right for the CPU only.

| version | date | examples | passed | failed | skipped |
|---|---|---|---|---|---|
"""


def summarize(label: str, examples: int, result: Result) -> None:
    """Write the row of this run into the summary, in place of an earlier one."""
    reasons = [f"{n} {reason}" for reason, n in sorted(result.skipped.items())]
    failed = ": ".join([str(len(result.failed)), ", ".join(sorted(result.failed))])
    cells = (
        label,
        datetime.date.today().isoformat(),
        str(examples),
        str(result.passed),
        failed.removesuffix(": "),
        f"{result.skipped.total()}: {'; '.join(reasons)}",
    )
    rows = {label: f"| {' | '.join(cells)} |"}
    if SUMMARY.exists():
        for line in SUMMARY.read_text().splitlines():
            if line.startswith("| 20"):
                rows.setdefault(line[2:].split(" | ")[0], line)
    SUMMARY.parent.mkdir(parents=True, exist_ok=True)
    SUMMARY.write_text(HEADER + "".join(f"{rows[k]}\n" for k in sorted(rows)[::-1]))


if __name__ == "__main__":
    sys.exit(main())
