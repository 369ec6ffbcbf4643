"""The exchange with dpnp, on a SYCL device which is the CPU.

Its memory is SYCL's (kDLOneAPI), also where the host could read it: refarray describes
such memory and passes it on, and copies it through the host when it is asked to. Of the
host's memory dpnp makes NumPy arrays, or copies on its device.
"""

import signal

import numpy as np
import pytest
from arrays import DTYPES, LAYOUTS, Spy, in_child, numbers, ours, raw, reads
from exchange import Takes, library, load, settle

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


@pytest.mark.works
@pytest.mark.parametrize("name", DTYPES)
def test_copied_through_the_host(balance, name):
    """`refarray.from_dlpack(x, device=Device("cpu"))` has dpnp copy to the host."""
    with balance:
        spy = Spy(theirs(name))
        x = xp.from_dlpack(spy, device=HOST)
        assert spy.asked == [{"max_version": (1, 3), "dl_device": (1, 0)}]
        assert str(x.dtype) == name
        spy.x[...] = 1
        assert reads(x).tolist() == numbers(name).tolist()
        spy.x = None
        settle()
        assert spy.deleted() == [0]
        assert reads(x).tolist() == numbers(name).tolist()
        del x
        settle()
        assert spy.deleted() == [1]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_copied_in_every_layout(layout):
    t = LAYOUTS[layout](theirs())
    expected = np.asarray(LAYOUTS[layout](numbers()))
    x = xp.from_dlpack(t, device=HOST)
    assert x.shape == t.shape == expected.shape
    assert reads(x).tolist() == expected.tolist()


def test_copies_are_copied_once():
    capsule = raw(theirs(), dl_device=(1, 0))
    assert (capsule.device, capsule.flags) == ((1, 0), 2)
    x = xp.from_dlpack(theirs(), device=HOST, copy=True)
    assert x._buffer.kind == "imported"


@pytest.mark.refuses
def test_no_copy_through_the_host():
    """From its device to the host with `copy=False`: BufferError."""
    with pytest.raises(BufferError, match="without a copy"):
        xp.from_dlpack(theirs(), device=HOST, copy=False)


@pytest.mark.works
def test_a_copy_of_read_only_memory_is_read_only():
    """Read-only arrays of its device arrive read-only."""
    t = theirs()
    t.flags["W"] = False
    assert raw(t).flags == 1
    assert memoryview(xp.from_dlpack(t, device=HOST)).readonly


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
