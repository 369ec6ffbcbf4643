"""The command `python -m refarray inspect`: every field of a managed tensor.

Next: trace.py.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from refarray import dlpack
from refarray.commands.expressions import evaluate, in_a_line
from refarray.commands.terminal import Mistake, paint, print_json, write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument(
        "expression",
        metavar="module:expression",
        help="an object with __dlpack__, or a capsule, which is not consumed",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--svg", type=Path, metavar="FILE", help="draw the struct in memory as well"
    )


def run(options: argparse.Namespace) -> int:
    """Evaluate, inspect and print."""
    x = evaluate(options.expression)
    try:
        found = dlpack.inspect(x)
    except Exception as error:
        raise Mistake(f"{options.expression}: {in_a_line(error)}") from error
    if options.json:
        print_json(found.to_dict())
    else:
        for line in str(found).splitlines():
            print(paint(line, "yellow") if line.startswith("breaks rule") else line)
    if options.svg is not None:
        write(options.svg, found.svg())
    return 0
