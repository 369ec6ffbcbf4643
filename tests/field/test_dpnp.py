"""The exchange with dpnp, on a SYCL device which is the CPU.

Its memory is SYCL's (kDLOneAPI), also where the host could read it: refarray describes
such memory and passes it on, and copies it through the host when it is asked to. Of the
host's memory dpnp makes NumPy arrays, or copies on its device.
"""

import signal

import numpy as np
import pytest
from arrays import DTYPES, LAYOUTS, Spy, in_child, numbers, ours, raw, reads
from exchange import Gives, Takes, library, load, settle

import refarray as xp
from refarray.dlpack import Tensor, inspect
from refarray.testing.forge import Tensor as Forged
from refarray.testing.isolation import run_late
from refarray.testing.producers import Producer

dpnp = library("dpnp")

LIBRARY = "dpnp"
VERSION = dpnp.__version__
DIRECTIONS = "both"

HOST = xp.Device("cpu")
DEVICE = dpnp.empty(1).device
SYCL = (14, 0)


def theirs(name="float64"):
    return dpnp.asarray(numbers(name))


# To dpnp -----------------------------------------------------------------------------


class TestNumPyArrays(Takes):
    """What `dpnp.from_dlpack(x)` makes: NumPy arrays, as dpnp documents."""

    adapter = load("dpnp_cpu")
    takes = DTYPES
    read_only = "kept"
    asks = {"max_version": (1, 0), "dl_device": None, "copy": None}
    asks_device = False


class TestArraysOfItsDevice(Takes):
    """What `dpnp.from_dlpack(x, device=...)` makes: copies in its own memory."""

    adapter = load("dpnp")
    takes = DTYPES
    copies = True
    read_only = BufferError  # it asks for a legacy capsule, which could not say so
    asks = {"max_version": (1, 0), "dl_device": SYCL, "copy": None}
    refused_layouts = dict.fromkeys(
        ("strided", "transposed", "column", "one row", "0-d", "empty", "reversed"),
        ValueError,
    )

    def take(self, x, **keywords):
        return dpnp.from_dlpack(x, **{"device": DEVICE, **keywords})

    @pytest.mark.bug(None)
    def test_refuses_other_layouts(self, balance):
        """With `device`: fails for 0-d, for empty, and for a strided last axis."""
        super().test_refuses_other_layouts(balance)


@pytest.mark.works
@pytest.mark.parametrize("layout", LAYOUTS)
def test_asarray_copies_every_layout(layout):
    """`dpnp.asarray` copies our arrays to its device, in every layout."""
    x = LAYOUTS[layout](ours())
    expected = np.asarray(LAYOUTS[layout](numbers()))
    t = dpnp.asarray(x)
    assert t.__dlpack_device__() == SYCL
    assert t.shape == x.shape
    assert dpnp.asnumpy(t).tolist() == expected.tolist()


# From dpnp ---------------------------------------------------------------------------


