"""Measure the speed of refarray beside other libraries.

    python tools/bench.py                   everything; writes the figures into docs/
    python tools/bench.py exchange small    these subjects only; writes nothing

The other libraries are installed from the package index into an environment of their
own; refarray is this checkout. One that cannot be installed is left out, loudly. Ends
with status 1 if a target is missed.
"""

from __future__ import annotations

import os
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

from environments import Environment, NotInstalled

ROOT = Path(__file__).resolve().parents[1]

LIBRARIES = (
    "array-api-strict==2.6.1",
    "torch==2.13.0",
    "jax==0.10.2" if sys.version_info < (3, 12) else "jax==0.12.0.1",
    "apache-tvm-ffi==0.1.15.post2",
)


@dataclass(frozen=True)
class Libraries(Environment):
    """The environment of all libraries, made with the running interpreter."""

    wanted: tuple[str, ...]

    @property
    def requirements(self) -> list[str]:
        """What to install."""
        return list(self.wanted)

    def interpreter(self) -> str:
        """Return the interpreter to make it with: the C part is built for this one."""
        return sys.executable


def install() -> Libraries:
    """Install all libraries, or those that can be."""
    environment = Libraries("bench", LIBRARIES)
    try:
        environment.build()
    except NotInstalled:
        for library in LIBRARIES:
            environment = Libraries("bench", (library,))
            try:
                environment.build()
            except NotInstalled as reason:
                why = textwrap.shorten(str(reason), 120, placeholder=" ...")
                print(f"NOT MEASURED: {library}: {why}", file=sys.stderr)
    return environment


def main() -> None:
    """Install, then become the benchmark."""
    subjects = sys.argv[1:]
    print("Installing what refarray is measured beside ...", flush=True)
    python = str(install().python)
    everything = ["--write", str(ROOT / "docs")]
    command = [python, "-m", "benchmarks", *(subjects or everything)]
    os.chdir(ROOT)
    os.execv(python, command)


if __name__ == "__main__":
    main()
