"""Exceptions that come between a call of the driver and what follows: Ctrl-C, say.

Here they come out of the driver's functions, after these have done their work: that is
where Python looks for signals. `tests/stress/interrupts.py` has them at each bytecode,
`tests/stress/signals.py` at random moments.
"""

from __future__ import annotations

import signal
import tracemalloc
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from raw import get
from targets import Target
from through_binding import on_device

import refarray as xp
from refarray import cuda
from refarray._cuda_driver import ffi
from refarray._memory import cuda_memory, device, device_release, device_use
from refarray._memory.cuda_driver import driver_in_use
from refarray._memory.cuda_pool import Pool
from refarray._memory.cuda_streams import LEGACY, _current
from refarray._memory.device_use import memories
from refarray._memory.native import take_deferred
from refarray.testing.simulated_driver import SimulatedDriver, simulated_cuda

# What gives back what each function makes.
PAIRS = {
    "cuMemAlloc_v2": "cuMemFree_v2",
    "cuMemAllocManaged": "cuMemFree_v2",
    "cuMemAllocFromPoolAsync": "cuMemFreeAsync",
    "cuMemHostAlloc": "cuMemFreeHost",
    "cuMemPoolCreate": "cuMemPoolDestroy",
    "cuStreamCreate": "cuStreamDestroy_v2",
    "cuEventCreate": "cuEventDestroy_v2",
    "cuDevicePrimaryCtxRetain": "cuDevicePrimaryCtxRelease_v2",
}


class Interrupt(BaseException):
    pass


class Interrupting:
    """A driver: a call of its functions, `countdown` says which, raises at its end."""

    def __init__(self, lib: Any) -> None:
        self.lib = lib
        self.countdown = 0
        self.succeeded: Counter[str] = Counter()
        self.raised_by = ""

    def __getattr__(self, name: str) -> Any:
        function = getattr(self.lib, name)

        def interrupted(*arguments: Any) -> Any:
            result = function(*arguments)
            self.succeeded[name] += result == 0
            self.countdown -= 1
            if self.countdown == 0:
                self.raised_by = name
                raise Interrupt
            return result

        return interrupted

    def left(self) -> dict[str, int]:
        """How many things of each kind were made and not given back."""
        left: Counter[str] = Counter()
        for make, give_back in PAIRS.items():
            left[give_back] += self.succeeded[make]
        for give_back in set(PAIRS.values()):
            left[give_back] -= self.succeeded[give_back]
        # Memory of a pool may go back in either way.
        left["cuMemFree_v2"] += left.pop("cuMemFreeAsync")
        return {name: n for name, n in left.items() if n}


def memory_of_each_kind() -> None:
    for place in ("cuda:0", "cuda_managed:0", "cuda_host:0"):
        for _ in range(2):
            x = xp.zeros((3,), device=xp.Device(place))
            del x


def streams_and_events() -> None:
    with cuda.Stream() as stream:
        x = xp.zeros((3,), device=xp.Device("cuda:0"))
    stream.record().synchronize()
    cuda.Event(timing=True)
    y = xp.from_dlpack(x)
    del x, y, stream
    xp.zeros((3,), device=xp.Device("cuda:0"))


def copies() -> None:
    host = xp.Device("cpu")
    pinned = xp.ones((3,), device=xp.Device("cuda_host:0"))
    x = pinned.to_device(xp.Device("cuda:0"))
    if driver_in_use().device_count > 1:  # type: ignore[union-attr]
        x = x.to_device(xp.Device("cuda:1"))
    x.to_device(pinned.device)
    x.to_device(host)


def memory_of_a_pool() -> None:
    pool = Pool(0)
    block = pool.allocate(64, LEGACY)
    other = pool.allocate(64, LEGACY)
    pool.free(block, LEGACY)
    del block, other
    cuda.Stream()