@pytest.mark.works
@pytest.mark.parametrize("layout", LAYOUTS)
def test_inspected_and_not_touched(layout):
    """Its SYCL arrays can be inspected: every field, but not their memory."""
    t = LAYOUTS[layout](theirs())
    found = inspect(t)
    assert found.tensor.device == SYCL
    assert found.tensor.shape == t.shape
    assert (found.version, found.producer) == ((1, 3), "dpnp.dpnp_array")
    if t.size:
        assert found.unread == "the memory is that of device 14 (kDLOneAPI), 0"
        assert {element.value for element in found.elements} == {None}
        steps = tuple(stride // 8 for stride in t.strides)
        assert found.tensor.first == t.data.ptr
        assert (found.tensor.strides or ()) == steps


@pytest.mark.refuses
@pytest.mark.parametrize("keywords", [{}, {"copy": True}, {"copy": False}])
def test_refarray_refuses_memory_of_sycl(balance, keywords):
    """SYCL's memory is not taken for the host's: BufferError, and nothing is lost."""
    with balance:
        spy = Spy(theirs())
        with pytest.raises(BufferError, match=r"DLPack device \(14, 0\)"):
            xp.from_dlpack(spy, **keywords)
        settle()
        assert spy.deleted() == [1]
        assert dpnp.asnumpy(spy.x).tolist() == numbers().tolist()


class TestThroughTheHost(Gives):
    """What `refarray.from_dlpack(x, device=Device("cpu"))` makes: copies."""

    adapter = load("dpnp")
    gives = DTYPES
    gives_version = (1, 3)
    given_read_only = "kept"
    # No memory is seen by both sides; test_gives_values writes, to show that.
    test_its_writes_are_seen_here_and_ours_there = None

    def give(self, array, **keywords):
        return xp.from_dlpack(array, **{"device": HOST, **keywords})

    def export(self, array):
        return array.__dlpack__(max_version=(1, 3), dl_device=(1, 0))

    @pytest.mark.works
    def test_gives_values(self, given):
        """With `device=refarray.Device("cpu")`, it copies to the host, once."""
        spy = Spy(self.theirs(given))
        x = self.give(spy)
        assert spy.asked == [{"max_version": (1, 3), "dl_device": (1, 0)}]
        assert (str(x.dtype), x._buffer.kind) == (given, "imported")
        spy.x[...] = 1
        assert reads(x).tolist() == numbers(given).tolist()
        reads(x)[...] = 0
        assert self.adapter.read(spy.x) == [1] * 48

    def test_gives_layouts(self, given_layout, balance):
        with balance:
            t = LAYOUTS[given_layout](self.theirs("float64"))
            expected = np.asarray(LAYOUTS[given_layout](numbers()))
            x = self.give(t)
            assert x.shape == t.shape == expected.shape
            assert reads(x).tolist() == expected.tolist()
            del x, t
            settle()

    def test_the_device_is_that_of_the_capsule(self):
        t = self.theirs("float64")
        assert t.__dlpack_device__() == raw(t).device == self.adapter.device == SYCL
        assert raw(t, dl_device=(1, 0)).device == (1, 0)

    @pytest.mark.refuses
    def test_gives_copies_on_request(self):
        """From its device to the host with `copy=False`: BufferError."""
        t = self.theirs("float64")
        assert self.give(t, copy=True)._buffer.kind == "imported"
        with pytest.raises(BufferError, match="without a copy"):
            self.give(t, copy=False)


@pytest.mark.works
def test_a_description_passes_memory_of_sycl_on(balance):
    """A `refarray.dlpack.Tensor` passes its memory on; dpnp takes it back, shared."""
    with balance:
        spy = Spy(theirs()[1:, ::3])
        start = spy.x.data.ptr
        described = Tensor.from_dlpack(spy)
        assert (described.device, described.pointer) == (SYCL, start)
        spy.x = None
        back = dpnp.from_dlpack(described)
        del described
        settle()
        assert isinstance(back, dpnp.ndarray)
        assert back.data.ptr == start
        assert dpnp.asnumpy(back).tolist() == numbers()[1:, ::3].tolist()
        assert spy.deleted() == [0]
        del back
        settle()
        assert spy.deleted() == [1]


# What is wrong -----------------------------------------------------------------------

SIX = Forged.of([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], (6,))


@pytest.mark.bug(None)
def test_the_byte_offset_is_ignored():
    """The byte offset of the host's memory is ignored: wrong elements."""
    last = Producer(SIX.but(shape=(2,), byte_offset=32))
    assert xp.from_dlpack(last)[0] == 5.0
    assert dpnp.from_dlpack(last).tolist() == [1.0, 2.0]


@pytest.mark.bug(None)
def test_a_legacy_capsule_is_not_copied():
    """Asked for a legacy capsule on the host, or a copy, it exports SYCL's memory."""
    t = theirs()
    for question in ({"dl_device": (1, 0)}, {"copy": True}):
        capsule = Spy(t).__dlpack__(**question)
        found = inspect(capsule).tensor
        assert (found.device, found.first) == (SYCL, t.data.ptr)


@pytest.mark.bug(None)
def test_a_tensor_without_deleter_ends_the_process():
    """A tensor without a deleter ends the process when its array is dropped."""
    result = in_child(
        "import dpnp\n"
        "from refarray.testing.forge import Tensor\n"
        "from refarray.testing.producers import Producer\n"
        "tensor = Tensor.of([1.0, 2.0], (2,)).but(deleter=None)\n"
        "x = dpnp.from_dlpack(Producer(tensor))\n"
        "print(x.tolist(), flush=True)\n"
        "del x\n"
        "print('alive')"
    )
    assert result.stdout == "[1.0, 2.0]\n"
    assert result.returncode == -signal.SIGSEGV


@pytest.mark.bug(None)
def test_its_deleter_does_not_survive_python():
    """Its deleter ends the process when it is called after Python has ended."""
    assert run_late(load("dpnp")).returncode == -signal.SIGSEGV


@pytest.mark.bug(None)
def test_unknown_elements_are_a_key_error():
    """Elements that it does not know, with `device=`: KeyError, not BufferError."""
    bfloat16 = Producer(SIX.but(dtype=(4, 16, 1)))
    with pytest.raises(BufferError, match="type code 4"):
        dpnp.from_dlpack(bfloat16)
    with pytest.raises(KeyError):
        dpnp.from_dlpack(bfloat16, device=DEVICE)
