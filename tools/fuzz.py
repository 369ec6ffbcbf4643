"""Fuzz the importer for some minutes: `make fuzz MINUTES=60`.

    python tools/fuzz.py MINUTES

atheris (libFuzzer for Python) runs tests/stress/fuzz.py in an environment of its own.
Where there is clang, the C code is compiled for it too: libFuzzer then sees which C
lines an input reaches, and AddressSanitizer and UndefinedBehaviorSanitizer look on. The
inputs that were worth keeping stay in the environment, for the next time. Without
atheris, random bytes are tried in its place, and that is said. Exit status 1 after a
find.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from environments import ROOT, Environment, NotInstalled, copy_sources

PROGRAM = ROOT / "tests" / "stress" / "fuzz.py"
SANITIZERS = "-O1 -g -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize=function"


@dataclass(frozen=True)
class Fuzzer(Environment):
    """The environment of the fuzzer."""

    name: str = "fuzz"

    @property
    def requirements(self) -> list[str]:
        """What to install."""
        return ["--only-binary=atheris", "atheris==3.0.0", "setuptools>=77"]

    def compiled(self) -> Path | None:
        """Return a folder with refarray compiled for libFuzzer; None without clang."""
        if not shutil.which("clang"):
            return None
        built = self.folder / "refarray-for-libfuzzer"
        shutil.rmtree(built, ignore_errors=True)
        # Not the checkout: its own build would be taken for up to date, or replaced.
        source = self.folder / "source"
        shutil.rmtree(source, ignore_errors=True)
        source.mkdir()
        copy_sources(source)
        settings = {"CC": "clang", "LDSHARED": "clang -shared", "CFLAGS": SANITIZERS}
        command = ["setup.py", "-q", "build", "--build-lib", str(built)]
        ended = subprocess.run(
            [self.python, *command],
            cwd=source,
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            check=False,
        )
        if ended.returncode:
            sys.exit(f"the C code was not compiled by clang:\n{ended.stderr[-2000:]}")
        return built

    def runtime(self) -> Path:
        """Return AddressSanitizer and libFuzzer, as atheris brings them."""
        return next(self.folder.glob("lib/python*/site-packages/asan_with_fuzzer.so"))

    def run(self, minutes: float) -> int:
        """Fuzz; return the exit status."""
        corpus = self.folder / "corpus"
        corpus.mkdir(exist_ok=True)
        settings, compiled = dict(os.environ), self.compiled()
        if compiled is None:
            print("without clang: the C code is not watched", flush=True)
        else:
            settings |= {
                "PYTHONPATH": str(compiled),
                "LD_PRELOAD": str(self.runtime()),
                "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
                "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
                "PYTHONMALLOC": "malloc",
                "REFARRAY_CACHE": "0",
            }
        options = {
            "max_total_time": round(60 * minutes),
            "max_len": 256,
            "timeout": 300,
            "report_slow_units": 300,
            "rss_limit_mb": 4096,
            "artifact_prefix": f"{self.folder}/find-",
            "print_final_stats": 1,
        }
        arguments = [f"-{name}={value}" for name, value in options.items()]
        with subprocess.Popen(
            [self.python, PROGRAM, corpus, *arguments],
            env=settings,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as fuzzer:
            for line in fuzzer.stdout or ():
                if not re.match(r"INFO: Instr|#\d+\s+(NEW|REDUCE)", line):
                    print(line, end="", flush=True)
        return 1 if fuzzer.returncode else 0


def main() -> int:
    """Fuzz for the minutes that are asked for."""
    minutes = float(sys.argv[1])
    fuzzer = Fuzzer()
    try:
        fuzzer.build()
    except NotInstalled as reason:
        print(f"NO ATHERIS HERE, SO RANDOM BYTES ARE TRIED IN ITS PLACE: {reason}")
        sys.stdout.flush()
        seed = str(random.randrange(2**32))
        command = [sys.executable, PROGRAM, "--random", str(minutes), seed]
        return subprocess.run(command, check=False).returncode
    return fuzzer.run(minutes)


if __name__ == "__main__":
    sys.exit(main())
