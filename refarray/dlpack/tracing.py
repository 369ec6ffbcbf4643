"""Follow one exchange between two libraries, step by step.

    with refarray.dlpack.trace(consumer="NumPy") as t:
        y = np.from_dlpack(t.watch(x))
    del y
    print(t)

`t.watch(x)` is handed over in place of the producer `x`. It has `__dlpack__` and
`__dlpack_device__` and nothing else, so that no consumer gets past it, and passes on
every question and answer as it is. Only the capsule is replaced, by one over the same
memory whose destructor and deleter write down that they ran, and where.

Next folder: `_compute/`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, get_ident
from types import TracebackType
from typing import Any

from refarray._base.process_bound import ProcessBound
from refarray._memory.device_use import on_order
from refarray._memory.native import lib, trace_capsule
from refarray.dlpack import tracing_picture
from refarray.dlpack.tracing_steps import (
    Note,
    Step,
    Threads,
    Traced,
    describe,
    device_words,
    plain,
    show,
    stream_words,
)

__all__ = ["Step", "Trace", "trace"]


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
    exchange API, which this does not offer. To refarray as a consumer, memory of its
    own that comes through a trace is that of a stranger.

    Source: DLPack 1.3, Python specification; array API 2025.12, array.__dlpack__.
    """
    return Trace(producer, consumer, _package_above(1))


def _package_above(depth: int) -> str:
    name = sys._getframe(depth + 1).f_globals.get("__name__") or ""
    return str(name).partition(".")[0]


def _name_of(kind: type) -> str:
    package = kind.__module__.partition(".")[0]
    return kind.__name__ if package == "__main__" else f"{package}.{kind.__name__}"


