"""The exchange with mpi4py, whose buffers MPI sends and receives.

Its communication in capital letters takes any producer of compact memory, without a
copy; memory that MPI allocates has the buffer protocol.

Install: mpi4py==4.1.2 mpich==5.0.2
In CI: yes
"""

import gc

import numpy as np
import pytest
from arrays import DTYPES, LAYOUTS, Spy, address, numbers, ours, read_only, reads
from exchange import library

import refarray as xp

mpi4py = library("mpi4py")
MPI = library("mpi4py.MPI", "mpi4py")

LIBRARY = "mpi4py"
VERSION = mpi4py.__version__
DIRECTIONS = "both"

WORLD = MPI.COMM_SELF
COMPACT = ["compact", "rows", "new axes", "0-d", "empty"]


def like(x):
    """Return an array of refarray of the same shape and dtype, of zeros."""
    return xp.from_dlpack(np.zeros(x.shape, str(x.dtype)))


@pytest.mark.works
@pytest.mark.parametrize("name", DTYPES)
def test_our_arrays_are_sent_and_received(balance, name):
    """Arrays of every dtype are sent from our memory and received into it."""
    with balance:
        x, y = ours(name), like(ours(name))
        WORLD.Sendrecv(x, 0, recvbuf=y, source=0)
        assert reads(y).tolist() == numbers(name).tolist()
        del x, y


@pytest.mark.works
@pytest.mark.parametrize("layout", COMPACT)
def test_every_compact_layout(layout):
    """Every compact layout can be sent, and received into."""
    x = LAYOUTS[layout](ours())
    y = ours()
    WORLD.Sendrecv(x, 0, recvbuf=LAYOUTS[layout](y), source=0)
    assert reads(y).tolist() == numbers().tolist()


@pytest.mark.works
def test_columns_are_sent_as_they_lie():
    """Column-major memory is sent in the order in which it lies there."""
    y = like(ours())
    WORLD.Sendrecv(ours().T, 0, recvbuf=y, source=0)
    assert reads(y).tolist() == numbers().tolist()


@pytest.mark.works
def test_what_it_asks_and_gives_back():
    """It asks for the device, and for a versioned capsule without a copy."""
    spy = Spy(ours())
    y = like(ours())
    WORLD.Sendrecv(spy, 0, recvbuf=y, source=0)
    assert spy.asked == [{"max_version": (1, 0), "copy": False}]
    assert spy.devices_asked
    assert spy.deleted() == [1]


@pytest.mark.works
def test_memory_in_flight_is_kept():
    """Memory in flight is kept, also if nobody else holds it."""
    sent = WORLD.Isend(ours(), dest=0)
    gc.collect()
    junk = [xp.full((48,), 7.0) for _ in range(50)]
    y = like(ours())
    WORLD.Recv(y, source=0)
    sent.Wait()
    assert reads(y).tolist() == numbers().tolist()
    del junk


@pytest.mark.works
def test_reductions_and_windows():
    """Reductions into our memory, with its MPI type named, and windows over it."""
    x, y = ours(), like(ours())
    WORLD.Allreduce([x, MPI.DOUBLE], [y, MPI.DOUBLE], op=MPI.SUM)
    assert reads(y).tolist() == numbers().tolist()
    window = MPI.Win.Create(x, 8, comm=WORLD)
    window.Fence()
    window.Put(xp.full((4, 12), 7.0), 0)
    window.Fence()
    window.Free()
    assert reads(x).tolist() == [[7.0] * 12] * 4


@pytest.mark.works
def test_memory_of_mpi():
    """Memory that MPI allocates is shared through its buffer."""
    allocated = MPI.Alloc_mem(48 * 8)
    try:
        values = np.frombuffer(allocated, "float64").reshape(4, 12)
        values[...] = numbers()
        x = xp.asarray(memoryview(allocated).cast("d", (4, 12)), copy=False)
        assert address(x) == allocated.address
        x[1, 2] = 50.0
        assert values[1, 2] == 50.0
        del x, values
    finally:
        MPI.Free_mem(allocated)


@pytest.mark.works
def test_objects_are_pickled():
    """Communication in small letters pickles our arrays, dtypes and devices."""
    x = WORLD.bcast(ours("int16"))
    assert x.dtype is xp.int16
    assert reads(x).tolist() == numbers("int16").tolist()
    assert WORLD.bcast((xp.float32, xp.Device("cpu"))) == (xp.float32, xp.Device("cpu"))


@pytest.mark.works
def test_read_only_memory_is_sent():
    """Read-only memory is sent."""
    y = like(ours())
    WORLD.Sendrecv(read_only(), 0, recvbuf=y, source=0)
    assert reads(y).tolist() == numbers().tolist()


@pytest.mark.refuses
def test_read_only_memory_to_receive_into():
    """Read-only memory to receive into."""
    x = read_only()
    with pytest.raises(BufferError, match="not writable"):
        WORLD.Sendrecv(ours(), 0, recvbuf=x, source=0)
    assert reads(x).tolist() == numbers().tolist()


@pytest.mark.refuses
@pytest.mark.parametrize(
    "layout", ["strided", "offset", "column", "one row", "reversed"]
)
def test_memory_with_gaps(balance, layout):
    """Memory that is not compact."""
    with balance:
        x = LAYOUTS[layout](ours())
        with pytest.raises(BufferError, match=r"not contiguous|negative"):
            WORLD.Sendrecv(x, 0, recvbuf=like(x), source=0)
        del x


@pytest.mark.refuses
def test_its_buffer_as_a_producer():
    """Its `MPI.buffer` in `from_dlpack`, by refarray: it is a buffer, no producer."""
    with pytest.raises(AttributeError, match="buffer lacks them"):
        xp.from_dlpack(MPI.buffer.allocate(8))
