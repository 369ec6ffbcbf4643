"""Streams and events: the order in which a CUDA device works.

Work given to one stream is done in the order given. Two streams are independent until
an event, recorded on one and waited for on the other, orders them. Three streams always
exist and are known by small numbers, in the driver and in DLPack: 1 is the legacy
stream, with which every blocking stream of the device is in order, and 2 is the calling
thread's own.

Source: NVIDIA, "CUDA Driver API", stream and event management; DLPack, rules 16 to 20.

Next: `cuda_memory.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from types import TracebackType
from typing import Any, NamedTuple, SupportsIndex

from refarray._base.devices import Device, DeviceType
from refarray._base.process_bound import ProcessBound
from refarray._cuda_driver import ffi
from refarray._memory.cuda_context import answer, call
from refarray._memory.cuda_driver import (
    NOT_READY,
    CudaError,
    Driver,
    check,
    driver,
    driver_in_use,
)
from refarray._memory.cuda_handles import Handle, give_back_unowned

LEGACY = 1
PER_THREAD = 2

# What keeps a stream of ours: the object itself, and no other.
_OURS = object()

_NON_BLOCKING: int = ffi.integer_const("CU_STREAM_NON_BLOCKING")
_WITH_TIMING: int = ffi.integer_const("CU_EVENT_DEFAULT")
_WITHOUT_TIMING: int = ffi.integer_const("CU_EVENT_DISABLE_TIMING")


def ordinal_of(device: Device | None) -> int:
    """Return the number of a CUDA device; None means the first.

    TypeError for anything but a device, ValueError for a device of another kind.
    """
    if device is None:
        return 0
    if not isinstance(device, Device):
        raise TypeError(f"expected a CUDA device or None, not {type(device).__name__}")
    kind, ordinal = device.dlpack
    if kind is not DeviceType.kDLCUDA:
        raise ValueError(f"{device!r} is no CUDA device")
    return ordinal


class _OfDriver(ProcessBound):
    """A stream or an event: a thing of a device that belongs to a driver."""

    __slots__ = ()

    ordinal: int
    _driver: Driver

    def _call(self, function: str, *arguments: Any) -> None:
        call(self.ordinal, function, *arguments, owner=self._driver)

    def _is_done(self, function: str, *arguments: Any) -> bool:
        error = answer(self.ordinal, function, *arguments, owner=self._driver)
        if error != NOT_READY:
            check(error, function, self._driver.lib)
        return error != NOT_READY


class Stream(_OfDriver):
    """A queue of work on one CUDA device: `Stream(device)` makes one.

    It is independent of the legacy stream (non-blocking). In a `with` block it is the
    current stream of its device, for the running thread or asynchronous task: work and
    exchanges go to it. `handle` is the driver's number for it, the one that DLPack
    takes, and `ordinal` the number of its device.

    CudaError where there is no CUDA. A stream without references is destroyed by the
    next allocation, exchange, stream or event, without losing its work. A copy is the
    same stream; TypeError if it is pickled.
    """

    __slots__ = ("handle", "ordinal", "_driver", "_keep", "__weakref__")

    handle: int
    _instead = "Make a stream there with refarray.cuda.Stream(device)."

    def __init__(self, device: Device | None = None) -> None:
        ordinal = ordinal_of(device)
        using = driver()
        give_back_unowned()
        made = Handle(
            *(self, "CUstream", "cuStreamDestroy_v2", ordinal, using),
            prepare=_tell_before_destruction,
        )
        made.make("cuStreamCreate", _NON_BLOCKING)
        self._set(made.number, ordinal, using, _OURS)

    def _set(self, handle: int, ordinal: int, using: Driver, keep: Any = None) -> None:
        self.handle = handle
        self.ordinal = ordinal
        self._driver = using
        self._keep = keep

    @classmethod
    def _known(
        cls, handle: int, ordinal: int, keep: Any = None, using: Driver | None = None
    ) -> Stream:
        stream = cls.__new__(cls)
        stream._set(handle, ordinal, using or driver(), keep)
        return stream

    @classmethod
    def legacy(cls, device: Device | None = None) -> Stream:
        """Return the device's legacy stream, the current one unless told otherwise."""
        return cls._known(LEGACY, ordinal_of(device))

    @classmethod
    def per_thread(cls, device: Device | None = None) -> Stream:
        """Return the stream that each thread has of its own on that device."""
        return cls._known(PER_THREAD, ordinal_of(device))

    @classmethod
    def external(cls, stream: object, device: Device | None = None) -> Stream:
        """Return a stream that another library made, as one of ours.

        `stream` has `__cuda_stream__` (it is kept alive), or is the driver's handle as
        an integer; the handle has to stay valid. `device` is its device. ValueError for
        a negative handle or another version of the protocol; 0 becomes 1, the legacy
        stream.

        Source: cuda.core, the `__cuda_stream__` protocol.
        """
        protocol = getattr(stream, "__cuda_stream__", None)
        if protocol is not None:
            version, handle = protocol()
            if version != 0:
                raise ValueError(
                    f"version {version} of __cuda_stream__ is unknown; 0 is known"
                )
        elif isinstance(stream, SupportsIndex):
            handle = stream.__index__()
        else:
            raise TypeError(
                "a stream is an object with __cuda_stream__, or an integer handle, not "
                f"{type(stream).__name__}"
            )
        if not 0 <= handle < 2**64:
            raise ValueError(f"{handle} is no stream: a handle has 64 bits, unsigned")
        return cls._known(handle or LEGACY, ordinal_of(device), stream)

    def __cuda_stream__(self) -> tuple[int, int]:
        """Return (0, handle), by which other libraries use this stream."""
        return 0, self.handle

    def __repr__(self) -> str:
        names = {LEGACY: "legacy", PER_THREAD: "per thread"}
        name = names.get(self.handle, hex(self.handle))
        return f"<refarray.cuda.Stream {name} on cuda:{self.ordinal}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stream):
            return NotImplemented
        return (self.handle, self.ordinal) == (other.handle, other.ordinal)

    def __hash__(self) -> int:
        return hash((self.handle, self.ordinal))

    def __enter__(self) -> Stream:
        if self._driver is not driver():
            raise CudaError(self._driver.unusable or "this is another driver's stream")
        partner = None
        if _partner is not None and _partner_driver is self._driver:
            partner = _partner.Stream.from_external(self)
            partner.__enter__()
        _current.set((*_current.get(), _Entered(self, partner)))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # Two suspended generators, say, may leave theirs in any order.
        now = _current.get()
        for i in reversed(range(len(now))):
            if now[i].stream is self:
                break
        else:
            raise RuntimeError(
                f"{self!r} is left where it was not entered: a stream is current in "
                "one thread or asynchronous task"
            )
        _current.set(now[:i] + now[i + 1 :])
        if now[i].partner is not None:
            now[i].partner.__exit__(kind, error, traceback)

    def query(self) -> bool:
        """Return whether all work given to the stream is done."""
        return self._is_done("cuStreamQuery", cast(self.handle))

    def synchronize(self) -> None:
        """Wait in the host until all work given to the stream is done."""
        self._call("cuStreamSynchronize", cast(self.handle))

    def record(self, event: Event | None = None) -> Event:
        """Mark this point of the stream in `event`, or in a new one, and return it."""
        if event is None:
            give_back_unowned()
            event = Event._new(self.ordinal, self._driver)
        _check_type(event, Event, "an Event")
        self._call("cuEventRecord", event._made.value, cast(self.handle))
        return event

    def wait(self, before: Event | Stream) -> None:
        """Let work given from now on begin after `before`; the host does not wait.

        A stream stands for all work that it has been given so far.
        """
        event = before.record() if isinstance(before, Stream) else before
        _check_type(event, Event, "an Event or a Stream")
        self._call("cuStreamWaitEvent", cast(self.handle), event._made.value, 0)


