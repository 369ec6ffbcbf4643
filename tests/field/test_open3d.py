"""The exchange with Open3D's tensor, on the CPU."""

import pytest
from arrays import COMPLEX, DTYPES, LAYOUTS, reads
from exchange import Exchange, library, load
from faults import shape_taken

import refarray as xp
from refarray.dlpack import from_capsule
from refarray.testing import _forge, doubles

open3d = library("open3d")

LIBRARY = "Open3D"
ADAPTER = load("open3d")


class TestExchange(Exchange):
    adapter = ADAPTER
    takes = [name for name in DTYPES if name not in ("float16", *COMPLEX)]
    refusal = RuntimeError
    read_only = BufferError  # ours: the capsule is a legacy one, which cannot say so
    writes = False
    takes_copy = False
    asks = {}
    asks_device = False
    given_layouts = [name for name in LAYOUTS if name not in ("new axes", "reversed")]
    gives_version = "legacy"

    @pytest.mark.works
    def test_the_device_is_that_of_the_capsule(self):
        """The type of its device is an enumeration, as the standard has it."""
        t = self.theirs("float64")
        kind, number = t.__dlpack_device__()
        assert kind != 1  # no integer
        assert (kind.value, number) == (1, 0)
        assert xp.from_dlpack(t).device == xp.Device("cpu")

    def layout(self, array, name):
        if name in ("rows", "empty"):
            return array[2:] if name == "rows" else array[:0]
        if name == "0-d":
            return array[1, 2]
        return array.T() if name == "transposed" else LAYOUTS[name](array)


@pytest.mark.bug("docs/upstream/open3d.md")
def test_packed_bool():
    """Elements of bool with one bit each are taken for bytes."""
    with doubles.producer("(code, bits, lanes) = (6, 1, 1)") as double:
        t = ADAPTER.from_dlpack(double.array)
        assert t.dtype == open3d.core.Dtype.Bool
        assert t.dtype.byte_size() == 1
        del t


@pytest.mark.bug("docs/upstream/open3d.md")
@pytest.mark.parametrize(
    ("fault", "shape"),
    [("shape (-1, 3)", (-1, 3)), ("shape (2**40, 2**40)", (2**40, 2**40))],
)
def test_impossible_shapes(fault, shape):
    """Negative extents, and more elements than there are addresses, become tensors."""
    assert shape_taken(ADAPTER, fault) == shape


@pytest.mark.bug(None)
def test_data_that_is_null():
    """Six elements at NULL become a tensor."""
    assert shape_taken(ADAPTER, "data NULL with 6 elements") == (2, 3)


@pytest.mark.bug("docs/upstream/open3d.md")
def test_memory_of_a_gpu():
    """A capsule that says its memory lies on a GPU is taken by a build for the CPU."""
    with doubles.producer("announced (1, 0), capsule on (2, 0)") as double:
        assert str(ADAPTER.from_dlpack(double.array).device) == "CUDA:0"


@pytest.mark.bug("docs/upstream/open3d.md")
def test_a_used_capsule_dropped_during_an_exception():
    """A used capsule that is dropped while an exception is pending loses it."""
    items = [ADAPTER.make([1.0, 2.0], (2,), "float64").__dlpack__()]
    x = from_capsule(items[0])
    assert _forge.drop_with_pending_error(items) is False
    assert reads(x).tolist() == [1.0, 2.0]