class Trace(ProcessBound):
    """What happened in one exchange: `str()` gives a table, notebooks show one.

    Made by `trace()`. Exceptions of both sides are steps, and leave the block as they
    are. A copy is the same trace, and TypeError is raised if it is pickled: `to_dict()`
    returns what happened so far as plain values.
    """

    _instead = "Pickle what has happened so far: trace.to_dict()."

    def __init__(
        self, producer: str | None, consumer: str | None, package: str
    ) -> None:
        self._producer, self._consumer = producer, consumer
        self._package = package  # of the program that traces: no consumer
        self._notes: list[Note] = []
        self._capsules: list[Traced] = []
        self._untraced: list[str] = []
        self._numbering = Lock()
        self._threads = Threads()

    def watch(self, x: Any, /) -> Watched:
        """Return an object to hand to a consumer in place of the producer `x`.

        AttributeError for an object without `__dlpack__`.
        """
        kind = type(x)
        if not hasattr(x, "__dlpack__"):
            raise AttributeError(
                f"watch takes a producer, an object with __dlpack__; {kind.__name__} "
                "lacks it (array API, from_dlpack)"
            )
        if self._producer is None:
            self._producer = _name_of(kind)
        return Watched(x, self)

    def __enter__(self) -> Trace:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # Words only: the exception itself would keep the arrays in its traceback.
        if error is not None:
            self._note_error("consumer", error)
        self._note("trace", "block ended", "the with block ends")

    # ---- Writing down ----------------------------------------------------------------

    def _note(
        self,
        who: str,
        kind: str,
        text: str,
        details: dict[str, Any] | None = None,
        capsule: int | None = None,
    ) -> int:
        here = self._threads.here()
        order: int = lib.ra_trace_next()
        self._notes.append(Note(order, who, kind, text, details or {}, capsule, here))
        return order

    def _note_error(self, who: str, error: BaseException) -> None:
        name, message = type(error).__name__, str(error)
        text = f"raises {name}: {message}" if message else f"raises {name}"
        last = next((n for n in reversed(self._notes) if n.kind == "raised"), None)
        if who == "consumer" and last is not None and last.text == text:
            text = f"lets {name} of the producer through"
        details = {"type": name, "message": message}
        self._note(who, "raised", text, details)

    def _asked_by(self, package: str) -> None:
        if self._consumer is None and package != self._package:
            self._consumer = package

    def _ask_device(self, x: Any) -> Any:
        self._note("consumer", "device asked", "calls __dlpack_device__()")
        try:
            pair = x.__dlpack_device__()
        except BaseException as error:
            self._note_error("producer", error)
            raise
        details = {"device": plain(pair)}
        text = f"returns {device_words(pair)}"
        self._note("producer", "device answered", text, details)
        return pair

    def _ask_capsule(self, x: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        words = [*map(show, args), *(f"{k}={show(v)}" for k, v in kwargs.items())]
        self._note(
            "consumer",
            "capsule asked",
            f"calls __dlpack__({', '.join(words)})",
            {"keywords": {name: plain(value) for name, value in kwargs.items()}},
        )
        try:
            with self._waits():
                capsule = x.__dlpack__(*args, **kwargs)
        except BaseException as error:
            self._note_error("producer", error)
            raise
        return self._replace(capsule)

    @contextmanager
    def _waits(self) -> Iterator[None]:
        """Note which streams refarray as a producer puts in order, on this thread."""
        thread = get_ident()

        def tell(first: int, then: int) -> None:
            if get_ident() != thread:
                return
            text = f"lets stream {stream_words(then)} wait for {stream_words(first)}"
            if first == then:
                text = f"needs no wait: its work is on stream {stream_words(then)} too"
            details = {"stream": then, "waits for": first}
            self._note("producer", "stream waited", text, details)

        on_order.append(tell)
        try:
            yield
        finally:
            on_order.remove(tell)

    def _replace(self, capsule: Any) -> Any:
        """Note what a producer returned, and return what to give to the consumer."""
        kind = type(capsule).__name__
        try:
            text, details = describe(capsule)
        except (TypeError, ValueError) as error:
            # The consumer gets what the producer gave, right or wrong.
            self._note("producer", "capsule made", f"returns a {kind}: {error}")
            self._untraced.append(f"what becomes of the {kind} that was returned")
            return capsule
        try:
            traced, address = trace_capsule(capsule)
        except ValueError as error:
            self._note("producer", "capsule made", text, details)
            self._untraced.append(f"what becomes of the capsule: {error}")
            return capsule
        with self._numbering:
            made = Traced(len(self._capsules) + 1, details, address, self._threads)
            self._capsules.append(made)
        made.order = self._note("producer", "capsule made", text, details, made.number)
        return traced

    # ---- Reading ---------------------------------------------------------------------

    @property
    def producer(self) -> str:
        """The name of the producer."""
        return self._producer or "producer"

    @property
    def consumer(self) -> str:
        """The name of the consumer."""
        return self._consumer or "consumer"

    @property
    def steps(self) -> tuple[Step, ...]:
        """Everything that has happened so far, in that order."""
        notes = list(self._notes)
        for capsule in list(self._capsules):
            notes += capsule.notes()
        notes.sort(key=lambda note: note.order)
        return tuple(Step(number, *note[1:]) for number, note in enumerate(notes, 1))

    @property
    def unseen(self) -> tuple[str, ...]:
        """What cannot be seen of this exchange, or has not happened yet, in words."""
        found = list(self._untraced)
        capsules = list(self._capsules)
        for capsule in capsules:
            words = "the capsule" if len(capsules) == 1 else f"capsule {capsule.number}"
            found += capsule.unseen(words)
        notes = list(self._notes)
        asked = {note.details.get("keywords", {}).get("stream") for note in notes}
        waited = any(note.kind == "stream waited" for note in notes)
        if asked - {None, -1} and not waited:
            found.append("whether and where the producer waits for the stream")
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values, which JSON can hold.

        {"producer": name, "consumer": name, "steps": [{"number", "who", "kind", "text",
        "details", "capsule", "thread"}], "unseen": [text]}.
        """
        return {
            "producer": self.producer,
            "consumer": self.consumer,
            "steps": [
                {**step._asdict(), "details": dict(step.details)} for step in self.steps
            ],
            "unseen": list(self.unseen),
        }

    def svg(self) -> str:
        """Return a sequence diagram as SVG: time goes down, and two colours own it."""
        return tracing_picture.svg(self.producer, self.consumer, self.steps)

    def __str__(self) -> str:
        """Return a table: number, who, what, and the thread."""
        names = self.producer, self.consumer
        return tracing_picture.table(*names, self.steps, self.unseen)

    def _repr_html_(self) -> str:
        """Return the same table for notebooks, in the two colours."""
        names = self.producer, self.consumer
        return tracing_picture.html_table(*names, self.steps, self.unseen)

    def __repr__(self) -> str:
        return f"<trace of {self.producer} to {self.consumer}: {len(self.steps)} steps>"


class Watched(ProcessBound):
    """A producer as a trace hands it on: the two methods of the protocol, written down.

    Made by `Trace.watch`.
    """

    _instead = "Pickle the producer itself."

    def __init__(self, x: Any, trace: Trace) -> None:
        self._x, self._trace = x, trace

    def __dlpack_device__(self) -> Any:
        """Return what the producer returns."""
        self._trace._asked_by(_package_above(1))
        return self._trace._ask_device(self._x)

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any:
        """Return a capsule in place of the one that the producer returns."""
        self._trace._asked_by(_package_above(1))
        return self._trace._ask_capsule(self._x, args, kwargs)
