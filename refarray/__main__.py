"""The command line: `python -m refarray` lists the commands."""

from __future__ import annotations

import argparse
import os
import sys

import refarray
from refarray import demo, info, run
from refarray.testing import check


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m refarray",
        description="The reference array library of the array API standard and DLPack.",
        epilog="The values of the standard, for any library: "
        "python -m refarray.testing.standard NAMESPACE",
    )
    parser.add_argument(
        "--version", action="version", version=f"refarray {refarray.__version__}"
    )
    commands = parser.add_subparsers(dest="command", metavar="command")
    commands.add_parser(
        "demo", help="share a NumPy array both ways and look at every byte of it"
    )
    check.add_arguments(
        commands.add_parser(
            "check", help="hold an array library against the rules of DLPack"
        )
    )
    commands.add_parser(
        "info", help="say what refarray runs on, and what is missing for what"
    )
    run.add_arguments(
        commands.add_parser("run", help="run a program under a profile of refarray")
    )
    options = parser.parse_args(arguments)
    if options.command == "demo":
        demo.run()
    elif options.command == "check":
        return check.run(options)
    elif options.command == "info":
        info.run()
    elif options.command == "run":
        return run.run(options)
    else:
        parser.print_help()
    return 0


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
