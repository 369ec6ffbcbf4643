"""Nothing lost, whatever fails: `make stress`.

    python tests/stress/run.py                    every step
    python tests/stress/run.py threads signals    these

The native module is built twice more, into .environments/stress: with faults.h, by
which each allocation can be made to fail; and with that and the sanitizers of the C
compiler (addresses, undefined behaviour, leaks), which must first report three planted
faults. Exit status 0 when they were reported, and nothing else. `make memcheck` has
valgrind and the sanitizer of threads.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILDS = ROOT / ".environments" / "stress"
COMPILER = os.environ.get("CC", "cc").split()

#: What each build is compiled and linked with, beside faults.h.
SANITIZERS = "-fsanitize=address,undefined"
FLAGS = {"faults": "", "sanitized": SANITIZERS}

#: The tests of the exchange, of memory, and of what hostile input may do; without those
#: of the checker, which has processes crash on purpose.
EXCHANGE = [
    "--ignore-glob=tests/dlpack/test_rules*",
    *("tests/native/test_memory.py", "tests/dlpack", "tests/test_buffer_protocol.py"),
    *("tests/standard/test_data_types.py", "tests/stress/test_finds.py"),
]
HOSTILE = [
    "tests/stress/test_hostile_capsules.py",
    "tests/stress/test_hostile_pickles.py",
    "tests/stress/test_hostile_folder.py",
    "tests/native/test_subinterpreters.py",
]
#: The marks of tests that cannot run with the sanitizers, for which the cache is off.
NOT_HERE = "needs_cache or not_under_sanitizers"


class Failed(Exception):
    """A step did not end as it should."""


# Builds -------------------------------------------------------------------------------


def build(name: str) -> Path:
    """Build refarray with faults on purpose; return the folder that has it."""
    folder = BUILDS / name
    shutil.rmtree(folder, ignore_errors=True)
    ours = shutil.ignore_patterns("__pycache__", "*.so", "_native.c", "_forge.c")
    for part in ("_cffi_build", "refarray"):
        shutil.copytree(ROOT / part, folder / part, ignore=ours)
    for part in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / part, folder)
    compiled = f"-g -O1 -fno-omit-frame-pointer -include {HERE / 'faults.h'}"
    flags = {"CFLAGS": f"{compiled} {FLAGS[name]}", "LDFLAGS": FLAGS[name]}
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    ended = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | flags,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if ended.returncode:
        raise Failed(f"{name} could not be built\n{ended.stdout[-3000:]}")
    return folder


def environment(build: str, report: Path, leaks: bool) -> dict[str, str]:
    """Return the variables under which Python has a build and its sanitizers."""
    variables = os.environ | {
        "PYTHONPATH": str(BUILDS / build),
        "PYTHONFAULTHANDLER": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    if build == "sanitized":
        library = subprocess.check_output(
            [*COMPILER, "-print-file-name=libasan.so"], text=True
        )
        log = f"log_path={report}"
        variables |= {
            "LD_PRELOAD": library.strip(),
            "PYTHONMALLOC": "malloc",
            "REFARRAY_CACHE": "0",
            "ASAN_OPTIONS": f"detect_leaks={leaks:d}:allocator_may_return_null=1:{log}",
            "UBSAN_OPTIONS": "print_stacktrace=1",
            "LSAN_OPTIONS": "exitcode=0",  # most leaks are not ours: see reported()
        }
    return variables


def run(
    build: str, *arguments: str | Path, leaks: bool = False, fails: bool = False
) -> tuple[str, list[str]]:
    """Run Python with a build; return its last line, and what sanitizers report."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report")
        # Into a file, which a child that was left behind cannot keep open for us.
        output = Path(folder, "output")
        with output.open("w") as file:
            ended = subprocess.run(
                [sys.executable, *arguments],
                cwd=ROOT,
                env=environment(build, report, leaks),
                stdout=file,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
            )
        text = output.read_text(errors="replace")
        # Of undefined behaviour is told beside all else, whatever log_path says.
        files = [path.read_text(errors="replace") for path in Path(folder).glob("r*")]
        found = [error for told in (text, *files) for error in reported(told)]
    if ended.returncode and not fails:
        raise Failed(f"exit status {ended.returncode}\n{text[-4000:]}")
    lines = text.strip().splitlines()
    return lines[-1] if lines else "", found


def reported(report: str) -> list[str]:
    """Return the errors in a report of the sanitizers.

    A leak counts if C code of refarray is in its stack: CPython and NumPy keep much
    until the process ends.
    """
    errors = re.findall(r"^.*runtime error: .*$", report, re.MULTILINE)
    errors += re.findall(r"ERROR: AddressSanitizer: .*(?:\n.*){0,20}", report)
    leaks = re.findall(r"^(?:Direct|Indirect) leak of .*(?:\n +#.*)+", report, re.M)
    return errors + [leak for leak in leaks if re.search("_cffi_build/(?!forge)", leak)]


# Steps --------------------------------------------------------------------------------


def planted() -> str:
    """The sanitizers report faults that were planted in the native module."""
    kinds = {
        "leak": "leak of ",
        "short block": "heap-buffer-overflow",
        "overflow": "signed integer overflow",
    }
    for name, words in kinds.items():
        found = run("sanitized", HERE / "planted.py", name, leaks=True, fails=True)[1]
        if not any(words in error for error in found):
            raise Failed(f"a planted {name} was not reported")
    clean = run("sanitized", HERE / "planted.py", "nothing", leaks=True)[1]
    if clean:
        raise Failed(f"reported though nothing was planted: {clean[0]}")
    return f"{', '.join(kinds)}: reported"


def tests(*names: str) -> Callable[[], str]:
    """Return a step that runs tests under the sanitizers."""

    def step() -> str:
        pytest = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--capture=sys")
        said, found = run("sanitized", *pytest, *names, "-m", f"not ({NOT_HERE})")
        if found:
            raise Failed(found[0])
        return said

    return step


def script(build: str, name: str, leaks: bool = False) -> Callable[[], str]:
    """Return a step that runs a file of this folder."""

    def step() -> str:
        said, found = run(build, HERE / f"{name}.py", leaks=leaks)
        if found:
            raise Failed(found[0])
        return said

    return step


STEPS: dict[str, Callable[[], str]] = {
    "planted": planted,
    "exchange": tests(*EXCHANGE),
    "hostile": tests(*HOSTILE),
    "allocations": script("sanitized", "allocations", leaks=True),
    "changes": script("sanitized", "changing"),
    "interrupts": script("sanitized", "interrupts"),
    "exits": script("faults", "exits"),
    "forks": script("faults", "forks"),
    "threads": script("sanitized", "threads"),
    "signals": script("sanitized", "signals"),
}


def main() -> int:
    """Run the steps that are named, or all; return the exit status."""
    chosen = sys.argv[1:] or list(STEPS)
    if unknown := set(chosen) - set(STEPS):
        sys.exit(f"no such step: {', '.join(unknown)}; there are {', '.join(STEPS)}")
    try:
        for name in FLAGS:
            build(name)
    except Failed as failure:
        sys.exit(str(failure))
    failures = 0
    for name in chosen:
        start = time.monotonic()
        print(f"{name}:", end=" ", flush=True)
        try:
            verdict = STEPS[name]()
        except Failed as failure:
            failures += 1
            verdict = f"FAILED: {failure}"
        print(f"{verdict} ({time.monotonic() - start:.0f} s)", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
