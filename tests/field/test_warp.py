"""The exchange with Warp, on the CPU."""

import pytest
from arrays import COMPLEX, DTYPES, LAYOUTS, numbers, watch
from exchange import Exchange, library, load
from faults import shape_taken

import refarray as xp
from refarray.testing import _forge, doubles
from refarray.testing.forge import Tensor
from refarray.testing.producers import Producer

wp = library("warp")

LIBRARY = "Warp"
ADAPTER = load("warp")


class TestExchange(Exchange):
    adapter = ADAPTER
    takes = [name for name in DTYPES if name not in COMPLEX]
    refusal = RuntimeError
    refused_layouts = {"0-d": IndexError}
    read_only = BufferError  # ours: it asks for a legacy capsule, which cannot say so
    takes_copy = False
    asks = {"stream": None}
    asks_device = True
    given_layouts = ["compact", "strided", "offset", "rows", "column", "one row"]
    gives_version = "legacy"

    def layout(self, array, name):
        return array[2:] if name == "rows" else LAYOUTS[name](array)


@pytest.mark.bug("https://github.com/NVIDIA/warp/pull/1573")
def test_byte_offset():
    """The byte offset of a capsule is ignored, and other values are read."""
    tensor = Tensor.of([1.0, 2.0, 3.0], (3,))
    moved = Producer(tensor.but(shape=(2,), byte_offset=8, version=None))
    assert wp.from_dlpack(moved).numpy().tolist() == [1.0, 2.0]


@pytest.mark.bug(None)
def test_no_axes():
    """An array without axes goes out with one."""
    assert xp.from_dlpack(ADAPTER.make([14.0], (), "float64")).shape == (1,)


@pytest.mark.bug("docs/upstream/warp.md")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_capsule_dropped_during_an_exception():
    """A capsule that is dropped while an exception is pending loses this exception."""
    # Its destructor is a function in Python. refarray drops no capsule then.
    items = [ADAPTER.make([1.0, 2.0], (2,), "float64").__dlpack__()]
    calls = watch(items[0])
    assert _forge.drop_with_pending_error(items) is False
    assert calls() == 0


@pytest.mark.bug(None)
def test_vectors():
    """The lanes of vectors become an axis, but the vectors lie where numbers would."""
    with doubles.producer("(code, bits, lanes) = (2, 64, 4)") as double:
        array = wp.from_dlpack(double.array)
        assert array.shape == (2, 3, 4)
        assert array.strides == (24, 8, 8)  # right were 96, 32, 8
        del array


@pytest.mark.bug(None)
def test_data_that_is_null():
    """Six elements at NULL become an array."""
    assert shape_taken(ADAPTER, "data NULL with 6 elements") == (2, 3)


@pytest.mark.refuses
def test_more_than_four_axes():
    """Arrays of more than four axes."""
    with pytest.raises(RuntimeError, match="maximum number of dimensions is 4"):
        wp.from_dlpack(xp.ones((1, 1, 1, 1, 1)))


@pytest.mark.works
def test_a_kernel_reads_our_memory():
    """A function of Warp computes on our memory."""
    x = xp.asarray(numbers("float32"), copy=True)
    assert wp.utils.array_sum(wp.from_dlpack(x).flatten()) == numbers().sum()
