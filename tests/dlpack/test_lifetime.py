"""Memory goes back exactly once, in whichever order things end."""

import subprocess
import sys

import numpy as np
import pytest

import refarray as xp
from refarray.dlpack import from_capsule
from refarray.testing.rules_capsule import resident


def test_the_producer_goes_first(balance):
    with balance:
        a = np.arange(1000.0)
        x = xp.from_dlpack(a)
        y = x + 1.0
        b = np.from_dlpack(y)
        del a, y
        junk = [np.full(1000, 7.0) for _ in range(50)]
        assert float(x[999]) == 999.0
        assert b[999] == 1000.0
        del x, b, junk


def test_the_consumer_goes_first(balance):
    with balance:
        a = np.arange(10.0)
        x = xp.from_dlpack(a)
        b = np.from_dlpack(x)
        del b
        assert float(x[9]) == 9.0
        del x
        assert a[9] == 9.0


def test_a_capsule_that_nobody_consumes(balance):
    with balance:
        x = xp.from_dlpack(np.arange(10.0)) + 1.0
        for version in (None, (1, 0)):
            capsule = x.__dlpack__(max_version=version)
            del capsule
        del x


def test_an_exception_while_a_capsule_goes_is_kept(balance):
    x = xp.from_dlpack(np.arange(10.0)) + 1.0
    with balance:
        for version in (None, (1, 0)):
            with pytest.raises(KeyError, match="kept"):
                exec(
                    "c = x.__dlpack__(max_version=v)\nraise KeyError('kept')",
                    {"x": x, "v": version},
                )


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_a_capsule_is_consumed_once(balance, version):
    with balance:
        x = xp.from_dlpack(np.arange(10.0)) + 1.0
        capsule = x.__dlpack__(max_version=version)
        y = from_capsule(capsule)
        for _ in range(2):
            with pytest.raises(ValueError, match="has been consumed"):
                from_capsule(capsule)
        del capsule
        assert float(y[0]) == 1.0
        del x, y


def test_a_capsule_that_another_takes_while_a_profile_is_asked():
    # What a switch of threads can do in there, done by the profile itself.
    code = (
        "import refarray as xp\n"
        "from refarray import _native\n"
        "taken = []\n"
        "def check_new(dtype, device):\n"
        "    if not taken:\n"
        "        taken.append(None)\n"
        "        taken[0] = _native.import_capsule(capsule)\n"
        "capsule = xp.ones(3).__dlpack__()\n"
        "_native.register_guard(check_new, lambda: (False, 0))\n"
        "try: _native.import_capsule(capsule)\n"
        "except ValueError as error: print(error)\n"
        "print(xp.memory.statistics().imported)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    said, imported = done.stdout.splitlines()
    assert "it has been consumed" in said
    assert imported == "1"


def test_a_refused_capsule_gives_its_memory_back(balance):
    with balance:
        # NumPy's longdouble has no DLPack type here; its datetime has none at all.
        with pytest.raises(BufferError):
            xp.from_dlpack(np.zeros(3, "M8[s]"))
        with pytest.raises(BufferError):
            xp.from_dlpack(np.zeros(3, np.longdouble))


@pytest.mark.slow
@pytest.mark.not_under_valgrind("measures memory, of which it keeps much")
@pytest.mark.not_under_sanitizers("measures memory, of which they keep much")
def test_a_hundred_thousand_round_trips_lose_nothing(balance):
    a = np.arange(100.0)

    def round_trips(n):
        for _ in range(n):
            b = np.from_dlpack(xp.from_dlpack(a) + 1.0)
        assert b[99] == 100.0
        del b

    round_trips(1000)
    with balance:
        before = resident()
        round_trips(100_000)
        assert resident() - before < 2**20


EXITS = {
    "live exports": "b = np.from_dlpack(x)",
    "live imports": "y = xp.from_dlpack(a)",
    "an unconsumed capsule": "c = x.__dlpack__(max_version=(1, 0))",
    "a legacy capsule": "c = x.__dlpack__()",
    "a cycle": "class O: pass\no = O(); o.o = o; o.x = x; o.b = np.from_dlpack(x)",
    "modules cleared late": "import builtins; builtins.keep = [x, np.from_dlpack(x)]",
    "a lent buffer": "m = memoryview(x); builtins = __builtins__; builtins.m = m",
    "a thread": (
        "import threading, time\n"
        "def f():\n"
        "  while True: np.from_dlpack(xp.from_dlpack(a) + 1.0)\n"
        "threading.Thread(target=f, daemon=True).start(); time.sleep(0.2)"
    ),
}


@pytest.mark.not_under_valgrind("runs in a child, which it does not follow")
@pytest.mark.parametrize("what", EXITS)
def test_the_interpreter_ends_with(what):
    code = f"""
import numpy as np, refarray as xp
a = np.arange(10.0)
x = xp.from_dlpack(a) + 1.0
{EXITS[what]}
"""
    result = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (result.returncode, result.stderr) == (0, "")
