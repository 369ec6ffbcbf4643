"""Arrays beyond their simulation, thread, process or interpreter; nothing at import."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import targets

import refarray as xp
from refarray import cuda
from refarray.testing.simulated_driver import SimulatedDriver, simulated_cuda

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CPU = xp.Device("cpu")


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, HERE)))},
        capture_output=True,
        text=True,
        timeout=120,
    )


# ---- Import --------------------------------------------------------------------------


def test_nothing_of_cuda_is_imported_or_opened() -> None:
    code = (
        "import sys, refarray as xp\n"
        "x = xp.asarray([1.0]) + 1\n"
        "xp.from_dlpack(x); repr(x); x.to_device(xp.Device('cpu'))\n"
        "xp.__array_namespace_info__().devices()\n"
        "unwanted = ('cuda', 'refarray._memory.device', 'cupy')\n"
        "print([name for name in sys.modules if name.startswith(unwanted)"
        " or 'cuda' in name and name.startswith('refarray')])\n"
    )
    done = run(code)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_importing_refarray_cuda_opens_no_driver() -> None:
    code = (
        "from refarray import cuda\n"
        "from refarray._memory.cuda_driver import _drivers\n"
        "import refarray as xp\n"
        "print(_drivers, xp.__array_namespace_info__().devices())\n"
    )
    assert run(code).stdout == "[] (Device('cpu'),)\n"


# ---- Simulations that end ------------------------------------------------------------

USES = {
    "arithmetic": lambda x: x + 1,
    "reduction": lambda x: xp.sum(x),
    "indexing": lambda x: x[x > 1],
    "writing": lambda x: x.__setitem__(0, 1.0),
    "in place": lambda x: x.__iadd__(1),
    "copy": lambda x: xp.asarray(x, copy=True),
    "to the host": lambda x: x.to_device(CPU),
    "float": lambda x: float(x[0]),
    "repr": repr,
    "export": lambda x: x.__dlpack__(),
    "export of a copy": lambda x: x.__dlpack__(copy=True),
    "export to the host": lambda x: x.__dlpack__(dl_device=(1, 0)),
    "import": lambda x: xp.from_dlpack(x),
    "array interface": lambda x: x.__cuda_array_interface__,
    "pickle": pickle.dumps,
}


# The last: functions that ask for kernels before they look at the array.
GONE = "no longer in use|no device is named|no CUDA driver"


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("place", ["cuda:0", "cuda_managed:0"])
@pytest.mark.parametrize("inside", [False, True])
def test_arrays_that_outlive_their_simulation(
    place: str, use: str, inside: bool
) -> None:
    if not inside and targets.is_there():
        pytest.skip("outside of the simulation, this machine has a CUDA driver")
    with simulated_cuda(force=True):
        x = xp.asarray([1.0, 2.0], device=xp.Device(place))
    with (
        simulated_cuda(force=True) if inside else contextlib.nullcontext(),
        pytest.raises((cuda.CudaError, BufferError), match=GONE),
    ):
        USES[use](x)


def test_pinned_memory_that_outlives_its_simulation_is_still_there() -> None:
    with simulated_cuda(force=True):
        x = xp.asarray([1.0, 2.0], device=xp.Device("cuda_host:0"))
    np.testing.assert_array_equal(np.asarray(x), [1.0, 2.0])


def test_letting_go_after_the_end() -> None:
    with simulated_cuda(force=True):
        x = xp.ones(8, device=xp.Device("cuda:0"))
        pinned = xp.ones(8, device=xp.Device("cuda_host:0"))
        capsule = x.__dlpack__()
    del x, pinned
    with simulated_cuda(force=True) as other:
        xp.ones(8, device=xp.Device("cuda:0"))
        del capsule
        xp.ones(8, device=xp.Device("cuda:0"))
        cuda.empty_cache()
        assert other.live_bytes == 0
        assert other.faults == []


# ---- Threads -------------------------------------------------------------------------


@pytest.mark.usefixtures("simulated")
def test_new_threads() -> None:
    device = xp.Device("cuda:0")
    x = xp.asarray([1.0, 2.0], device=device)

    def work(n: int) -> list[float]:
        y = x * n + xp.ones(2, device=device)
        return list(np.asarray(xp.from_dlpack(y).to_device(CPU)))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(8))) == [[n + 1, 2 * n + 1] for n in range(8)]


# ---- Processes -----------------------------------------------------------------------


@pytest.mark.needs("fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork")
def test_a_forked_child(simulated: SimulatedDriver) -> None:
    from peer import Peer

    device = xp.Device("cuda:0")
    x, peer = xp.ones(4, device=device), Peer()
    imported: Any = xp.from_dlpack(peer)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said = []
        for use in (
            lambda: x + 1,
            lambda: float(x[0]),
            lambda: xp.zeros(3, device=device),
            lambda: xp.Device("cuda:1"),
            lambda: x.__dlpack__(),
        ):
            try:
                use()
                said.append("nothing")
            except (cuda.CudaError, ValueError) as error:
                said.append(str(error))
        del imported  # the parent's memory: nothing is given back here
        cuda.empty_cache()
        said.append(str(peer.deleted))
        os.write(writing, "\n".join(said).encode())
        os.close(writing)
        os._exit(0)
    os.close(writing)
    assert os.waitpid(child, 0)[1] == 0
    *said, deleted = os.read(reading, 1 << 16).decode().splitlines()
    os.close(reading)
    assert all("cannot use it: start processes with the 'spawn'" in s for s in said)
    assert len(said) == 5
    assert deleted == "0"
    assert float(xp.sum(x)) == 4  # the parent goes on
    assert float(imported[0]) != 0


ENDS = {
    "normally": "",
    "with an exception": "raise ZeroDivisionError\n",
    "by sys.exit": "import sys; sys.exit(0)\n",
    "with the arrays in a cycle": "held.append(held); del held\n",
    "with the arrays in a thread": (
        "import threading, time\n"
        "def hold(held):\n"
        "    while True: time.sleep(0.01); held[0]\n"
        "threading.Thread(target=hold, args=(held,), daemon=True).start()\n"
    ),
    "with the arrays in the builtins": "import builtins; builtins.held = held\n",
    "after all was let go": "del held, x, z, consumer; import gc; gc.collect()\n",
}

PROGRAM = """
import atexit, contextlib
import refarray as xp
from refarray import cuda
from refarray.testing.simulated_driver import simulated_cuda
from peer import Consumer, Peer
stack = contextlib.ExitStack()
driver = stack.enter_context(simulated_cuda(force=True))
{ending_first}
peer = Peer()
with cuda.Stream():
    x = xp.ones(8, device=xp.Device("cuda:0"))
    z = xp.from_dlpack(peer) + x
