"""The functions of the simulated CUDA driver that copy and fill memory.

As in simulated_driver_functions.py, where it is said how. What the driver promises to
the host: a copy to it without a stream is over when the call returns, and so is one
between a device and pinned memory. A copy from pageable memory without a stream has
only been staged by then. A copy with a stream may be over early, but nobody can count
on it. Source: NVIDIA, "CUDA Driver API", API synchronization behavior.

Next: simulated_driver_signals.py.
"""

from __future__ import annotations

from typing import Any

from refarray.testing.simulated_driver_functions import check
from refarray.testing.simulated_driver_memory import POISON, Allocation, fill
from refarray.testing.simulated_driver_order import Report, Stream, Verb, Work
from refarray.testing.simulated_driver_state import Place, State, where


class CopyFunctions:
    """Copies and memset."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._schedule = state.schedule

    def cuMemcpyHtoD_v2(self, to: int, source: Any, nbytes: int) -> None:
        """Copy to the device on the legacy stream."""
        stream = self._state.current().legacy
        if nbytes:
            target, place = (
                self._state.known(to, nbytes),
                self._state.host(source, nbytes),
            )
            self._schedule.wait(stream.last)
            work = self._copy("cuMemcpyHtoD_v2", target, place, stream)
            if place.block is not None:
                self._schedule.wait(work)

    def cuMemcpyDtoH_v2(self, to: Any, source: int, nbytes: int) -> None:
        """Copy to the host on the legacy stream, and wait."""
        stream = self._state.current().legacy
        if nbytes:
            target, place = (
                self._state.host(to, nbytes),
                self._state.known(source, nbytes),
            )
            work = self._copy("cuMemcpyDtoH_v2", target, place, stream)
            self._schedule.wait(work)

    def cuMemcpyHtoDAsync_v2(
        self, to: int, source: Any, nbytes: int, stream: Any
    ) -> None:
        """Copy to the device."""
        queue = self._state.stream(stream)
        if nbytes:
            target, place = (
                self._state.known(to, nbytes),
                self._state.host(source, nbytes),
            )
            self._copy("cuMemcpyHtoDAsync_v2", target, place, queue)

    def cuMemcpyDtoHAsync_v2(
        self, to: Any, source: int, nbytes: int, stream: Any
    ) -> None:
        """Copy to the host."""
        queue = self._state.stream(stream)
        if nbytes:
            target, place = (
                self._state.host(to, nbytes),
                self._state.known(source, nbytes),
            )
            self._copy("cuMemcpyDtoHAsync_v2", target, place, queue)

    def cuMemcpyDtoDAsync_v2(
        self, to: int, source: int, nbytes: int, stream: Any
    ) -> None:
        """Copy within devices."""
        queue = self._state.stream(stream)
        if nbytes:
            target = self._state.known(to, nbytes)
            place = self._state.known(source, nbytes)
            self._copy("cuMemcpyDtoDAsync_v2", target, place, queue)

    def cuMemcpyPeerAsync(
        self,
        to: int,
        to_context: Any,
        source: int,
        source_context: Any,
        nbytes: int,
        stream: Any,
    ) -> None:
        """Copy from the memory of one context to that of another."""
        queue = self._state.stream(stream)
        contexts = self._state.context(to_context), self._state.context(source_context)
        if nbytes:
            places = self._state.known(to, nbytes), self._state.known(source, nbytes)
            for place, context in zip(places, contexts, strict=True):
                check(place.block is not None and place.block.device == context.device)
            self._copy("cuMemcpyPeerAsync", *places, queue)

    def cuMemsetD8Async(self, to: int, value: int, nbytes: int, stream: Any) -> None:
        """Set bytes."""
        queue = self._state.stream(stream)
        if nbytes:
            target = self._state.known(to, nbytes)
            self._schedule.enqueue(
                queue,
                "cuMemsetD8Async",
                where(),
                lambda: fill(target.memory, int(value) & 0xFF),
                _accesses(target, "writes"),
            )

    def _copy(self, name: str, to: Place, source: Place, stream: Stream) -> Work:
        place = where()
        staged = bytes(source.memory) if source.block is None else None
        before = self._content(source)
        if to.block is not None and not to.block.on_device and not _busy(to):
            fill(to.memory, POISON)  # so that who reads early sees it

        def copy() -> None:
            if before is not None and bytes(source.memory) != before:
                self._state.race(_overwritten(name, place, source))
            to.memory[:] = source.memory if staged is None else staged

        work = self._schedule.enqueue(
            stream,
            name,
            place,
            copy,
            [*_accesses(source, "reads"), *_accesses(to, "writes")],
        )
        if to.block is None:  # nobody keeps pageable memory in place until later
            self._schedule.run(work)
        return work

    def _content(self, source: Place) -> bytes | None:
        """Return the bytes that the host may not change before they are copied."""
        if source.block is None or source.block.on_device or _busy(source, "reads"):
            return None
        return bytes(source.memory)


def _accesses(place: Place, verb: Verb) -> list[tuple[Allocation, Verb, int, int]]:
    if place.block is None:
        return []
    return [(place.block, verb, place.start, place.stop)]


def _busy(place: Place, ignore: Verb | None = None) -> bool:
    """Whether work that has not run yet uses some of the bytes."""
    return place.block is not None and any(
        access.verb != ignore
        and not access.work.done
        and access.start < place.stop
        and place.start < access.stop
        for access in place.block.accesses
    )


def _overwritten(name: str, place: str, source: Place) -> Report:
    return Report(
        "host write after read",
        f"the host changed {source.block} before {name} at {place} had read it. Wait "
        "for the copy before the memory is used again.",
        (place,),
    )
