"""Memory goes back once from other places too.

Through a consumer that fails, from a thread that Python has never seen, after the
interpreter, in a forked child, out of a crowd of threads. The rules about this (30 to
34) are checked on every library by refarray.testing; here are the kinds of memory that
only refarray has, and the counts.
"""

from __future__ import annotations

import contextlib
import random
import subprocess
import sys
import threading

import numpy as np
import pytest

import refarray as xp
from refarray._memory.native import (
    ffi,
    import_capsule,
    import_memory,
    lib,
    trace_capsule,
)
from refarray.dlpack import from_capsule
from refarray.dlpack.structs import managed_tensor
from refarray.testing import _forge
from refarray.testing.forge import Raw, Tensor, forge

VERSIONS = [None, (1, 0)]


def own():
    """Return an array in memory of our own."""
    return xp.ones((1000,))


def imported():
    """Return an array in memory of NumPy, whose deleter takes the GIL."""
    return xp.from_dlpack(np.ones(1000))


def lent():
    """Return an array in memory lent by a bytearray, which has to hear of its end."""
    return xp.asarray(bytearray(8000))


KINDS = {"host": own, "imported": imported, "exporter": lent}


@pytest.fixture(params=KINDS)
def make(request):
    assert KINDS[request.param]()._buffer.kind == request.param
    return KINDS[request.param]


def bfloat16():
    """Return an array that NumPy cannot import."""
    capsule = xp.zeros((8,), dtype=xp.uint16).__dlpack__()
    managed_tensor(capsule)[1].dl_tensor.dtype.code = 4
    return from_capsule(capsule)


def python(code):
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
    )


# A consumer that fails ---------------------------------------------------------------


def test_numpy_fails_on_our_capsule_and_its_own_error_arrives(balance):
    # NumPy drops the capsule while its exception is pending (numpy#32697).
    with balance:
        x = bfloat16()
        with pytest.raises((RuntimeError, BufferError), match="Unsupported dtype"):
            np.from_dlpack(x)
        del x


@pytest.mark.parametrize("version", VERSIONS)
def test_a_pending_exception_outlives_our_destructor(balance, make, version):
    with balance:
        x = make()
        capsules = [x.__dlpack__(max_version=version)]
        del x
        assert _forge.drop_with_pending_error(capsules)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_pending_exception_outlives_our_deleter(balance, make, version):
    with balance:
        raw = Raw(make().__dlpack__(max_version=version))
        raw.take()
        assert _forge.call_deleter_with_pending_error(raw.address, raw.legacy)


def test_a_pending_exception_outlives_the_deleter_of_another():
    tensor = Tensor.of([1.0, 2.0], (2,)).but(deleter="loses error")
    for take in (import_capsule, lambda capsule: import_memory(capsule, (1, 0))):
        capsule, case = forge(tensor)
        held = [take(capsule)]
        assert _forge.drop_with_pending_error(held)
        assert case.deleter_calls == 1


# A thread that Python has never seen -------------------------------------------------


@pytest.mark.parametrize("version", VERSIONS)
def test_the_last_holder_is_a_foreign_thread_without_the_gil(balance, make, version):
    with balance:
        raw = Raw(make().__dlpack__(max_version=version))
        raw.take()
        _forge.call_deleter_on_foreign_thread(raw.address, raw.legacy)


def test_a_lender_hears_from_a_foreign_thread(balance):
    with balance:
        lender = bytearray(64)
        raw = Raw(xp.asarray(lender).__dlpack__())
        raw.take()
        with pytest.raises(BufferError, match="cannot be re-sized"):
            lender.append(1)
        _forge.call_deleter_on_foreign_thread(raw.address, raw.legacy)
        lender.append(1)


# After the interpreter ---------------------------------------------------------------

MAKERS = {
    "host": "xp.ones((1000,))",
    "large": "xp.ones((1000, 1000))",
    "imported": "xp.from_dlpack(np.ones(1000))",
    "exporter": "xp.asarray(bytearray(8000))",
}


@pytest.mark.not_under_valgrind("runs in a child, which it does not follow")
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", MAKERS)
def test_a_deleter_returns_after_the_interpreter_has_gone(kind, version):
    code = f"""
import numpy as np, refarray as xp
from refarray.testing import _forge
from refarray.testing.forge import Raw
raw = Raw({MAKERS[kind]}.__dlpack__(max_version={version}))
raw.take()
_forge.call_deleter_after_exit(raw.address, raw.legacy)
"""
    result = python(code)
    assert (result.returncode, result.stderr) == (0, "late deleter returned\n")


# A forked child ----------------------------------------------------------------------

