"""The command `python -m refarray trace`: one exchange, step by step. Next: run.py."""

from __future__ import annotations

import argparse
import gc
import re
from pathlib import Path
from typing import Literal

from refarray import dlpack
from refarray.commands.expressions import consumer, evaluate
from refarray.commands.terminal import Mistake, paint, print_json, write

SIDES: tuple[Literal["producer", "consumer"], ...] = ("producer", "consumer")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument(
        "producer", metavar="module:producer", help="an object with __dlpack__"
    )
    parser.add_argument(
        "consumer",
        help="a module with from_dlpack, or module:function, which is called",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--svg", type=Path, metavar="FILE", help="draw the exchange as well"
    )


def run(options: argparse.Namespace) -> int:
    """Let the consumer take the producer's memory and give it back; print the steps.

    Status 1 if the exchange ends with an exception. It is one of the steps.
    """
    x = evaluate(options.producer)
    take = consumer(options.consumer)
    if not hasattr(x, "__dlpack__"):
        raise Mistake(f"{options.producer} has no __dlpack__: {type(x).__name__}")
    status = 0
    exchange = dlpack.trace(consumer=re.split("[.:]", options.consumer)[0])
    try:
        with exchange:
            take(exchange.watch(x))  # what it returns is dropped, and freed
    except Exception:
        status = 1  # the trace says which, and whose
    gc.collect()
    if options.json:
        print_json(exchange.to_dict())
    else:
        print(coloured(str(exchange)))
    if options.svg is not None:
        write(options.svg, exchange.svg())
    return status


def coloured(table: str) -> str:
    """Return the table with its two sides in their colours, on a terminal."""
    for side in SIDES:
        word = rf"(?m)(?<=\d  ){side}\b|\({side}\)"
        table = re.sub(word, paint(r"\g<0>", side), table)
    return table