@pytest.mark.parametrize(
    "work", [memory_of_each_kind, streams_and_events, copies, memory_of_a_pool]
)
def test_nothing_is_lost_or_given_back_twice(
    target: Target, work: Callable[[], None]
) -> None:
    """Whichever call of the driver is the last before the exception."""
    raised_by = set()
    known = set(memories)  # of arrays that other tests left
    n, reached = 0, True
    while reached:
        n += 1
        lib = Interrupting(target.lib)
        with cuda.use_driver(lib) as using:
            before = get("CUcontext", target.lib.cuCtxGetCurrent)
            lib.countdown = n
            try:
                work()
                cuda.empty_cache()
            except Interrupt:
                pass
            lib.countdown = 0
            assert get("CUcontext", target.lib.cuCtxGetCurrent) == before
            _current.set(())  # an interrupted end of a `with` block leaves its stream
            cuda.empty_cache()
            for ordinal in list(using.contexts):
                cuda_memory.synchronize(ordinal)
            cuda.empty_cache()
            assert cuda.cached_bytes() == 0
            assert set(memories) == known
        assert lib.left() == {}, f"{n}: {lib.raised_by}"
        reached = bool(lib.raised_by)
        raised_by.add(lib.raised_by)
    assert target.races() == []
    assert len(raised_by & {*PAIRS, *PAIRS.values()}) >= 4


# ---- Steps that no call of the driver shows ------------------------------------------


def test_notes_that_are_dropped_are_not_lost(simulated: SimulatedDriver) -> None:
    """As when an exception comes while Python has them in hand."""
    x = xp.ones(8, device=xp.Device("cuda:0"))
    x.__dlpack__()
    del x
    assert len(take_deferred()) == 1  # and nobody keeps the list
    cuda.empty_cache()
    assert simulated.live_bytes == 0
    assert take_deferred() == []


def test_an_allocation_that_fails_leaves_no_number(
    simulated: SimulatedDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its number, an address on the heap, may be another allocation's next."""

    class Interrupted(dict[int, Any]):
        def __setitem__(self, number: int, memory: Any) -> None:
            super().__setitem__(number, memory)
            raise Interrupt

    numbers = Interrupted()
    for module in (device, device_release, device_use):
        monkeypatch.setattr(module, "memories", numbers)
    with pytest.raises(Interrupt):
        xp.zeros(8, device=xp.Device("cuda:0"))
    assert len(numbers) == 1
    cuda.empty_cache()
    assert numbers == {}
    assert simulated.live_bytes == 0


def test_a_count_that_is_too_high_is_corrected(simulated: SimulatedDriver) -> None:
    """An exception between counting a block and caching it leaves it too high."""
    place = xp.Device("cuda:0")
    using = driver_in_use()
    assert using is not None
    using.cached_at_most = 1 << 60
    x = xp.ones(8, device=place)
    del x
    xp.empty(0, device=place)
    assert cuda.cached_bytes() == 64


def test_zeros_of_pinned_memory_need_no_memory_beside_it(
    simulated: SimulatedDriver,
) -> None:
    nbytes = 1 << 24
    xp.zeros(1, device=xp.Device("cuda_host:0"))
    tracemalloc.start()
    try:
        x = xp.zeros(nbytes, dtype=xp.uint8, device=xp.Device("cuda_host:0"))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < nbytes / 16
    assert not memoryview(x).tobytes().strip(b"\0")


# ---- Signals and the simulated driver ------------------------------------------------


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="needs signals of POSIX")
def test_a_handler_runs_when_the_function_is_done() -> None:
    """As with a real driver, whose functions are compiled."""

    def ring(number: int, frame: object) -> None:
        raise Interrupt

    def wanted() -> None:
        signal.raise_signal(signal.SIGUSR1)

    installed = signal.signal(signal.SIGUSR1, ring)
    try:
        with simulated_cuda(force=True) as driver:
            stream, done = cuda.Stream(), []
            handle = ffi.cast("CUstream", stream.handle)
            with on_device(0):
                driver.launch(handle, wanted)
                driver.launch(handle, lambda: done.append(1))
            with pytest.raises(Interrupt):
                stream.synchronize()
            assert done == [1]
        assert signal.getsignal(signal.SIGUSR1) is ring
    finally:
        signal.signal(signal.SIGUSR1, installed)


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="needs signals of POSIX")
def test_a_second_signal_interrupts_a_function_that_does_not_end() -> None:
    def ring(number: int, frame: object) -> None:
        raise Interrupt

    def endless() -> None:
        while True:
            signal.raise_signal(signal.SIGUSR1)

    installed = signal.signal(signal.SIGUSR1, ring)
    try:
        with simulated_cuda(force=True) as driver:
            stream = cuda.Stream()
            with on_device(0):
                driver.launch(ffi.cast("CUstream", stream.handle), endless)
            with pytest.raises(Interrupt):
                stream.synchronize()
    finally:
        signal.signal(signal.SIGUSR1, installed)
