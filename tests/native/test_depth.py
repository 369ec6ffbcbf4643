"""Memory that is passed on a million times is released without recursion.

On a thread with a stack of 512 KiB, which is what macOS gives: in a process of its own,
because an overflow of the stack ends it.
"""

import subprocess
import sys

import numpy as np
import pytest

import refarray as xp
from refarray import dlpack, profiles

PROGRAM = """
import sys, threading
import numpy as np
import refarray as xp
from refarray import dlpack, memory

ROADS = {
    "refarray": xp.from_dlpack,
    "legacy capsules": lambda x: dlpack.from_capsule(x.__dlpack__()),
    "numpy and refarray": lambda x: xp.from_dlpack(np.from_dlpack(x)),
    "numpy, by buffers": lambda x: xp.asarray(np.asarray(x), copy=False),
    "memoryviews": lambda x: xp.asarray(memoryview(x), copy=False),
    "descriptions": lambda x: xp.from_dlpack(dlpack.Tensor.from_dlpack(x)),
    "views": lambda x: x[:],
}

def pass_on(road, times):
    before = memory.statistics()
    x = xp.arange(3.0)
    for _ in range(times):
        x = ROADS[road](x)
    assert float(x[2]) == 2.0
    del x
    after = memory.statistics()
    assert after.live_bytes == before.live_bytes, (before, after)
    assert after.exported - after.exports_deleted == 0
    print("released", end="")

threading.stack_size(512 << 10)
thread = threading.Thread(target=pass_on, args=(sys.argv[1], int(sys.argv[2])))
thread.start()
thread.join()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("road", "times"),
    [
        ("refarray", 1_000_000),
        ("numpy and refarray", 1_000_000),
        ("legacy capsules", 300_000),
        ("numpy, by buffers", 300_000),
        ("memoryviews", 300_000),
        ("descriptions", 100_000),
        ("views", 1_000_000),
    ],
)
def test_a_long_chain_is_released(road, times):
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, road, str(times)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (ended.returncode, ended.stdout) == (0, "released"), ended.stderr[-2000:]


def test_an_export_of_our_own_adds_no_buffer():
    x = xp.arange(6.0)
    y = x
    for _ in range(5):
        y = xp.from_dlpack(y[1:])
    assert y._buffer.address == x._buffer.address
    assert y._buffer.kind == "host"
    assert (y._byte_offset, float(y[0])) == (40, 5.0)
    y[0] = 9.0
    assert float(x[5]) == 9.0


def test_what_an_export_says_arrives_though_no_buffer_is_added():
    x = xp.arange(6.0)
    shared = x.__dlpack__(max_version=(1, 3), copy=False)
    assert not dlpack.from_capsule(shared)._is_copied
    copied = dlpack.from_capsule(x.__dlpack__(max_version=(1, 3), copy=True))
    assert copied._is_copied and not copied[1:]._is_copied
    a = np.arange(3.0)
    a.flags.writeable = False
    y = xp.from_dlpack(xp.from_dlpack(a)[1:])
    assert y._read_only
    with pytest.raises(ValueError, match="read-only"):
        y[0] = 1.0
    with profiles.use("immutable"):
        lent = x.__dlpack__(max_version=(1, 3))
    assert dlpack.from_capsule(lent)._read_only
    assert not x._read_only


def test_a_description_reaches_no_byte_beside_it():
    # No chain is made there either, but its owner must not lend what was not described.
    x = xp.arange(6.0)
    with memoryview(dlpack.Tensor.from_dlpack(x[2:4]).owner._buffer) as lent:
        assert lent.cast("d").tolist() == [2.0, 3.0]
    lender = bytearray(range(8))
    part = xp.asarray(lender, copy=False)[2:4]
    with memoryview(dlpack.Tensor.from_dlpack(part).owner._buffer) as lent:
        assert lent.tolist() == [2, 3]
