"""Follow one exchange between two libraries, step by step.

    with refarray.dlpack.trace(consumer="NumPy") as t:
        y = np.from_dlpack(t.watch(x))
    del y
    print(t)

`t.watch(x)` is handed over in place of the producer `x`. It has `__dlpack__` and
`__dlpack_device__` and nothing else, so that no consumer gets past it, and passes on
every question and answer as it is. Only the capsule is replaced, by one over the same
memory whose destructor and deleter write down that they ran, and where.

Next: `tracing_steps.py`, what is written down, in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any, NamedTuple


class Step(NamedTuple):
    """One thing that happened.

    who: "consumer", "producer", or "trace" for the end of the `with` block. kind, a
    name that stays the same in every trace: "device asked", "device answered", "capsule
    asked", "stream waited", "capsule made", "taken over", "capsule dropped", "deleter
    called", "raised", "block ended". text: the same in words, with what was passed.
    details: what was passed, for programs. capsule: its number in this trace, from 1,
    or None. thread: the name of the thread.
    """

    number: int
    who: str
    kind: str
    text: str
    details: Mapping[str, Any]
    capsule: int | None
    thread: str


def trace(*, producer: str | None = None, consumer: str | None = None) -> Trace:
    """Return a recorder of exchanges, for a `with` block.

    `t.watch(x)` in the block stands for the producer `x`: give it to any consumer. What
    happens to the memory after the block is recorded too, for as long as `t` lives:
    `t.steps` is as long as what has happened so far.

    producer, consumer: names to show; by default the type of what is watched, and the
    package whose code asked, where that can be seen.

    Not seen are: what the two do with the memory; when exactly the capsule was renamed
    (that it was is seen when the capsule is dropped, or when the deleter is called);
    where a producer other than refarray's waits for a stream; exchanges through the C
    exchange API, which this does not offer.

    Source: DLPack 1.3, Python specification; array API 2025.12, array.__dlpack__.
    """
    return Trace(producer, consumer)


class Trace:
    """What happened in one exchange: `str()` gives a table, notebooks show one.

    Made by `trace()`. Exceptions of both sides are steps, and leave the block as they
    are.
    """

    def __init__(self, producer: str | None, consumer: str | None) -> None:
        self._names = {"producer": producer, "consumer": consumer}

    def watch(self, x: Any, /) -> Any:
        """Return an object to hand to a consumer in place of the producer `x`.

        AttributeError for an object without `__dlpack__`.
        """
        raise NotImplementedError

    def __enter__(self) -> Trace:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Note that the block ends, and the exception that leaves it."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """Everything that has happened so far, in that order."""
        raise NotImplementedError

    @property
    def unseen(self) -> tuple[str, ...]:
        """What cannot be seen of this exchange, or has not happened yet, in words."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values, which JSON can hold.

        {"producer": name, "consumer": name, "steps": [{"number", "who", "kind", "text",
        "details", "capsule", "thread"}], "unseen": [text]}.
        """
        raise NotImplementedError

    def svg(self) -> str:
        """Return a sequence diagram as SVG: time goes down, and two colours own it."""
        raise NotImplementedError

    def __str__(self) -> str:
        """Return a table: number, who, what, and the thread."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        """Return the same table for notebooks, in the two colours."""
        raise NotImplementedError
