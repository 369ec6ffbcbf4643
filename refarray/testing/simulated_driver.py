"""A CUDA driver without a GPU, to test code that uses CUDA.

    with simulated_cuda() as driver:
        ...                                # devices "cuda:0" and "cuda:1"

The same code that calls the real driver runs on it: `SimulatedDriver` has the functions
of the driver as attributes, as cffi has them for the real library. Work waits in its
stream until the program synchronises, fresh memory is poisoned, device memory cannot be
read by the host (on Linux), and every missing wait between streams is reported with
the two lines of the program that it is missing between.

In reading order:

    simulated_driver_memory.py      addresses, poison, what is allocated
    simulated_driver_order.py       streams, work in them, races
    simulated_driver_state.py       contexts and handles, faults
    simulated_driver_functions.py   the functions: devices, contexts, streams, events
    simulated_driver_allocation.py  the functions: memory
    simulated_driver_copies.py      the functions: copies
    simulated_driver_signals.py     handlers of signals wait for the functions
    this file                       all of them as one object; the context manager

More than 400 lines: each function of the driver is an attribute of one class.

Next: profile.py.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Literal

from refarray.cuda import use_driver
from refarray.testing.simulated_driver_allocation import (
    AllocationFunctions,
    MemoryFlags,
    MemoryType,
    PointerAttribute,
)
from refarray.testing.simulated_driver_copies import CopyFunctions
from refarray.testing.simulated_driver_functions import (
    DeviceAttribute,
    DriverFunctions,
    EventFlags,
    StreamFlags,
    StreamFunctions,
)
from refarray.testing.simulated_driver_memory import Allocation
from refarray.testing.simulated_driver_order import RaceError, Report, Verb
from refarray.testing.simulated_driver_signals import HeldSignals
from refarray.testing.simulated_driver_state import Failure, Result, State, where

__all__ = ["RaceError", "Report", "SimulatedDriver", "simulated_cuda"]

# A span of memory: a device pointer and a number of bytes.
Span = tuple[int, int]

# The names of enumerations, which the cffi library has as attributes too.
CONSTANTS: dict[str, int] = {
    name: int(value)
    for enumeration in (
        Result,
        DeviceAttribute,
        PointerAttribute,
        MemoryType,
        MemoryFlags,
        StreamFlags,
        EventFlags,
    )
    for name, value in enumeration.__members__.items()
}

# How many races an error tells in full.
SHOWN = 10

# What works before cuInit.
ANY_TIME = {"cuInit", "cuDriverGetVersion", "cuGetErrorName", "cuGetErrorString"}


class SimulatedDriver:
    """The functions of a CUDA driver that refarray uses, with nothing behind them.

    `driver.cuMemAlloc_v2(pointer, nbytes)` and so on, on cdata, for `devices` devices
    with `memory` bytes each. With none, cuInit answers as a driver without a device.
    `version` is the CUDA version, 13000 for 13.0. `on_race` says when a race ends the
    program: "exit", when `simulated_cuda` ends; "raise", at once, where the wait is
    missing; "collect", never. Threads may share a driver.
    """

    def __init__(
        self,
        devices: int = 2,
        *,
        memory: int = 1 << 30,
        version: int = 13000,
        on_race: Literal["exit", "raise", "collect"] = "exit",
    ) -> None:
        if on_race not in ("exit", "raise", "collect"):
            raise ValueError(
                f"on_race is 'exit', 'raise' or 'collect', not {on_race!r}"
            )
        if devices < 0 or memory < 0:
            raise ValueError(
                f"devices and memory are not negative: {devices}, {memory}"
            )
        self._state = State(devices, memory, version, on_race)
        self._signals = HeldSignals()
        self._process = os.getpid()
        self._closed = False
        self._failures: dict[str, list[int]] = {}
        self._functions: dict[str, Callable[..., None]] = {}
        for functions in (
            DriverFunctions(self._state),
            AllocationFunctions(self._state),
            CopyFunctions(self._state),
            StreamFunctions(self._state),
        ):
            for name in dir(functions):
                if name.startswith("cu"):
                    self._functions[name] = getattr(functions, name)

    # The library -----------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        if name in CONSTANTS:
            return CONSTANTS[name]
        function = vars(self).get("_functions", {}).get(name)
        if function is None:
            raise AttributeError(f"the simulated driver has no function {name!r}")

        def run(*arguments: Any) -> int:
            return self._call(name, function, arguments)

        call = partial(self._signals.run, run)
        setattr(self, name, call)  # found directly from now on
        return call

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._functions, *CONSTANTS})

    def _call(
        self, name: str, function: Callable[..., None], arguments: tuple[Any, ...]
    ) -> int:
        state = self._state
        # A child of fork has a copy of the driver that means nothing to the device.
        if os.getpid() != self._process:
            return Result.CUDA_ERROR_NOT_INITIALIZED.value
        with state.lock:
            state.calls[name] += 1
            if self._closed:
                return Result.CUDA_ERROR_DEINITIALIZED.value
            if name in self._failures:
                codes = self._failures[name]
                code = codes.pop(0)
                if not codes:
                    del self._failures[name]
                return code
            if not state.initialized and name not in ANY_TIME:
                return Result.CUDA_ERROR_NOT_INITIALIZED.value
            if state.host_function_in == threading.get_ident():
                return Result.CUDA_ERROR_NOT_PERMITTED.value
            try:
                function(*arguments)
            except Failure as failure:
                return failure.code.value
        return Result.CUDA_SUCCESS.value

    def fail_next(self, name: str, code: int) -> None:
        """Let the next call of a function do nothing but return an error code."""
        if name not in self._functions:
            raise ValueError(f"the simulated driver has no function {name!r}")
        self._failures.setdefault(name, []).append(int(code))

    # Computing -------------------------------------------------------------------

    def launch(
        self,
        stream: Any,
        function: Callable[[], object],
        reads: Iterable[Span] = (),
        writes: Iterable[Span] = (),
        *,
        name: str | None = None,
    ) -> None:
        """Give `function` to a stream, as a kernel that reads and writes those spans.

        It runs when the stream gets there, on memory that `shadow` gave before the
        launch: by then, the pointer may be freed in the order of the stream. What it
        raises comes out of the call that waits for it. A span is a device pointer and
        a number of bytes. `name` stands for it in reports. RuntimeError where a kernel
        would fail: memory that is freed, too short, or of another device; a stream of
        a context that is not current.
        """
        name = name or f"{getattr(function, '__name__', 'kernel')!r}"
        self._signals.run(self._launch, stream, function, reads, writes, name)

    def _launch(
        self,
        stream: Any,
        function: Callable[[], object],
        reads: Iterable[Span],
        writes: Iterable[Span],
        name: str,
    ) -> None:
        state = self._state
        with state.lock:
            self._check_usable()
            try:
                queue = state.stream(stream)
                if queue.context is not state.current():
                    raise Failure(
                        Result.CUDA_ERROR_INVALID_HANDLE,
                        f"{where()} launches {name} on {queue}, whose context is not "
                        "the current one",
                    )
                accesses = [
                    *self._accesses(name, reads, "reads", queue.context.device),
                    *self._accesses(name, writes, "writes", queue.context.device),
                ]
            except Failure as failure:
                raise RuntimeError(str(failure)) from None
            state.calls["launch"] += 1
            state.schedule.enqueue(queue, name, where(), function, accesses)

    def compute(
        self,
        stream: Any,
        reads: Iterable[Span] = (),
        writes: Iterable[Span] = (),
    ) -> None:
        """Let the caller compute on shadows, as work that `stream` does at once.

        What the stream was given before runs first, and nobody has waited for it: the
        host knows no more than after `launch`. Parameters and errors as there.
        """
        self._signals.run(self._compute, stream, reads, writes)

    def _compute(
        self, stream: Any, reads: Iterable[Span], writes: Iterable[Span]
    ) -> None:
        # In one: another thread may destroy the stream, or end the driver, in between.
        with self._state.lock:
            name = "a kernel of refarray"
            self._launch(stream, lambda: None, reads, writes, name)
            work = self._state.stream(stream).last
            if work is not None:
                self._state.schedule.run(work)

    def _accesses(
        self, name: str, spans: Iterable[Span], verb: Verb, device: int
    ) -> Iterator[tuple[Allocation, Verb, int, int]]:
        for pointer, nbytes in spans:
            if nbytes:
                place = self._state.known(pointer, nbytes)
                assert place.block is not None
                if place.block.on_device and place.block.device != device:
                    text = (
                        f"{name} at {where()} {verb} {place.block} of device "
                        f"{place.block.device} on device {device}"
                    )
                    raise self._state.fault("memory of another device", text, where())
                yield place.block, verb, place.start, place.stop

    def shadow(self, pointer: int, nbytes: int) -> memoryview:
        """Return memory of the driver as writable bytes of the host.

        For work in a stream, and for tests that look without waiting. It stays
        readable when the memory is freed. RuntimeError if it is freed already, or
        shorter.
        """
        with self._state.lock:
            self._check_usable()
            if nbytes == 0:
                return memoryview(bytearray())
            try:
                return self._state.known(pointer, nbytes).memory
            except Failure as failure:
                raise RuntimeError(str(failure)) from None

    # What happened ---------------------------------------------------------------

    @property
    def races(self) -> list[Report]:
        """Uses of memory without an order, and pinned memory changed too early."""
        return self._state.races

    @property
    def faults(self) -> list[Report]:
        """Mistakes that the driver answered with an error, and why it did."""
        return self._state.faults

    @property
    def calls(self) -> Counter[str]:
        """How often each function was called, `launch` included."""
        return self._state.calls

    @property
    def live_bytes(self) -> int:
        """Bytes allocated and not freed, on all devices and pinned."""
        return self._state.heap.live_bytes

    @property
    def peak_bytes(self) -> int:
        """The most that `live_bytes` has been."""
        return self._state.heap.peak_bytes

    @property
    def handles(self) -> dict[str, int]:
        """How many streams, events and pools were made and not destroyed."""
        return self._state.handles()

    @property
    def live(self) -> list[str]:
        """What is allocated: size, kind, address, and the line that allocated it."""
        return [str(block) for block in self._state.heap.live()]

    def assert_no_races(self) -> None:
        """Raise RaceError, an AssertionError, if there are `races`."""
        if self.races:
            shown = [f"  {report}" for report in self.races[:SHOWN]]
            if len(self.races) > SHOWN:
                shown.append(f"  and {len(self.races) - SHOWN} more")
            found = f"{len(self.races)} race(s) on simulated devices:"
            raise RaceError("\n".join([found, *shown]))

    # The end ---------------------------------------------------------------------

    def _check_usable(self) -> None:
        if os.getpid() != self._process:
            raise RuntimeError(
                "the simulated CUDA devices are those of another process"
            )
        if self._closed:
            raise RuntimeError("the simulated CUDA devices are gone: their test ended")

    def close(self) -> None:
        """Run the work that is left and end: all functions fail from now on.

        Device memory is gone. Pinned and managed memory stays where it is for good,
        for the host may have pointers to it.
        """
        if os.getpid() == self._process:  # or else the memory is shared, and not ours
            self._signals.run(self._close)

    def _close(self) -> None:
        state = self._state
        with state.lock:
            if self._closed:
                return
            try:
                for context in state.primary.values():
                    state.synchronize(context)
            finally:
                self._closed = True
                state.end(state.heap.live())


_active: SimulatedDriver | None = None


@contextmanager
def simulated_cuda(
    devices: int = 2,
    *,
    memory: int = 1 << 30,
    version: int = 13000,
    on_race: Literal["exit", "raise", "collect"] = "exit",
    force: bool = False,
) -> Iterator[SimulatedDriver]:
    """Let refarray use simulated CUDA devices, and yield their `SimulatedDriver`.

    In all threads; what was made with them raises on use afterwards. As with a real
    driver, the handler of a signal, Ctrl-C for one, runs before or after a function of
    the driver and not in the middle of it, if it was installed before this.

    The parameters are those of `SimulatedDriver`. At the end, its work runs, its memory
    goes, and unless `on_race` says otherwise, RaceError is raised if there were races
    and no other exception is on its way.

    RuntimeError inside another `simulated_cuda`, and where a real GPU answers: a
    library given an array from here would take its pointer for one of its own. With
    `force`, it is up to you that no such library is used.
    """
    global _active
    if _active is not None:
        raise RuntimeError("simulated_cuda does not nest: one is active already")
    if not force and (found := real_devices()):
        raise RuntimeError(
            f"simulated_cuda: this machine has {found} real CUDA device(s), and a "
            "library that is given an array from here would use its pointer there. "
            'Run with CUDA_VISIBLE_DEVICES="", or pass force=True if no other library '
            "gets to see the arrays."
        )
    driver = SimulatedDriver(devices, memory=memory, version=version, on_race=on_race)
    _active = driver
    try:
        with driver._signals.installed(), use_driver(driver):
            yield driver
    finally:
        _active = None
        driver.close()
    if on_race == "exit":
        driver.assert_no_races()


def real_devices() -> int:
    """Return how many devices the CUDA driver of this machine has, 0 without one."""
    name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        library = ctypes.CDLL(name)
    except OSError:
        return 0
    count = ctypes.c_int()
    if library.cuInit(0) or library.cuDeviceGetCount(ctypes.byref(count)):
        return 0
    return count.value
