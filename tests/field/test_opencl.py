"""OpenCL memory, by pyopencl and PoCL, which makes a device of the CPU.

pyopencl has no DLPack. Its buffers are handles (cl_mem), which `refarray.dlpack.Tensor`
describes and passes on, and nobody may read through; its shared virtual memory is the
host's too, and goes to and fro without a copy.

Install: pyopencl==2026.1.4 pocl-binary-distribution==3.0
"""

import gc

import numpy as np
import pytest
from arrays import DTYPES, numbers, ours, read_only, reads, watch
from exchange import Gives, library, settle

import refarray as xp
from refarray.dlpack import Exports, Tensor, from_capsule, inspect
from refarray.testing import forge
from refarray.testing.adapters import Adapter
from refarray.testing.producers import Producer

cl = library("pyopencl", "opencl")

PLATFORM = cl.get_platforms()[0]

LIBRARY = "OpenCL (pyopencl, PoCL)"
VERSION = f"{cl.VERSION_TEXT} (PoCL {PLATFORM.version.split(' ')[3]})"
DIRECTIONS = "both"

CONTEXT = cl.Context(PLATFORM.get_devices()[:1])
QUEUE = cl.CommandQueue(CONTEXT)
FLAGS = cl.mem_flags

TWICE = cl.Kernel(
    cl.Program(
        CONTEXT,
        "__kernel void twice(__global double *a) { a[get_global_id(0)] *= 2; }",
    ).build(),
    "twice",
)

OPENCL = (4, 0)


def double(memory):
    """Let a kernel multiply all 48 elements by two."""
    TWICE(QUEUE, (48,), None, memory)
    QUEUE.finish()


def filled(name="float64"):
    """Return an OpenCL buffer of `numbers(name)`."""
    flags = FLAGS.READ_WRITE | FLAGS.COPY_HOST_PTR
    return cl.Buffer(CONTEXT, flags, hostbuf=numbers(name))


def contents(memory, name="float64"):
    """Return what lies in an OpenCL buffer."""
    out = np.empty((4, 12), name)
    cl.enqueue_copy(QUEUE, out, memory)
    return out.tolist()


class Lent(Exports):
    """What pyopencl lacks: an OpenCL buffer that exports itself."""

    def __init__(self, name="float64"):
        self.name, self.memory = name, filled(name)

    def dlpack_tensor(self):
        return Tensor(
            self.memory.int_ptr, (4, 12), self.name, device=OPENCL, owner=self.memory
        )


# Buffers, which are handles ----------------------------------------------------------


@pytest.mark.works
@pytest.mark.parametrize("name", DTYPES)
def test_a_handle_is_passed_on(name):
    """A buffer described by `refarray.dlpack.Tensor` reaches another OpenCL program."""
    taken = Tensor.from_dlpack(Lent(name))
    settle()
    assert (taken.device, taken.shape) == (OPENCL, (4, 12))
    memory = cl.MemoryObject.from_int_ptr(taken.pointer, retain=True)
    assert contents(memory, name) == numbers(name).tolist()


def test_the_buffer_lives_as_long_as_it_is_described():
    lent = Lent()
    other = cl.MemoryObject.from_int_ptr(lent.memory.int_ptr, retain=True)

    def owners():
        return other.get_info(cl.mem_info.REFERENCE_COUNT) - 1

    capsule = lent.__dlpack__(max_version=(1, 3))
    calls = watch(capsule)
    taken = Tensor.from_dlpack(Given(capsule))
    del lent
    settle()
    assert (owners(), calls()) == (1, 0)
    assert contents(other) == numbers().tolist()
    del taken
    settle()
    assert (owners(), calls()) == (0, 1)


class Given:
    """A producer of one capsule."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack_device__(self):
        return OPENCL

    def __dlpack__(self, **question):
        return self.__dict__.pop("capsule")


@pytest.mark.works
def test_a_handle_is_shown():
    """A buffer's handle is shown by `inspect`, which does not follow it."""
    lent = Lent()
    found = inspect(lent)
    assert found.tensor.data == lent.memory.int_ptr
    assert found.unread == "data is a handle of device 4 (kDLOpenCL), 0, and no address"
    assert (found.elements, found.broken) == ((), ())
    assert "kDLOpenCL" in str(found)
    assert hex(lent.memory.int_ptr) in found.svg()
    assert "kDLOpenCL" in found._repr_html_()
    assert contents(lent.memory) == numbers().tolist()


@pytest.mark.parametrize("form", [{}, {"version": None}], ids=["versioned", "legacy"])
def test_a_handle_is_not_touched(form):
    # A handle that no driver gave: who follows it ends the process.
    made = forge.Tensor(0x10, (2, 3), (3, 1), device=OPENCL, byte_offset=8, **form)
    capsule, case = forge.forge(made)
    found = inspect(capsule)
    assert (found.tensor.data, found.tensor.byte_offset) == (0x10, 8)
    assert found.elements == ()
    assert found.svg().count("0x10 + 8") == 1
    with pytest.raises(BufferError, match=r"DLPack device \(4, 0\)"):
        from_capsule(capsule)
    assert case.deleter_calls == 0
    del capsule
    assert case.deleter_calls == 1


