"""The command `python -m refarray run`: a program under a profile."""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path

from refarray import profiles


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "--profile",
        default=None,
        help="such as gpu, adversarial,seed=7 or jax32+gpu,transfers=raise; names: "
        f"{', '.join(profiles.NAMES)}",
    )
    parser.add_argument(
        "-m", dest="module", action="store_true", help="PROGRAM is a module"
    )
    parser.add_argument("program", metavar="PROGRAM", help="a file, or a module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="passed to it")


def run(options: argparse.Namespace) -> int:
    """Run the program; its exit status, or 2 for a profile that there is not."""
    if options.profile is not None:
        try:
            profiles.set_default(options.profile)
        except ValueError as error:
            print(f"python -m refarray run: {error}", file=sys.stderr)
            return 2
    sys.argv = [options.program, *options.arguments]
    try:
        if options.module:
            sys.path.insert(0, "")
            runpy.run_module(options.program, run_name="__main__", alter_sys=True)
        else:
            sys.path.insert(0, str(Path(options.program).resolve().parent))
            runpy.run_path(options.program, run_name="__main__")
    except Exception:
        # What a failure depends on: the seed of `adversarial` is in the name.
        name = profiles.active().name
        print(f"refarray profile: {name}", file=sys.stderr, flush=True)
        raise
    return 0
