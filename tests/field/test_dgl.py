"""The exchange with DGL, on the CPU.

Its own NDArray exports and takes bare capsules; what users put on a graph are tensors
of torch. DGL 2.1.0, the newest that pip finds, cannot be imported: it needs
torchdata.datapipes, which newer releases of torchdata lack, and a library for each
version of torch, of which it has those up to 2.2.1. 1.1.3 needs neither.

Install: dgl==1.1.3 torch==2.13.0
Environment: DGLBACKEND=pytorch
"""

import os

import numpy as np
import pytest
from arrays import DTYPES, LAYOUTS, address, numbers, ours, read_only, reads
from exchange import Exchange, library, settle

import refarray as xp
from refarray.dlpack import from_capsule
from refarray.testing.adapters import Adapter
from refarray.testing.forge import Tensor, forge

os.environ.setdefault("DGLBACKEND", "pytorch")  # else DGL writes a file into the home

dgl = library("dgl")
torch = library("torch")
nd = library("dgl.ndarray", "dgl")

LIBRARY = "DGL"
pytestmark = pytest.mark.filterwarnings("ignore")

#: It has no type for these.
NAMELESS = ["bool", "complex64", "complex128"]


class Dgl(Adapter):
    name = "dgl"
    version = dgl.__version__
    dtypes = [name for name in DTYPES if name not in NAMELESS]

    @staticmethod
    def from_dlpack(x, /):
        return nd.from_dlpack(x.__dlpack__())

    def make(self, values, shape, dtype):
        return nd.array(np.asarray(values, dtype).reshape(shape))

    def read(self, array):
        return array.asnumpy().ravel().tolist()

    def write(self, array, value):
        array.copyfrom(np.full(array.shape, value, array.dtype))


class TestExchange(Exchange):
    adapter = Dgl()
    takes = Dgl.dtypes
    refusal = "held, but not read"  # test_refuses_other_types shows it
    refused_layouts = dict.fromkeys(
        ["strided", "transposed", "offset", "column", "one row", "reversed"],
        "wrong values",
    )
    read_only = BufferError  # ours: a legacy capsule could not say so
    takes_copy = False
    given_layouts = ["compact"]  # it has no views
    gives_version = "legacy"

    def export(self, array):
        return array.to_dlpack()

    def give(self, array, **keywords):
        return from_capsule(self.export(array), **keywords)

    # Bare capsules: no device to ask for, and no copy.
    test_the_device_is_that_of_the_capsule = None
    test_gives_copies_on_request = None

    @pytest.mark.bug(None)
    def test_refuses_other_layouts(self, balance):
        """It reads as if all were compact; what it hands on has the right strides."""
        with balance:
            for name in self.refused_layouts:
                x = LAYOUTS[name](ours())
                t = self.take(x)
                expected = LAYOUTS[name](numbers()).tolist()
                assert t.asnumpy().tolist() != expected, name
                # What it hands on is right.
                assert reads(self.give(t)).tolist() == expected, name
                del x, t
            settle()

    @pytest.mark.works
    def test_refuses_other_types(self, balance):
        """Bool and complex arrays are held and handed on, but it cannot read them."""
        with balance:
            for name in NAMELESS:
                x = ours(name)
                t = self.take(x)
                with pytest.raises(KeyError):
                    t.asnumpy()
                assert reads(self.give(t)).tolist() == numbers(name).tolist()
                del x, t
            settle()


@pytest.mark.works
def test_graphs_of_our_memory():
    """A graph is made of our indices, and its features are shared, through torch."""
    source, target = xp.asarray([0, 1, 2, 3]), xp.asarray([1, 2, 3, 0])
    graph = dgl.graph((torch.from_dlpack(source), torch.from_dlpack(target)))
    assert reads(xp.from_dlpack(graph.edges()[0])).tolist() == [0, 1, 2, 3]
    x = ours("float32")
    graph.ndata["h"] = torch.from_dlpack(x)
    y = xp.from_dlpack(graph.ndata["h"])
    assert address(y) == address(x)
    y[1, 2] = 50.0
    assert float(x[1, 2]) == 50.0


@pytest.mark.works
def test_messages_are_computed_from_our_memory():
    """What a graph computes from our memory comes back without a copy."""
    graph = dgl.graph((torch.tensor([0, 1, 2, 3]), torch.tensor([1, 2, 3, 0])))
    graph.ndata["h"] = torch.from_dlpack(ours("float32"))
    graph.update_all(dgl.function.copy_u("h", "m"), dgl.function.sum("m", "s"))
    result = graph.ndata["s"]
    x = xp.from_dlpack(result)
    assert address(x) == result.data_ptr()
    assert reads(x).tolist() == numbers("float32")[[3, 0, 1, 2]].tolist()


@pytest.mark.works
def test_its_backend():
    """Its backend's `zerocopy_from_dlpack` takes a bare capsule of ours."""
    x = ours()
    t = dgl.backend.zerocopy_from_dlpack(x.__dlpack__())
    assert t.data_ptr() == address(x)


@pytest.mark.refuses
def test_objects_without_the_protocol():
    """Objects instead of capsules, by both; versioned and used capsules, by DGL."""
    with pytest.raises(AttributeError, match="NDArray lacks them"):
        xp.from_dlpack(nd.array(numbers()))
    with pytest.raises(ValueError, match="only be consumed once"):
        nd.from_dlpack(ours())
    with pytest.raises(ValueError, match="only be consumed once"):
        nd.from_dlpack(ours().__dlpack__(max_version=(1, 0)))
    with pytest.raises(BufferError, match="read-only"):
        nd.from_dlpack(read_only().__dlpack__())


@pytest.mark.refuses
def test_our_arrays_as_indices():
    """Our arrays themselves as indices of a graph: it asks for tensors of torch."""
    with pytest.raises(TypeError):
        dgl.graph((xp.asarray([0, 1]), xp.asarray([1, 0])))


@pytest.mark.works
def test_the_byte_offset():
    """A byte offset in a capsule is honoured."""
    good = Tensor.of([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], (2, 3))
    part = good.but(shape=(4,), strides=(1,), byte_offset=16, version=None)
    capsule, _ = forge(part)
    assert nd.from_dlpack(capsule).asnumpy().tolist() == [3.0, 4.0, 5.0, 6.0]