FORK = """
import gc, os, sys, threading, warnings
import numpy as np, refarray as xp
from refarray.memory import statistics

warnings.simplefilter("ignore")  # of fork in a process with threads: that is the point

def held():
    gc.collect()
    s = statistics()
    return (s.live_buffers, s.live_bytes, s.exported - s.exports_deleted,
            s.imported - s.imports_deleted)

empty = held()
source = np.arange(1000.0)
mine = xp.ones((1000,))
large = xp.ones((1000, 1000))
theirs = xp.from_dlpack(source)
lent = xp.asarray(bytearray(800))
out = np.from_dlpack(mine)
capsules = [mine.__dlpack__(), large.__dlpack__(max_version=(1, 0))]
full = held()

stop = threading.Event()
def exchange():
    a = np.arange(100.0)
    while not stop.is_set():
        np.from_dlpack(xp.from_dlpack(a) + 1.0)
threads = [threading.Thread(target=exchange) for _ in range(WORKERS)]
for t in threads: t.start()

def child():
    # Written here, not seen by the parent; new memory works; everything goes back.
    assert float(mine[999]) == 1.0 and float(theirs[999]) == 999.0
    mine[0] = 7.0
    assert out[0] == 7.0
    again = np.from_dlpack(large + 1.0)
    assert again[999, 999] == 2.0
    if not WORKERS:
        assert held()[2:] == (full[2] + 1, full[3])
    for name in ("mine", "large", "theirs", "lent", "out", "capsules", "source"):
        del globals()[name]
    del again
    if not WORKERS:
        assert held() == empty, (held(), empty)

failed = 0
for _ in range(20):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            child()
            code = 0
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
        os._exit(code)
    failed += os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0
stop.set()
for t in threads: t.join()
assert held() == full, (held(), full)
assert float(mine[0]) == 1.0 and out[0] == 1.0
sys.exit(failed)
"""


@pytest.mark.needs("fork")
@pytest.mark.not_under_valgrind("runs in a child, which it does not follow")
@pytest.mark.parametrize("workers", [0, pytest.param(4, marks=pytest.mark.slow)])
def test_a_fork_with_live_arrays(workers):
    result = python(FORK.replace("WORKERS", str(workers)))
    assert (result.returncode, result.stderr) == (0, "")


# A crowd -----------------------------------------------------------------------------


def take_traced(capsule):
    watched, address = trace_capsule(capsule)
    import_capsule(watched)
    lib.ra_trace_let_go(ffi.cast("ra_trace_record *", address))


@pytest.mark.parametrize(
    "take",
    [import_capsule, lambda capsule: import_memory(capsule, (1, 0)), take_traced],
    ids=["array", "memory", "trace"],
)
def test_of_threads_that_take_the_same_capsule_one_gets_it(balance, take):
    with balance:
        versions = VERSIONS * 1500
        capsules = [xp.ones((3,)).__dlpack__(max_version=v) for v in versions]
        taken = []

        def work():
            for capsule in capsules:
                with contextlib.suppress(ValueError):
                    take(capsule)
                    taken.append(capsule)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(map(id, taken)) == sorted(map(id, capsules))
        capsules.clear()
        taken.clear()


ROUNDS = 5000
THREADS = 16


class Crowd:
    """Threads that exchange, and leave what they got where others find and drop it.

    Each goes on as long as `goes_on`, called with its number of rounds, returns True.
    """

    def __init__(self, goes_on):
        self.shelf, self.lock = [None] * 64, threading.Lock()
        self.goes_on = goes_on
        self.failures = []
        self.rounds = []

    def work(self, seed):
        rng = random.Random(seed)
        rounds = 0
        try:
            while self.goes_on(rounds):
                self.exchange(rng)
                rounds += 1
        except BaseException as error:
            self.failures.append(error)
        self.rounds.append(rounds)

    def exchange(self, rng):
        value = rng.randrange(1000)
        x = xp.full((rng.choice([1, 100, 5000, 300_000]),), float(value))
        kind = rng.randrange(6)
        if kind == 0:
            thing = np.from_dlpack(x)
        elif kind == 1:
            thing = xp.from_dlpack(np.from_dlpack(x))
        elif kind == 2:
            thing = x.__dlpack__(max_version=rng.choice(VERSIONS))
        elif kind == 3:
            thing = np.from_dlpack(
                xp.from_dlpack(np.full(100, float(value)), copy=True)
            )
        elif kind == 4:
            raw = Raw(x.__dlpack__(max_version=rng.choice(VERSIONS)))
            raw.take()
            _forge.call_deleter_on_foreign_thread(raw.address, raw.legacy)
            thing = x
        else:
            capsule = x.__dlpack__(max_version=(1, 0))
            thing = from_capsule(capsule)
            with pytest.raises(ValueError, match="has been consumed"):
                from_capsule(capsule)
        place = rng.randrange(len(self.shelf))
        with self.lock:  # or two would get the same capsule
            old, self.shelf[place] = self.shelf[place], (value, thing)
        if old is not None:
            value, thing = old
            if type(thing).__name__ == "PyCapsule" and rng.random() < 0.5:
                thing = from_capsule(thing)
            if type(thing).__name__ != "PyCapsule":
                assert float(thing[0]) == float(thing[-1]) == value


@pytest.mark.slow
@pytest.mark.not_under_valgrind("takes many minutes there")
def test_sixteen_threads_exchange(balance):
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with balance:
            crowd = Crowd(lambda rounds: rounds < ROUNDS)
            threads = [
                threading.Thread(target=crowd.work, args=(seed,))
                for seed in range(THREADS)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            crowd.shelf.clear()
    finally:
        sys.setswitchinterval(interval)
    assert crowd.failures == []
    assert crowd.rounds == [ROUNDS] * THREADS