consumer = Consumer(z)
pinned = xp.ones(8, device=xp.Device("cuda_host:0"))
held = [x, z, consumer, pinned, x.__dlpack__(), z[1:], xp.from_dlpack(peer),
        cuda.Stream(), cuda.Event(), xp.from_dlpack(x)]
print("here", flush=True)
{ending}
"""


@pytest.mark.parametrize("order", ["first", "last", "never"])
@pytest.mark.parametrize("ending", ENDS)
def test_a_process_ends(ending: str, order: str) -> None:
    """With arrays, exports and imports alive, the simulation over or not."""
    first = {
        # atexit runs what was registered last first
        "first": "import refarray._memory.device_release\natexit.register(stack.close)",
        "last": "",
        "never": "import os",
    }[order]
    last = "atexit.register(stack.close)\n" if order == "last" else ""
    done = run(
        PROGRAM.format(ending_first=first, ending=last + ENDS[ending]),
        "-X",
        "faulthandler",
    )
    assert done.stdout == "here\n", done.stderr
    if ending == "with an exception":
        assert done.stderr.rstrip().endswith("ZeroDivisionError")
        assert done.stderr.count("Traceback") == 1
        assert done.returncode == 1
    else:
        assert (done.stderr, done.returncode) == ("", 0)


def test_an_import_that_is_let_go_at_the_end_has_its_deleter_run() -> None:
    code = (
        "import atexit\n"
        "import refarray as xp\n"
        "from refarray import cuda\n"
        "from refarray.testing.simulated_driver import SimulatedDriver\n"
        "from peer import Peer\n"
        "driver = SimulatedDriver()\n"
        "use = cuda.use_driver(driver); use.__enter__()\n"
        "peer = Peer()\n"
        "import refarray._memory.device_release as release\n"
        "atexit.unregister(release._at_exit)\n"
        "atexit.register(lambda: print(peer.deleted))\n"
        "atexit.register(release._at_exit)\n"
        "with cuda.Stream():\n"
        "    x = xp.from_dlpack(peer); x += 1\n"
        "del x\n"
        "print(peer.deleted)\n"
    )
    done = run(code)
    assert (done.stdout, done.stderr) == ("0\n1\n", "")


@pytest.mark.needs("shadow")
def test_the_host_cannot_read_the_memory() -> None:
    code = (
        "import ctypes, refarray as xp\n"
        "from refarray.testing.simulated_driver import simulated_cuda\n"
        "with simulated_cuda(force=True):\n"
        "    x = xp.ones(8, device=xp.Device('cuda:0'))\n"
        "    ctypes.string_at(x._buffer.address, 8)\n"
    )
    assert run(code).returncode == -signal.SIGSEGV
