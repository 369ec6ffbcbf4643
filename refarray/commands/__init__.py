"""The commands of `python -m refarray`: one table, and a file for each command.

In reading order:

    terminal.py      what only people see: colour, a progress bar; and `Mistake`
    expressions.py   from `numpy:arange(3.0)` to the object
    demo.py          one exchange with NumPy, with every step shown
    info.py          what refarray runs on, and what is missing for what
    inspect.py       every field of a managed tensor
    trace.py         one exchange between two libraries, step by step
    run.py           a program under a profile

`check` and `standard` stand in `refarray.testing`, which judges other libraries. The
module of a command is imported when the command is called. It has a function
`add_arguments(parser)` and a function `run(options)`, which returns the exit status:
0, or 1 for a verdict against a library. It raises `Mistake` for what the user can put
right, which is one line and exit status 2.
"""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """A row of the table."""

    name: str
    module: str
    summary: str
    examples: tuple[str, ...]


COMMANDS = {
    command.name: command
    for command in (
        Command(
            "demo",
            "refarray.commands.demo",
            "share a NumPy array both ways and look at every byte of it",
            ("demo",),
        ),
        Command(
            "info",
            "refarray.commands.info",
            "say what refarray runs on, and what is missing for what",
            ("info", "info --json"),
        ),
        Command(
            "inspect",
            "refarray.commands.inspect",
            "show every field of the managed tensor that an object exports",
            (
                "inspect 'numpy:arange(6.0).reshape(2, 3)'",
                "inspect 'numpy:arange(6.0).reshape(2, 3).T' --svg struct.svg",
            ),
        ),
        Command(
            "trace",
            "refarray.commands.trace",
            "follow one exchange between two libraries, step by step",
            (
                "trace 'numpy:arange(3.0)' refarray",
                "trace 'refarray:arange(3.0)' numpy --svg exchange.svg",
            ),
        ),
        Command(
            "check",
            "refarray.testing.check",
            "hold an array library against the rules of DLPack",
            ("check my_adapter.py --rule 46", "check --explain 46"),
        ),
        Command(
            "standard",
            "refarray.testing.standard.__main__",
            "hold an array namespace against the values of the standard",
            ("standard numpy --only expm1",),
        ),
        Command(
            "run",
            "refarray.commands.run",
            "run a program under a profile of refarray",
            ("run --profile adversarial,seed=7 program.py", "run -m pytest"),
        ),
    )
}
