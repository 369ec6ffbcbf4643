"""The command line: `python -m refarray` lists the commands.

Next: commands/__init__.py, the table of them.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import os
import sys
from collections.abc import Sequence

import refarray
from refarray.commands import COMMANDS, Command
from refarray.commands.terminal import Mistake, paint

PROGRAM = "python -m refarray"
MISTAKE, INTERRUPTED = 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    first, *rest = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if first in ("-h", "--help"):
        print(overview())
        return 0
    if first in ("-V", "--version"):
        print(f"refarray {refarray.__version__}")
        return 0
    if first not in COMMANDS:
        near = difflib.get_close_matches(first, COMMANDS, 1, cutoff=0.75)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(COMMANDS)}"
        return complain(PROGRAM, f"there is no command {first}; {hint}")
    return call(COMMANDS[first], rest)


def overview() -> str:
    """Return the list of commands."""
    rows = [f"  {paint(f'{c.name:10}', 'bold')}{c.summary}" for c in COMMANDS.values()]
    return "\n".join(
        [
            "The reference array library of the array API standard and of DLPack.\n",
            f"usage: {PROGRAM} COMMAND ...\n",
            *rows,
            f"\n{PROGRAM} COMMAND --help says more, with an example.",
        ]
    )


def call(command: Command, arguments: Sequence[str]) -> int:
    """Import a command, read its arguments and run it."""
    name = f"{PROGRAM} {command.name}"
    try:
        module = importlib.import_module(command.module)
        parser = argparse.ArgumentParser(
            prog=name,
            description=f"{command.summary[0].upper()}{command.summary[1:]}.",
            epilog="\n".join(
                ["for example:", *(f"  {PROGRAM} {line}" for line in command.examples)]
            ),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(parser)
        status: int = module.run(parser.parse_args(arguments))
        return status
    except Mistake as mistake:
        return complain(name, str(mistake))
    except KeyboardInterrupt:
        complain(name, "interrupted")
        return INTERRUPTED


def complain(program: str, message: str) -> int:
    """Say what is wrong, and return the exit status for it."""
    print(f"{paint(program, 'red', sys.stderr)}: {message}", file=sys.stderr)
    return MISTAKE


if __name__ == "__main__":
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output (`| head`) has had enough. Python would try to write
        # the rest once more on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    sys.exit(status)
