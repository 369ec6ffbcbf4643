"""The trace where Python is not: other threads, no GIL, no interpreter, a fork.

And what it costs those who do not use it, which is nothing, and those who do, which is
nothing that stays.
"""

import subprocess
import sys
import threading

import numpy as np
import pytest

import refarray as xp
from refarray._memory.native import ffi, lib, trace_capsule
from refarray.dlpack import from_capsule, trace
from refarray.testing import _forge
from refarray.testing.forge import Raw
from refarray.testing.rules_capsule import resident

START = """
import numpy as np
import refarray as xp
import refarray.dlpack
trace = lambda: refarray.dlpack.trace()
"""


def python(code):
    """Run code in a new interpreter, and return what it and what comes after prints."""
    done = subprocess.run(
        [sys.executable, "-c", START + code],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout + done.stderr


def in_thread(name, function):
    thread = threading.Thread(target=function, name=name)
    thread.start()
    return thread


def deleter_thread(t):
    [found] = [s.thread for s in t.steps if s.kind == "deleter called"]
    return found


# ---- Threads -------------------------------------------------------------------------


def test_each_step_names_its_thread():
    kept, go, stay = [], threading.Event(), threading.Event()

    def consume():
        kept.append(np.from_dlpack(t.watch(xp.ones(3))))

    def let_go():
        go.wait()
        kept.clear()
        stay.wait()

    with trace() as t:
        in_thread("taker", consume).join()
        other = in_thread("giver", let_go)
        go.set()
        while kept:
            pass
        told = deleter_thread(t)
        stay.set()
        other.join()
    assert t.steps[0].thread == "taker"
    assert told == deleter_thread(t) == "giver"
    assert t.steps[-1].thread == "MainThread"


def test_a_thread_that_has_ended_has_no_name():
    with trace() as t:
        capsule = t.watch(xp.ones(3)).__dlpack__()
    in_thread("short", lambda: from_capsule(capsule)).join()
    assert deleter_thread(t) == "an ended thread"


@pytest.mark.parametrize("max_version", [None, (1, 0)])
def test_a_thread_that_python_has_never_seen(balance, max_version):
    with balance:
        with trace() as t:
            raw = Raw(t.watch(xp.ones(3)).__dlpack__(max_version=max_version))
        raw.take()
        _forge.call_deleter_on_foreign_thread(raw.address, raw.legacy)
        assert deleter_thread(t) == "outside Python"
        del raw


def test_a_crowd_of_threads(balance):
    x = xp.ones(10)
    with balance:
        with trace() as t:
            watched = t.watch(x)

            def exchange():
                for _ in range(50):
                    xp.from_dlpack(watched)

            threads = [in_thread(f"worker {i}", exchange) for i in range(8)]
            for thread in threads:
                thread.join()
    by_capsule = {}
    for step in t.steps:
        if step.capsule is not None:
            by_capsule.setdefault(step.capsule, []).append(step.kind)
    assert len(by_capsule) == 400
    life = ["capsule made", "taken over", "capsule dropped", "deleter called"]
    assert all(kinds == life for kinds in by_capsule.values())


# ---- Ends ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "kept"),
    [
        ("xp.ones(9)", "y"),
        ("xp.ones(9)", "y, t"),
        ("xp.ones(9)", "t.watch(x).__dlpack__()"),
        ("np.ones(9)", "y"),
        ("xp.from_dlpack(np.ones(9))", "t, y"),
    ],
)
def test_a_traced_tensor_outlives_the_interpreter(make, kept):
    code = f"""
import sys
x = {make}
with trace() as t:
    y = np.from_dlpack(t.watch(x))
sys.kept = {kept}  # goes after everything else
print(len(t.steps))
"""
    assert int(python(code)) in (5, 7)


def test_a_deleter_called_when_python_has_gone():
    code = """
from refarray.testing import _forge
from refarray.testing.forge import Raw
with trace() as t:
    raw = Raw(t.watch(xp.ones(9)).__dlpack__(max_version=(1, 0)))
raw.take()
_forge.call_deleter_after_exit(raw.address, raw.legacy)
print(len(t.steps))
"""
    assert python(code) == "5\nlate deleter returned\n"


@pytest.mark.needs("fork")
def test_a_child_gives_its_copy_back():
    code = """
import os
with trace() as t:
    y = np.from_dlpack(t.watch(xp.ones(9)))
child = os.fork()
if child == 0:
    del y
    assert t.steps[-1].kind == "deleter called"
    np.from_dlpack(t.watch(xp.ones(9)))
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(t.steps[-1].kind)
"""
    assert python(code) == "block ended\n"


# ---- Cost ----------------------------------------------------------------------------


@pytest.mark.not_under_sanitizers("measures memory, of which they keep much")
def test_no_record_stays(balance):
    def exchange(n, consume):
        for _ in range(n):
            capsule, address = trace_capsule(x.__dlpack__())
            consume(capsule)
            del capsule
            lib.ra_trace_let_go(ffi.cast("ra_trace_record *", address))

    def drop(capsule):
        pass

    def take(capsule):
        raw = Raw(capsule)
        raw.take()
        raw.delete()

    def take_without_destructor(capsule):
        _forge.clear_destructor(capsule)
        raw = Raw(capsule)
        raw.take()
        raw.delete()

    x = xp.ones(3)
    for consume in (drop, take, take_without_destructor):
        with balance:
            exchange(200, consume)
            before = resident()
            exchange(20_000, consume)
            after = resident()
        assert after - before < 2_000_000, consume.__name__  # a record has 500


def test_a_capsule_that_is_dropped_after_its_record(balance):
    with balance:
        with trace() as t:
            raw = Raw(t.watch(xp.ones(3)).__dlpack__())
        capsule = raw.capsule
        raw.take()
        raw.delete()
        del t
        del capsule  # its record is gone


def test_who_does_not_trace_does_not_load_it():
    code = """
import sys
xp.from_dlpack(np.ones(2))
print(sorted(name for name in sys.modules if "tracing" in name))
"""
    assert python(code).endswith("[]\n")
