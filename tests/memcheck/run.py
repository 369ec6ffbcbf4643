"""Run the exchange under memory checkers: `make memcheck`.

1. The C code without Python (tests/native/harness.c): AddressSanitizer with the
   undefined-behaviour checks, valgrind, and ThreadSanitizer.
2. The tests of exchange and memory, under valgrind, with the cache off and Python's own
   allocator replaced by malloc, so that each block is one that valgrind knows.

Before each, a fault on purpose shows that the checker sees: race.c and planted.py.
Exit status 0 when the faults were seen, and nothing else.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
C_CODE = ROOT / "_cffi_build"
HARNESS = ROOT / "tests" / "native" / "harness.c"

TESTS = [
    "tests/native/test_memory.py",
    "tests/dlpack/test_with_numpy.py",
    "tests/dlpack/test_forge.py",
    "tests/dlpack/test_lifetime.py",
    "tests/dlpack/test_lifetime_elsewhere.py",
    "tests/dlpack/test_tracing.py",
]

# CPython makes small integers from a digit that it has not written, times zero; much
# depends on them, so undefined values are looked for in the C code without Python only.
VALGRIND = ["valgrind", "--leak-check=full", "--show-leak-kinds=definite"]
PYTHON_TOO = [
    "--undef-value-errors=no",
    "--num-callers=25",
    f"--suppressions={HERE / 'valgrind.supp'}",
]

ENVIRONMENT = {
    **os.environ,
    "REFARRAY_CACHE": "0",
    "PYTHONMALLOC": "malloc",
    "OPENBLAS_NUM_THREADS": "1",
}


class Failed(Exception):
    """A check did not end as it should."""


def run(
    command: list[str | Path], **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command in the repository, with what it says in one text."""
    return subprocess.run(
        command,
        cwd=ROOT,
        env={**ENVIRONMENT, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )


def expect(condition: bool, words: str, output: str) -> None:
    """Fail with these words and the end of the output."""
    if not condition:
        raise Failed(words + "\n" + "\n".join(output.splitlines()[-60:]))


# The C code without Python ----------------------------------------------------------


def compile_harness(folder: Path, name: str, memory: Path, *options: str) -> Path:
    """Build the harness and return the program."""
    program = folder / name
    compiler = os.environ.get("CC", "cc").split()
    flags = ["-std=c11", "-g", "-O1", "-pthread", f"-I{C_CODE}", *options]
    parts = [memory, C_CODE / "tensor.c", C_CODE / "deferred.c"]
    built = run([*compiler, *flags, HARNESS, *parts, "-o", program])
    expect(built.returncode == 0, f"{name} could not be built", built.stdout)
    return program


def harness_is_clean(command: list[str | Path]) -> None:
    """Run the harness to its end."""
    result = run(command)
    expect(result.returncode == 0, "an error in the C code", result.stdout)
    expect("nothing left" in result.stdout, "the harness did not end", result.stdout)


def addresses(folder: Path) -> str:
    """AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer."""
    options = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    harness_is_clean([compile_harness(folder, "asan", C_CODE / "memory.c", *options)])
    return "clean"


def undefined_values(folder: Path) -> str:
    """Valgrind, with its search for undefined values."""
    program = compile_harness(folder, "plain", C_CODE / "memory.c")
    harness_is_clean([*VALGRIND, "-q", "--error-exitcode=9", program])
    return "clean"


def planted_race(folder: Path) -> str:
    """ThreadSanitizer sees a cache without its lock."""
    program = compile_harness(folder, "race", HERE / "race.c", "-fsanitize=thread")
    result = run([program], TSAN_OPTIONS="halt_on_error=1")
    seen = "ThreadSanitizer: data race" in result.stdout
    expect(seen and result.returncode != 0, "a race was not seen", result.stdout)
    return "seen"


def races(folder: Path) -> str:
    """ThreadSanitizer."""
    options = ["-fsanitize=thread"]
    harness_is_clean([compile_harness(folder, "tsan", C_CODE / "memory.c", *options)])
    return "clean"


# Python -----------------------------------------------------------------------------


def valgrind(folder: Path, *arguments: str) -> tuple[str, list[ET.Element]]:
    """Run Python under valgrind; return what it printed and the errors that count.

    A leak counts if refarray's C code is in its stack: CPython and NumPy keep much
    until the process ends, and so does what they were asked for at import.
    """
    report = folder / "valgrind.xml"
    xml = ["--xml=yes", f"--xml-file={report}"]
    result = run([*VALGRIND, *PYTHON_TOO, *xml, sys.executable, *arguments])
    found = []
    for error in ET.parse(report).getroot().iter("error"):
        leak = error.findtext("kind", "").startswith("Leak_")
        if not leak or concerns_us(error):
            found.append(error)
    text = result.stdout + "".join(describe(error) for error in found)
    if result.returncode and not found:
        text += f"\nexit status {result.returncode}"
    return text, found


def concerns_us(error: ET.Element) -> bool:
    """Tell whether one of refarray's compiled modules is in a stack of this error."""
    return any(
        Path(frame.findtext("obj", "")).is_relative_to(ROOT / "refarray")
        for frame in error.iter("frame")
    )


def describe(error: ET.Element) -> str:
    """Return kind, text and the innermost frames of an error."""
    text = error.findtext("what") or error.findtext("xwhat/text") or ""
    lines = [f"\n{error.findtext('kind')}: {text}"]
    for frame in list(error.iter("frame"))[:12]:
        place = frame.findtext("file") or Path(frame.findtext("obj", "?")).name
        lines.append(f"  {frame.findtext('fn', '?')} ({place})")
    return "\n".join(lines)


def planted_faults(folder: Path) -> str:
    """Valgrind sees a use after free and a double free in the process of Python."""
    output, found = valgrind(folder, str(HERE / "planted.py"))
    kinds = {error.findtext("kind") for error in found if concerns_us(error)}
    for kind in ("InvalidRead", "InvalidFree"):
        expect(kind in kinds, f"a planted {kind} was not seen", output)
    return "seen"


def exchange(folder: Path) -> str:
    """Valgrind on the tests of the exchange."""
    output, found = valgrind(
        folder,
        *("-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS),
        *("-m", "not (needs_cache or not_under_valgrind)"),
    )
    summary = output.splitlines()[-1] if not found else ""
    expect(not found and " passed" in summary, "errors in the exchange", output)
    return f"clean: {summary}"


CHECKS: list[Callable[[Path], str]] = [
    addresses,
    undefined_values,
    planted_race,
    races,
    planted_faults,
    exchange,
]


def main() -> int:
    """Run all checks; return the exit status."""
    if not shutil.which("valgrind"):
        sys.exit("valgrind is missing; your system's package is named valgrind")
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        for check in CHECKS:
            start = time.monotonic()
            label = (check.__doc__ or "").splitlines()[0]
            print(label, end=" ", flush=True)
            try:
                verdict = check(Path(name))
            except Failed as failure:
                failures += 1
                verdict = f"FAILED: {failure}"
            print(f"{verdict} ({time.monotonic() - start:.0f} s)", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
