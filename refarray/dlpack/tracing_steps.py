"""The steps of a traced exchange: from what was written down to words.

What passes through Python is noted there and then. What happens in C is written into
the record of a capsule (`_cffi_build/trace.h`), on whatever thread, and read from it
here. One counter numbers both, so that they can be put in order.

Next: `tracing_picture.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Any, NamedTuple

from refarray._base.devices import DeviceType
from refarray._base.layout import MAX_NDIM, shown
from refarray._memory.native import ffi, lib
from refarray.dlpack.structs import (
    LEGACY_NAME,
    NAME,
    Flags,
    dtype_name,
    managed_tensor,
)


class Step(NamedTuple):
    """One thing that happened.

    who: "consumer", "producer" (whose code a capsule's destructor is, too), or "trace"
    for the end of the `with` block. kind, one of a few names: "device asked", "device
    answered", "capsule asked", "stream waited", "capsule made", "taken over", "capsule
    dropped", "deleter called", "raised", "block ended". text: the same in words, with
    what was passed. details: what was passed, as plain values. capsule: its number in
    this trace, from 1, or None. thread: the name of the thread, "" if it was not seen.
    """

    number: int
    who: str
    kind: str
    text: str
    details: Mapping[str, Any]
    capsule: int | None
    thread: str


class Note(NamedTuple):
    """A step before it has its number; `order` grows with time."""

    order: float
    who: str
    kind: str
    text: str
    details: Mapping[str, Any]
    capsule: int | None
    thread: str


# ---- Values, in words and for JSON ---------------------------------------------------


def show(value: object) -> str:
    """Return a value as a program would write it; enumerators as their numbers."""
    if isinstance(value, tuple):
        inner = ", ".join(map(show, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, int) and not isinstance(value, bool):
        return shown(int(value))
    return shown(value)


def plain(value: object) -> Any:
    """Return a value as JSON can hold it."""
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    if value is None or isinstance(value, bool | float | str):
        return value
    return shown(value)


def device_words(pair: object) -> str:
    """Return a device pair with the name of its type: `(1, 0) kDLCPU`."""
    if isinstance(pair, tuple) and len(pair) == 2:
        kind = pair[0]
        # Not just anything: what a producer answers need not have a hash.
        if isinstance(kind, int) and kind in set(DeviceType):
            return f"{show(pair)} {DeviceType(kind).name}"
    return show(pair)


def stream_words(handle: int) -> str:
    """Return a CUDA stream as DLPack numbers it."""
    return {1: "1 (legacy)", 2: "2 (per thread)"}.get(handle, str(handle))


def describe(capsule: object) -> tuple[str, dict[str, Any]]:
    """Return what a fresh capsule holds, in words and as details.

    ValueError for one that is used or holds something else, TypeError for no capsule.
    """
    name, managed = managed_tensor(capsule)
    if name not in (NAME, LEGACY_NAME):
        raise ValueError(f"it is named {name!r}, and was used before")
    details: dict[str, Any] = {"name": name, "deleter": bool(managed.deleter)}
    words = [f"makes a capsule, {name!r}"]
    if hasattr(managed, "version"):
        version = int(managed.version.major), int(managed.version.minor)
        details |= {"version": list(version), "flags": int(managed.flags)}
        words[0] += f" of DLPack {version[0]}.{version[1]}"
        if version[0] != 1:
            return words[0], details  # the rest may lie elsewhere
    tensor = managed.dl_tensor
    dtype = int(tensor.dtype.code), int(tensor.dtype.bits), int(tensor.dtype.lanes)
    device = int(tensor.device.device_type), int(tensor.device.device_id)
    shape = None
    if 0 <= tensor.ndim <= MAX_NDIM and (tensor.ndim == 0 or tensor.shape):
        shape = tuple(int(tensor.shape[i]) for i in range(tensor.ndim))
    details |= {"dtype": list(dtype), "device": list(device), "shape": plain(shape)}
    extents = f"ndim {tensor.ndim}" if shape is None else f"shape {shape}"
    words.append(f"{dtype_name(*dtype)}, {extents}, on {device_words(device)}")
    if details.get("flags"):
        words.append(f"flags {Flags(details['flags']).name or details['flags']}")
    if not details["deleter"]:
        words.append("deleter NULL")
    return ": ".join([words[0], ", ".join(words[1:])]), details


# ---- Threads -------------------------------------------------------------------------


class Threads:
    """Names of threads, by the system's numbers: C cannot ask for a name."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}

    def here(self) -> str:
        """Return the name of this thread, and note those of all that run."""
        for thread in threading.enumerate():
            if thread.native_id is not None:
                self._names[thread.native_id] = thread.name
        return threading.current_thread().name

    def name_of(self, event: Any) -> str:
        """Return the name of the thread of an event in C."""
        if event.outside:
            return "outside Python"
        self.here()
        return self._names.get(event.thread, "an ended thread")


# ---- What becomes of a capsule -------------------------------------------------------


class _Name(IntEnum):
    UNUSED = lib.RA_TRACE_UNUSED
    USED = lib.RA_TRACE_USED
    RENAMED = lib.RA_TRACE_RENAMED


_DROPPED = {
    _Name.USED: "drops the capsule: its destructor finds it used, and does nothing",
    _Name.RENAMED: (
        "drops the capsule under a name that is not DLPack's (rule 44): its destructor "
        "does nothing"
    ),
    _Name.UNUSED: "drops the capsule unused: its destructor must free the tensor",
}


class Traced:
    """A capsule that stands for a producer's, and the record of what became of it."""

    def __init__(
        self, number: int, details: Mapping[str, Any], address: int, threads: Threads
    ) -> None:
        self.number = number
        self._name, self._has_deleter = details["name"], details["deleter"]
        self.order = 0  # of the step in which it was made
        record = ffi.cast("ra_trace_record *", address)
        self._record = ffi.gc(record, lib.ra_trace_let_go)
        self._threads = threads
        self._names: dict[int, str] = {}  # a thread may end before the next look

    def _events(self) -> tuple[list[Any], Any, list[Any]]:
        """Return all events in order, the drop, and the consumer's deleter calls."""
        record = self._record
        written = range(min(record.count, lib.RA_TRACE_ROOM))
        events = [record.events[i] for i in written if record.events[i].order]
        events.sort(key=lambda event: event.order)
        dropped = None
        calls = []
        for event in events:
            if event.what == lib.RA_TRACE_DROPPED:
                dropped = event
            elif not event.by_destructor:
                calls.append(event)
            if event.order not in self._names:
                self._names[event.order] = self._threads.name_of(event)
        return events, dropped, calls

    def notes(self) -> Iterator[Note]:
        """Return what has become of it so far."""
        events, dropped, calls = self._events()
        was_used = dropped is not None and dropped.name != _Name.UNUSED
        signs = calls[:1] + ([dropped] if was_used else [])
        if signs:
            order = min(sign.order for sign in signs) - 0.5
            if dropped is None:
                # No destructor ran: it was taken away, in the call that began this.
                order = self.order + 0.5
            yield self._note(order, "consumer", "taken over", self._taken(dropped))
        deleted = 0
        for event in events:
            thread = self._names[event.order]
            if event.what == lib.RA_TRACE_DROPPED:
                name = _Name(event.name)
                kind, text = "capsule dropped", _DROPPED[name]
                yield self._note(event.order, "consumer", kind, text, thread)
                continue
            who, text = "consumer", "calls the deleter"
            if event.by_destructor:
                who, text = "producer", "the capsule's destructor calls the deleter"
            if deleted:
                text += " again (rule 45: once); the trace does not pass this on"
            elif self._has_deleter:
                text += ": the memory goes back"
            else:
                text += "; it was NULL, and the trace's own does nothing"
            deleted += 1
            yield self._note(event.order, who, "deleter called", text, thread)

    def _note(
        self, order: float, who: str, kind: str, text: str, thread: str = ""
    ) -> Note:
        return Note(order, who, kind, text, {}, self.number, thread)

    def _taken(self, dropped: Any) -> str:
        text = "takes the memory over"
        if dropped is None:
            return text
        if dropped.name == _Name.USED:
            return f"{text}: renames the capsule to 'used_{self._name}'"
        if dropped.name == _Name.UNUSED:
            return f"{text} without renaming the capsule (rule 44)"
        return f"{text}, and gives the capsule another name than used_* (rule 44)"

    def unseen(self, capsule: str) -> Iterator[str]:
        """Return what is not known of it; `capsule` is what to call it."""
        events, dropped, calls = self._events()
        called = any(event.what == lib.RA_TRACE_DELETER for event in events)
        if dropped is None and not called:
            yield (
                f"whether {capsule} was taken over: neither its destructor nor its "
                "deleter has run, and a consumer may take the destructor away"
            )
        elif dropped is None:
            yield (
                f"whether {capsule} was renamed: its destructor has not run, and the "
                "consumer may have taken that away"
            )
        elif not called:
            yield f"the end: the deleter of {capsule} has not been called yet"
        if calls or (dropped is not None and dropped.name != _Name.UNUSED):
            yield (
                f"when exactly, and on which thread, {capsule} was taken over: a later "
                "step shows that it was"
            )
        more = int(self._record.count) - lib.RA_TRACE_ROOM
        if more > 0:
            yield f"{more} more calls of the deleter of {capsule} were only counted"
