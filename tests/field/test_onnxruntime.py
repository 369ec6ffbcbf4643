"""The exchange with ONNX Runtime's OrtValue, on the CPU."""

import signal

import pytest
from arrays import COMPLEX, DTYPES, address, numbers, ours, reads
from exchange import Exchange, library, load
from faults import ended_by, shape_taken

from refarray.dlpack import from_capsule
from refarray.testing import _forge
from refarray.testing.forge import Tensor
from refarray.testing.producers import Producer

onnxruntime = library("onnxruntime")

LIBRARY = "ONNX Runtime"
ADAPTER = load("onnxruntime")


class TestExchange(Exchange):
    adapter = ADAPTER
    takes = [name for name in DTYPES if name not in COMPLEX]
    refusal = RuntimeError
    refused_layouts = dict.fromkeys(
        ["strided", "transposed", "offset", "column", "one row", "reversed"],
        RuntimeError,
    )
    read_only = BufferError  # ours: it asks for a legacy capsule, which cannot say so
    writes = False
    takes_copy = False
    asks = {}
    asks_device = False
    given_layouts = ["compact"]  # an OrtValue has no views
    gives_version = "legacy"


@pytest.mark.works
def test_numpy_sees_our_memory():
    """`numpy()` of an OrtValue over our memory gives our values."""
    x = ours()
    value = onnxruntime.OrtValue.from_dlpack(x)
    assert value.data_ptr() == address(x)
    assert value.numpy().tolist() == numbers().tolist()


@pytest.mark.bug("docs/upstream/onnxruntime.md")
def test_memory_of_a_gpu():
    """A capsule that says its memory lies on a GPU is taken by a build for the CPU."""
    tensor = Tensor.of([1.0, 2.0], (2,)).but(device=(2, 0), version=None)
    assert onnxruntime.OrtValue.from_dlpack(Producer(tensor)).shape() == [2]


@pytest.mark.bug("docs/upstream/onnxruntime.md")
def test_a_negative_number_of_axes():
    """A number of axes of -1 ends the process."""
    assert ended_by(ADAPTER, "ndim -1") is signal.SIGABRT


@pytest.mark.bug(None)
def test_data_that_is_null():
    """Six elements at NULL become a value."""
    assert shape_taken(ADAPTER, "data NULL with 6 elements") == (2, 3)


@pytest.mark.bug("docs/upstream/onnxruntime.md")
def test_a_used_capsule_dropped_during_an_exception():
    """A used capsule that is dropped while an exception is pending loses it."""
    value = ADAPTER.make([1.0, 2.0], (2,), "float64")
    items = [value.__dlpack__()]
    x = from_capsule(items[0])
    assert _forge.drop_with_pending_error(items) is False
    assert reads(x).tolist() == [1.0, 2.0]
