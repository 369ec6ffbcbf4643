"""The command line: `python -m refarray` lists the commands."""

from __future__ import annotations

import argparse
import sys

from refarray import demo
from refarray.testing import check


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m refarray",
        description="The reference array library of the array API standard and DLPack.",
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
    options = parser.parse_args(arguments)
    if options.command == "demo":
        demo.run()
    elif options.command == "check":
        return check.run(options)
    else:
        parser.print_help()
    return 0


if __name__ == "__main__":
    sys.exit(main())
