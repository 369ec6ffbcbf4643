"""The order of work on simulated CUDA devices, and what happens without one.

Work given to a stream waits in it until the program synchronises: no work runs before
something forces it to, and of what may run then, the work given last runs first. A
program that forgets a wait mostly computes with what was there before, and does so each
time.

Whatever the values, each new piece of work is also held against those before it that
use the same bytes. Work counts in its stream, and carries a vector clock: for each
stream, how much of it comes before. What neither comes before by that clock nor has
been waited for by the host is concurrent, and if one of the two writes, a race. The
whole host is one timeline, so the order among threads of the program is taken on trust.

Next: simulated_driver_state.py.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from heapq import heappop, heappush
from time import perf_counter
from typing import Literal, NamedTuple

from refarray.testing.simulated_driver_memory import Allocation

Verb = Literal["reads", "writes", "allocates", "frees"]
NOUNS = {"reads": "read", "writes": "write", "allocates": "allocation", "frees": "free"}

# A full queue lets its oldest work run, as a real one makes the host wait.
QUEUE = 1024


@dataclass(frozen=True)
class Report:
    """A mistake that was found; `str(report)` tells it in full.

    `kind` names it in a few words, such as "read after write"; `places` are the lines
    of the program that took part, the later one last.
    """

    kind: str
    text: str
    places: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


class RaceError(AssertionError):
    """Work on simulated devices was not ordered; the message lists the reports."""


class Context:
    """A context: the streams of one device."""

    __slots__ = ("handle", "device", "alive", "legacy", "streams")

    def __init__(self, handle: int, device: int) -> None:
        self.handle = handle
        self.device = device
        self.alive = True
        self.legacy = Stream(1, self, blocking=True)
        self.streams = [self.legacy]


class Stream:
    """A queue of work. `blocking` streams and the legacy stream wait for each other."""

    __slots__ = ("handle", "context", "blocking", "alive", "last", "queue", "count")

    def __init__(self, handle: int, context: Context, blocking: bool) -> None:
        self.handle = handle
        self.context = context
        self.blocking = blocking
        self.alive = True
        self.last: Work | None = None
        self.queue: deque[Work] = deque()
        self.count = 0

    def __str__(self) -> str:
        names = {1: "the legacy stream", 2: "a per-thread stream"}
        device = f" of device {self.context.device}" if self.context.device else ""
        return names.get(self.handle, f"stream {self.handle:#x}") + device


class Work:
    """One piece of work in a stream, the `index`th there and the `number`th of all.

    `clock` says how much of which stream comes before, itself included, except for
    what the host had waited for already.
    """

    __slots__ = (
        "name",
        "where",
        "stream",
        "number",
        "index",
        "clock",
        "after",
        "action",
        "finished",
    )

    def __init__(self, name: str, where: str, stream: Stream, number: int) -> None:
        self.name = name
        self.where = where
        self.stream = stream
        self.number = number
        self.index = stream.count + 1
        self.clock: dict[Stream, int] = {}
        self.after: tuple[Work, ...] = ()
        self.action: Callable[[], object] | None = None
        self.finished: float | None = None  # seconds on an arbitrary clock

    @property
    def done(self) -> bool:
        """Whether it has run."""
        return self.finished is not None

    def comes_after(self, other: Work) -> bool:
        """Whether other work, or this itself, is over when this is."""
        return self.clock.get(other.stream, 0) >= other.index

    def __str__(self) -> str:
        return f"{self.name} on {self.stream} at {self.where}"


class Access(NamedTuple):
    """Work that uses the bytes from address `start` up to `stop`."""

    work: Work
    verb: Verb
    start: int
    stop: int


class Schedule:
    """Work that is waiting, what the host knows to be over, and the races found."""

    def __init__(self, report: Callable[[Report], None]) -> None:
        self._report = report
        self._host: dict[Stream, int] = {}
        self._number = 0

    # Giving work -----------------------------------------------------------------

    def enqueue(
        self,
        stream: Stream,
        name: str,
        where: str,
        action: Callable[[], object] | None = None,
        accesses: Iterable[tuple[Allocation, Verb, int, int]] = (),
        after: Iterable[Work] = (),
    ) -> Work:
        """Add work to a stream, after other work too; report the races it makes.

        `accesses` are blocks with what happens to which bytes of them: verb, first
        address, address after the last.
        """
        self._number += 1
        work = Work(name, where, stream, self._number)
        before = [*after, *self._implied(stream)]
        for earlier in before:
            for other, index in earlier.clock.items():
                if index > max(self._host.get(other, 0), work.clock.get(other, 0)):
                    work.clock[other] = index
        work.clock[stream] = work.index
        work.after = tuple(earlier for earlier in before if not earlier.done)
        work.action = action
        for block, verb, start, stop in accesses:
            self._access(block, Access(work, verb, start, stop))
        stream.count = work.index
        stream.last = work
        stream.queue.append(work)
        while stream.queue and stream.queue[0].done:
            stream.queue.popleft()
        if len(stream.queue) > QUEUE:
            self.run(stream.queue[0])
        return work

    def _implied(self, stream: Stream) -> list[Work]:
        """Return the last work of each stream that a stream waits for by itself."""
        streams = {stream: None}
        if stream is stream.context.legacy:
            streams |= {s: None for s in stream.context.streams if s.blocking}
        elif stream.blocking:
            streams[stream.context.legacy] = None
        return [each.last for each in streams if each.last is not None]

    # Finding races ---------------------------------------------------------------

    def known(self, work: Work) -> bool:
        """Whether the host has waited for work, so that all new work comes after."""
        return self._host.get(work.stream, 0) >= work.index

    def _access(self, block: Allocation, new: Access) -> None:
        # An old access may go once the new one stands for it: whatever is ordered
        # after the new one is ordered after the old one as well.
        kept = []
        for old in block.accesses:
            if self.known(old.work):
                continue
            ordered = new.work.comes_after(old.work)
            both_read = old.verb == new.verb == "reads"
            overlap = old.start < new.stop and new.start < old.stop
            if overlap and not ordered and not both_read:
                self._report(_race(block, old, new))
            inside = new.start <= old.start and old.stop <= new.stop
            if not (ordered and inside and (both_read or new.verb != "reads")):
                kept.append(old)
        block.accesses = [*kept, new]

    def released(self, block: Allocation, name: str, where: str) -> None:
        """Report the use of a block that the host frees while work may still use it."""
        for old in block.accesses:
            if not self.known(old.work):
                self._report(
                    Report(
                        f"free after {NOUNS[old.verb]}",
                        f"{name} at {where} frees {block} without having waited for "
                        f"{old.work}, which {old.verb} it. Synchronise with "
                        f"{old.work.stream} first.",
                        (old.work.where, where),
                    )
                )

    # Running work ----------------------------------------------------------------

    def run(self, work: Work) -> None:
        """Run work and what comes before it, and nothing else."""
        for each in self._waiting(work):
            self._run(each)

    def step(self, work: Work) -> bool:
        """Return whether work is done; if not, run the first of what it waits for."""
        if work.done:
            return True
        self._run(self._waiting(work)[0])
        return False

    def wait(self, *works: Work | None) -> None:
        """Run work; from now on the host knows that it is over."""
        for work in works:
            if work is not None:
                self.run(work)
                for stream, index in work.clock.items():
                    self._host[stream] = max(index, self._host.get(stream, 0))

    def _waiting(self, work: Work) -> list[Work]:
        """Return work that is not done, and what comes before it, in an order to run.

        Of what might run next, the work given last goes first, because the order of
        the program is one that nobody may rely on.
        """
        found = set() if work.done else {work}
        unseen = list(found)
        later: dict[Work, list[Work]] = {}
        missing: dict[Work, int] = {}
        ready: list[tuple[int, Work]] = []
        while unseen:
            each = unseen.pop()
            after = {earlier for earlier in each.after if not earlier.done}
            missing[each] = len(after)
            if not after:
                heappush(ready, (-each.number, each))
            for earlier in after:
                later.setdefault(earlier, []).append(each)
            unseen += after - found
            found |= after
        order = []
        while ready:
            _, each = heappop(ready)
            order.append(each)
            for dependent in later.get(each, ()):
                missing[dependent] -= 1
                if not missing[dependent]:
                    heappush(ready, (-dependent.number, dependent))
        return order

    def _run(self, work: Work) -> None:
        if not work.done:  # a host function or a finalizer may have been quicker
            action, work.action, work.after = work.action, None, ()
            work.finished = perf_counter()
            if action is not None:
                action()


def _race(block: Allocation, old: Access, new: Access) -> Report:
    first, later = old.work, new.work
    start, stop = new.start - block.address, new.stop - block.address
    return Report(
        f"{NOUNS[new.verb]} after {NOUNS[old.verb]}",
        f"{later} {new.verb} bytes {start} to {stop - 1} of {block}, which {first} "
        f"{old.verb}; nothing makes the second wait for the first. Record an event on "
        f"{first.stream} after the first, and let {later.stream} wait for it.",
        (first.where, later.where),
    )