class Event(_OfDriver):
    """A point in the work of a device, to wait for or to measure time by.

    `Event(device, timing=True)` can measure time; without, it is cheaper. An event that
    was never recorded counts as reached. A copy is the same event.
    """

    __slots__ = ("ordinal", "_driver", "_made", "__weakref__")

    _instead = "Make an event there with refarray.cuda.Event(device)."

    def __init__(self, device: Device | None = None, *, timing: bool = False) -> None:
        give_back_unowned()
        self._make(ordinal_of(device), timing, driver())

    @classmethod
    def _new(cls, ordinal: int, using: Driver) -> Event:
        event = cls.__new__(cls)
        event._make(ordinal, False, using)
        return event

    def _make(self, ordinal: int, timing: bool, using: Driver) -> None:
        self.ordinal = ordinal
        self._driver = using
        self._made = Handle(self, "CUevent", "cuEventDestroy_v2", ordinal, using)
        flags = _WITH_TIMING if timing else _WITHOUT_TIMING
        self._made.make("cuEventCreate", flags)

    def query(self) -> bool:
        """Return whether the device has reached this point."""
        return self._is_done("cuEventQuery", self._made.value)

    def synchronize(self) -> None:
        """Wait in the host until the device has reached this point."""
        self._call("cuEventSynchronize", self._made.value)

    def elapsed_since(self, start: Event) -> float:
        """Return the milliseconds between two events, both made with timing=True.

        CudaError if one has not been recorded or cannot measure time.
        """
        _check_type(start, Event, "an Event")
        result = ffi.new("float *")
        self._call("cuEventElapsedTime", result, start._made.value, self._made.value)
        return float(result[0])


