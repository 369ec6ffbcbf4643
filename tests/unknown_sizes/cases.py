"""All calls, one by one."""

from collections.abc import Callable
from typing import Any, NamedTuple

from unknown_sizes.extensions import FFT, LINALG
from unknown_sizes.functions import ELEMENTWISE, OTHERS

Shape = tuple[int | None, ...]


class Case(NamedTuple):
    """A function of the standard, a call of it, and the shape of each result."""

    function: str
    number: int
    call: Callable[[Any, Any], Any]
    shapes: list[Shape]

    def __str__(self) -> str:
        return f"{self.function}-{self.number}"


def _cases(table: dict[str, list[Any]], prefix: str = "") -> list[Case]:
    return [
        Case(prefix + name, i, call, shape if isinstance(shape, list) else [shape])
        for name, calls in table.items()
        for i, (call, shape) in enumerate(calls)
    ]


CASES = [
    *_cases({name: ELEMENTWISE[name] for name in ELEMENTWISE if name not in OTHERS}),
    *_cases(OTHERS),
    *_cases(LINALG, "linalg."),
    *_cases(FFT, "fft."),
]
