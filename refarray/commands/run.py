"""The command `python -m refarray run`: a program under a profile.

Next folder: `testing/`, with the commands `check` and `standard`.
"""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path

from refarray import profiles
from refarray.commands.terminal import Mistake


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
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
    """Run the program, whose exit status and tracebacks are its own."""
    if options.profile is not None:
        try:
            profiles.set_default(options.profile)
        except ValueError as error:
            raise Mistake(str(error)) from error
    if not options.module and not Path(options.program).exists():
        raise Mistake(f"there is no file {options.program}; for a module: -m")
    sys.argv = [options.program, *options.arguments]
    try:
        if options.module:
            sys.path.insert(0, "")
            runpy.run_module(options.program, run_name="__main__", alter_sys=True)
        else:
            sys.path.insert(0, str(Path(options.program).resolve().parent))
            runpy.run_path(options.program, run_name="__main__")
    except Exception as error:
        if options.module and _is_not_there(options.program, error):
            raise Mistake(str(error)) from error
        # What a failure depends on: the seed of `adversarial` is in the name.
        name = profiles.active().name
        print(f"refarray profile: {name}", file=sys.stderr, flush=True)
        raise
    return 0


def _is_not_there(module: str, error: Exception) -> bool:
    """Tell whether runpy found no such module, before anything of it ran."""
    # Python 3.14 tells the name, earlier ones do not.
    is_runpys = type(error) is ImportError and error.name in (None, module)
    return is_runpys and module in str(error)