# ---- The current stream, and order ---------------------------------------------------


class _Entered(NamedTuple):
    """A stream in whose `with` block a context is, and CuPy's object for it."""

    stream: Stream
    partner: Any


_current: ContextVar[tuple[_Entered, ...]] = ContextVar("CUDA streams", default=())


def _innermost(ordinal: int) -> Stream | None:
    for entered in reversed(_current.get()):
        stream: Stream = entered.stream
        if stream.ordinal == ordinal:
            return stream
    return None


def _check_type(obj: object, kind: type, words: str) -> None:
    if not isinstance(obj, kind):
        raise TypeError(
            f"{words} of refarray.cuda is expected, not {type(obj).__name__}; "
            "Stream.external makes one of another library's stream"
        )


def current_stream(ordinal: int) -> int:
    """Return the handle of a device's current stream, the legacy one by default."""
    if _partner is not None and _partner_driver is driver_in_use():
        return _partner.get_current_stream(ordinal).ptr or LEGACY
    stream = _innermost(ordinal)
    # One of another driver means nothing here.
    if stream is None or stream._driver is not driver_in_use():
        return LEGACY
    return stream.handle


def keeper_of_current_stream(ordinal: int) -> object:
    """Return what keeps the handle of the current stream valid.

    None if that is up to the program, or if the stream is always there.
    """
    stream = _innermost(ordinal)
    if _partner is not None and _partner_driver is driver_in_use():
        theirs = _partner.get_current_stream(ordinal)
        if stream is None or stream.handle != theirs.ptr:
            return theirs
    if stream is None or stream._driver is not driver_in_use():
        return None
    if isinstance(stream._keep, SupportsIndex):
        return None
    return stream if stream._keep is _OURS else stream._keep


# CuPy's module cuda, once CuPy computes for us, and the driver that both use.
_partner: Any = None
_partner_driver: Driver | None = None


def follow(cuda: Any) -> None:
    """Let CuPy's current stream and ours be one; `cuda` is its module of that name.

    A `with` block of either library then holds for both.
    """
    global _partner, _partner_driver
    for entered in _current.get():
        cuda.Stream.from_external(entered.stream).use()
    _partner, _partner_driver = cuda, driver()


def cast(handle: int) -> Any:
    """Return a stream's handle as the driver's functions take it."""
    return ffi.cast("CUstream", handle)


def order(ordinal: int, first: int, then: int, owner: Driver | None = None) -> None:
    """Let work given from now on to stream `then` begin after that given to `first`.

    Both are handles of one device's streams; nothing happens if they are the same one.
    `owner` is the driver that they belong to.
    """
    if first == then:
        return
    using = driver() if owner is None else owner
    spare = using.events.setdefault(ordinal, [])
    try:
        event: Event = spare.pop() if spare else Event._new(ordinal, using)
    except IndexError:  # another thread had the last one
        event = Event._new(ordinal, using)
    try:
        Stream._known(first, ordinal, using=using).record(event)
        Stream._known(then, ordinal, using=using).wait(event)
    finally:
        # The wait stands for what was recorded before it, whatever comes next.
        spare.append(event)


# Called with the driver, the ordinal and the handle while the stream can still be used.
before_destruction: list[Callable[[Driver, int, int], None]] = []


def _tell_before_destruction(made: Handle) -> None:
    for tell in before_destruction:
        tell(made.driver, made.ordinal, made.number)
