"""The exchange with pydlpack, which exports buffers and array interfaces.

Its `asdlpack` makes a producer of anything with the buffer protocol or an array
interface, and relays what has `__dlpack__`. It has no arrays of its own: NumPy's stand
in for them.

Install: pydlpack==0.2.1
In CI: yes
"""

import array
import gc
import importlib.metadata
import weakref

import arrays
import numpy as np
import pytest
from arrays import Spy, address, in_child, numbers, ours, read_only, reads, watch
from exchange import Gives, Takes, library, load, settle

import refarray as xp
from refarray.dlpack import from_capsule
from refarray.testing import _forge
from refarray.testing.forge import Raw

dlpack = library("dlpack", "pydlpack")

LIBRARY = "pydlpack"
DTYPES = load("numpy").dtypes


class Pydlpack(type(load("numpy"))):
    name = "pydlpack"
    version = importlib.metadata.version("pydlpack")
    cpu = None

    @staticmethod
    def from_dlpack(x, /):
        return np.from_dlpack(dlpack.asdlpack(x))


class TestInterface(Gives):
    """Through `__array_interface__`."""

    adapter = Pydlpack()
    gives = DTYPES
    gives_version = "legacy"
    given_read_only = "lost"

    def describe(self, values):
        return dlpack.asdlpack_array_interface_v3(values)

    def export(self, values):
        return self.describe(values).__dlpack__()

    def give(self, values, **keywords):
        return xp.from_dlpack(self.describe(values), **keywords)

    def test_the_device_is_that_of_the_capsule(self):
        assert self.describe(numbers()).__dlpack_device__() == (1, 0)

    def test_a_capsule_that_nobody_takes_is_freed(self):
        # It is freed without its deleter.
        class Values(np.ndarray):
            pass

        values = numbers().view(Values)
        alive = weakref.ref(values)
        self.export(values)
        del values
        gc.collect()
        assert alive() is None


class TestBuffer(TestInterface):
    """Through the buffer protocol."""

    def describe(self, values):
        return dlpack.asdlpack(memoryview(values))

    # A memoryview cannot be weakly referenced; it is the same code.
    test_a_capsule_that_nobody_takes_is_freed = None


class TestRelay(Takes):
    """Our arrays in NumPy, with pydlpack between."""

    adapter = Pydlpack()
    takes = arrays.DTYPES
    refused_layouts = {"empty": KeyError}
    read_only = BufferError  # ours: it asks for a legacy capsule
    writes = False  # NumPy makes what comes in a legacy capsule read-only
    takes_copy = False
    asks = {}
    asks_device = False

    @pytest.mark.bug(None)
    def test_refuses_other_layouts(self, balance):
        """An empty array of refarray is a KeyError."""
        # It takes a struct whose data is NULL, as they should be, for a versioned one.
        super().test_refuses_other_layouts(balance)

    @pytest.mark.bug(None)
    def test_ours_lives_as_long_as_it_is_held_there(self, balance):
        """It drops the capsule that it relays, and keeps the producer alive instead."""
        # So what a producer makes for the export alone is freed while it is in use.
        with balance:
            x = ours()
            spy = Spy(x)
            t = self.take(spy)
            assert spy.deleted() == [1]
            alive = weakref.ref(spy)
            del spy
            assert self.adapter.read(t) == numbers().ravel().tolist()
            assert alive() is not None
            del t, x
            settle()
            assert alive() is None


@pytest.mark.works
def test_buffers_of_the_standard_library():
    """`array.array`, `bytearray` and `memoryview` arrive in refarray, as they are."""
    for buffer in (array.array("d", [1, 2, 3]), bytearray(b"abc"), memoryview(ours())):
        x = xp.from_dlpack(dlpack.asdlpack(buffer))
        assert reads(x).tolist() == memoryview(buffer).tolist()
        reads(x)[0] = 65
        assert np.asarray(memoryview(buffer)).ravel()[0] == 65


@pytest.mark.works
def test_our_memory_as_a_buffer():
    """Memory of refarray goes through its buffer too."""
    x = ours()
    assert address(xp.from_dlpack(dlpack.asdlpack_buffer(x))) == address(x)


@pytest.mark.refuses
def test_what_has_no_description():
    """Objects without any protocol, and elements that DLPack has no type for."""
    with pytest.raises(BufferError, match="only supports"):
        dlpack.asdlpack(np.array(["text"]))
    with pytest.raises(BufferError, match="read-only"):
        dlpack.asdlpack(read_only())


@pytest.mark.bug(None)
@pytest.mark.parametrize("first", ["taken", "dropped"])
def test_a_second_export(first):
    """A second export of one object is a KeyError, even if nobody took the first."""
    producer = dlpack.asdlpack(numbers())
    capsule = producer.__dlpack__()
    if first == "taken":
        from_capsule(capsule)
    del capsule
    gc.collect()
    with pytest.raises(KeyError):
        xp.from_dlpack(producer)


@pytest.mark.bug(None)
def test_memory_that_is_never_exported():
    """An object that is never exported keeps its memory for ever."""

    class Values(np.ndarray):
        pass

    values = numbers().view(Values)
    alive = weakref.ref(values)
    dlpack.asdlpack(values)
    del values
    gc.collect()
    assert alive() is not None


@pytest.mark.bug(None)
def test_memory_that_must_not_be_written():
    """A read-only buffer is exported as writable, even that of a `bytes` object."""
    text = bytes([97, 98, 99])
    x = xp.from_dlpack(dlpack.asdlpack(text))
    assert not memoryview(x).readonly
    assert not memoryview(
        xp.from_dlpack(dlpack.asdlpack(memoryview(read_only())))
    ).readonly
    # What helps: refarray reads buffers itself.
    assert memoryview(xp.asarray(memoryview(read_only()), copy=False)).readonly


@pytest.mark.bug(None)
def test_versioned_structs():
    """`DLManagedTensorVersioned` on request comes in a capsule named `dltensor`."""
    struct = dlpack.DLManagedTensorVersioned
    assert Raw(dlpack.asdlpack(numbers(), struct).__dlpack__()).name == "dltensor"


@pytest.mark.bug("https://github.com/numpy/numpy/issues/32697")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_capsule_dropped_during_an_exception():
    """A capsule that is dropped while an exception is pending loses this exception."""
    # Its destructor is a function in Python. refarray drops no capsule then.
    capsule = dlpack.asdlpack(numbers()).__dlpack__()
    watch(capsule)
    items = [capsule]
    del capsule
    assert _forge.drop_with_pending_error(items) is False


@pytest.mark.bug(None)
def test_a_deleter_after_python_has_ended():
    """Its deleter ends the process if it is called after Python has ended."""
    result = in_child(
        "import sys, dlpack, numpy\n"
        "from refarray.testing import _forge\n"
        "from refarray.testing.forge import Raw\n"
        "found = Raw(dlpack.asdlpack(numpy.ones(3)).__dlpack__())\n"
        "found.take()\n"
        "_forge.call_deleter_after_exit(found.address, True)\n"
    )
    assert "late deleter returned" not in result.stderr
    assert result.returncode < 0