@pytest.mark.refuses
@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({}, r"device \(4, 0\), which refarray does not know"),
        ({"copy": False}, r"device \(4, 0\), which refarray does not know"),
        ({"copy": True}, "cannot be copied by the host"),
        ({"device": xp.Device("cpu")}, r"lies on \(4, 0\), not on \(1, 0\)"),
    ],
)
def test_a_handle_is_no_array(keywords, words):
    """A buffer is no array of refarray's, nor copied by it: BufferError."""
    lent = Lent()
    with pytest.raises(BufferError, match=words):
        xp.from_dlpack(lent, **keywords)
    del keywords
    gc.collect()
    assert lent.memory.get_info(cl.mem_info.REFERENCE_COUNT) == 1
    assert contents(lent.memory) == numbers().tolist()


@pytest.mark.refuses
def test_a_part_of_a_buffer():
    """A handle with a byte offset: it cannot be added to the handle."""
    lent = Lent()
    handle = lent.memory.int_ptr
    part = forge.Tensor(handle, (2, 3), (12, 1), device=OPENCL, byte_offset=216)
    assert inspect(Producer(part)).tensor.byte_offset == 216
    with pytest.raises(BufferError, match="a byte_offset of 216 cannot be added"):
        Tensor.from_dlpack(Producer(part))


# The host's memory, which OpenCL uses ------------------------------------------------


@pytest.mark.works
def test_a_kernel_computes_in_our_memory():
    """A buffer over our memory (USE_HOST_PTR): its kernels compute in our arrays."""
    x = ours()
    memory = cl.Buffer(CONTEXT, FLAGS.READ_WRITE | FLAGS.USE_HOST_PTR, hostbuf=x)
    double(memory)
    mapped, _ = cl.enqueue_map_buffer(
        QUEUE, memory, cl.map_flags.READ, 0, (4, 12), np.float64
    )
    assert reads(x).tolist() == mapped.tolist() == (2 * numbers()).tolist()


@pytest.mark.works
@pytest.mark.parametrize("name", DTYPES)
def test_copies_into_our_memory_and_out_of_it(name):
    """Copies between buffers and our arrays (`enqueue_copy`), of every data type."""
    x = ours(name)
    reads(x)[...] = 1
    cl.enqueue_copy(QUEUE, x, filled(name))
    assert reads(x).tolist() == numbers(name).tolist()
    memory = cl.Buffer(CONTEXT, FLAGS.READ_WRITE, x._buffer.nbytes)
    cl.enqueue_copy(QUEUE, memory, x)
    assert contents(memory, name) == numbers(name).tolist()


@pytest.mark.refuses
def test_no_copy_into_read_only_memory():
    """A copy of a buffer into a read-only array: BufferError."""
    x = read_only()
    with pytest.raises(BufferError, match="read-only"):
        cl.enqueue_copy(QUEUE, x, cl.Buffer(CONTEXT, FLAGS.READ_WRITE, 384))
    assert reads(x).tolist() == numbers().tolist()


@pytest.mark.works
def test_a_mapped_buffer():
    """A mapped buffer is shared by refarray, which keeps it mapped."""
    memory = filled()
    mapped, _ = cl.enqueue_map_buffer(
        QUEUE, memory, cl.map_flags.WRITE, 0, (4, 12), np.float64
    )
    x = xp.from_dlpack(mapped)
    del mapped
    settle()
    x[0, 0] = 99.0
    del x
    settle()
    assert contents(memory)[0][:2] == [99.0, 1.0]


class SharedVirtualMemory(Adapter):
    """Arrays of NumPy in memory that OpenCL shares with the host."""

    name = "shared virtual memory"
    version = VERSION
    dtypes = DTYPES

    def make(self, values, shape, dtype):
        out = cl.fsvm_empty(CONTEXT, shape, np.dtype(dtype))
        out[...] = np.reshape(values, shape)
        return out

    def read(self, array):
        return array.ravel().tolist()

    def read_only(self, array):
        view = array.view()
        view.flags.writeable = False
        return view


class TestSharedVirtualMemory(Gives):
    adapter = SharedVirtualMemory()
    gives = DTYPES
    gives_version = (1, 0)
    given_read_only = "kept"


@pytest.mark.works
def test_a_kernel_computes_in_shared_virtual_memory():
    """Shared virtual memory is an array of refarray, in which its kernels compute."""
    shared = SharedVirtualMemory().make(numbers().ravel().tolist(), (4, 12), "float64")
    x = xp.from_dlpack(shared)
    double(cl.SVM(shared))
    del shared
    settle()
    assert reads(x).tolist() == (2 * numbers()).tolist()
