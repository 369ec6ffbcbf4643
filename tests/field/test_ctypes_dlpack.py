"""The exchange with ctypes-dlpack, which hands structs on between Python and C.

Its `array_as_dlpack` takes any producer's struct, and its `DLPackArray` makes of a
struct a producer, which exports it once. It has no arrays of its own: here, memory of
refarray or NumPy goes through both.

Install: ctypes-dlpack==0.1.1
In CI: yes
"""

import ctypes

import numpy as np
import pytest
from arrays import (
    DTYPES,
    VERSION,
    Spy,
    address,
    in_child,
    numbers,
    ours,
    read_only,
    watch,
)
from exchange import Gives, Takes, library, load, settle

import refarray as xp
from refarray.dlpack import from_capsule
from refarray.testing import _forge

cd = library("ctypes_dlpack", "ctypes_dlpack")

LIBRARY = "ctypes-dlpack"


def relayed(x, version=VERSION):
    """Take the struct of `x`, and make a producer of it."""
    return cd.DLPackArray(cd.array_as_dlpack(x, max_version=version))


class CtypesDlpack(type(load("numpy"))):
    name = "ctypes-dlpack"
    version = cd.__version__
    cpu = None

    @staticmethod
    def from_dlpack(x, /):
        return np.from_dlpack(relayed(x))


class TestOurs(Takes):
    """Our arrays in NumPy, with ctypes-dlpack between."""

    adapter = CtypesDlpack()
    takes = DTYPES
    read_only = "kept"
    takes_copy = False
    asks = {"stream": None, "max_version": VERSION, "dl_device": None, "copy": None}
    asks_device = False


class TestTheirs(Gives):
    """NumPy's arrays in refarray, with ctypes-dlpack between."""

    adapter = CtypesDlpack()
    gives = DTYPES
    gives_version = (1, 0)  # NumPy's struct is handed on as it is
    given_read_only = "kept"
    gives_copy = BufferError

    def export(self, values):
        return relayed(values).__dlpack__(max_version=VERSION)

    def give(self, values, **keywords):
        return xp.from_dlpack(relayed(values), **keywords)

    def test_the_device_is_that_of_the_capsule(self):
        assert relayed(numbers()).__dlpack_device__() == (1, 0)


@pytest.mark.works
def test_a_struct_can_be_read_and_is_given_back(balance):
    """The fields of our struct can be read with ctypes, and its deleter be called."""
    with balance:
        x = ours()[2:, 3:]
        pointer = cd.array_as_dlpack(x, max_version=VERSION)
        managed = pointer.contents
        tensor = managed.dl_tensor
        assert (managed.version.major, managed.version.minor) == VERSION
        assert tensor.data + tensor.byte_offset == address(x)
        assert [tensor.shape[i] for i in range(2)] == [2, 9]
        assert [tensor.strides[i] for i in range(2)] == [12, 1]
        assert (tensor.dtype.code, tensor.dtype.bits) == (2, 64)
        managed.deleter(pointer)
        del x


@pytest.mark.works
def test_a_struct_that_is_never_exported_is_given_back():
    """A struct that nobody took is freed with its `DLPackArray`."""
    spy = Spy(ours())
    producer = relayed(spy)
    assert spy.deleted() == [0]
    del producer
    settle()
    assert spy.deleted() == [1]


@pytest.mark.works
def test_old_producers_and_old_consumers():
    """Legacy structs are wrapped as versioned, and the other way round."""
    x = ours()
    pointer = cd.array_as_dlpack(x)
    assert (pointer.contents.version.major, pointer.contents.flags) == (1, 0)
    y = from_capsule(cd.DLPackArray(pointer).__dlpack__())
    assert address(y) == address(x)


@pytest.mark.works
def test_copies_are_asked_of_us():
    """`array_as_dlpack(x, copy=True)` gives a copy that says that it is one."""
    x = ours()
    pointer = cd.array_as_dlpack(x, max_version=VERSION, copy=True)
    assert pointer.contents.flags == cd.DLPACK_FLAG_BITMASK_IS_COPIED
    assert address(xp.from_dlpack(cd.DLPackArray(pointer))) != address(x)


@pytest.mark.works
def test_memory_of_ctypes():
    """Memory of ctypes, described by refarray, comes back as a struct of ctypes."""
    memory = (ctypes.c_double * 3)(1.0, 2.0, 3.0)
    x = xp.dlpack.Tensor(ctypes.addressof(memory), (3,), "float64", owner=memory)
    pointer = cd.array_as_dlpack(x, max_version=VERSION)
    assert pointer.contents.dl_tensor.data == ctypes.addressof(memory)
    y = xp.from_dlpack(cd.DLPackArray(pointer))
    y[1] = 50.0
    assert list(memory) == [1.0, 50.0, 3.0]


@pytest.mark.refuses
def test_what_it_cannot_do():
    """Read-only memory in a legacy struct, by refarray; copies, by `DLPackArray`."""
    with pytest.raises(BufferError, match="read-only"):
        cd.array_as_dlpack(read_only())
    with pytest.raises(BufferError, match="only `copy=False` is supported"):
        xp.from_dlpack(relayed(ours()), copy=True)
    with pytest.raises(AttributeError, match="__dlpack__"):
        cd.array_as_dlpack(object())


@pytest.mark.refuses
def test_a_second_export():
    """A second export of one `DLPackArray`: it is a producer for one consumer."""
    producer = relayed(ours())
    xp.from_dlpack(producer)
    with pytest.raises(RuntimeError, match="after __dlpack__"):
        xp.from_dlpack(producer)


@pytest.mark.bug(None)
def test_read_only_memory_in_a_legacy_capsule():
    """Read-only memory is exported in a legacy capsule, as if it were writable."""
    x = from_capsule(relayed(read_only()).__dlpack__())
    assert not memoryview(x).readonly
    # What helps: from_dlpack asks for a versioned capsule.
    assert memoryview(xp.from_dlpack(relayed(read_only()))).readonly


@pytest.mark.bug("https://github.com/numpy/numpy/issues/32697")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_capsule_dropped_during_an_exception():
    """A capsule that is dropped while an exception is pending is not freed."""
    # Its destructor is a function in Python. refarray drops no capsule then.
    capsule = relayed(ours()).__dlpack__()
    calls = watch(capsule)
    items = [capsule]
    del capsule
    assert _forge.drop_with_pending_error(items) is False
    assert calls() == 0


@pytest.mark.bug(None)
def test_a_deleter_after_python_has_ended():
    """A legacy struct's deleter ends the process if called after Python has ended."""
    result = in_child(
        "import ctypes_dlpack as cd, refarray as xp\n"
        "from refarray.testing import _forge\n"
        "from refarray.testing.forge import Raw\n"
        "x = xp.ones(3)\n"
        "pointer = cd.array_as_dlpack(x, max_version=(1, 3))\n"
        "found = Raw(cd.DLPackArray(pointer).__dlpack__())\n"
        "found.take()\n"
        "_forge.call_deleter_after_exit(found.address, True)\n"
    )
    assert "late deleter returned" not in result.stderr
    assert result.returncode < 0
