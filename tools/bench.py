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

from environments import ROOT, Environment, NotInstalled

#: By the names of their adapters, which say the versions.
LIBRARIES = ("array_api_strict", "torch", "jax", "tvm_ffi")


@dataclass(frozen=True)
class Libraries(Environment):
    """The environment of all libraries, made with the running interpreter."""

    wanted: tuple[str, ...]

    @property
    def requirements(self) -> list[str]:
        """What to install."""
        adapters = map(Environment, self.wanted)
        return [text for adapter in adapters for text in adapter.requirements]

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
