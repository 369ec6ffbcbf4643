"""The exchange with ONNX Runtime's OrtValue, on the CPU."""

import pytest
from arrays import COMPLEX, DTYPES, address, numbers, ours
from exchange import Exchange, library, load

from refarray.testing.forge import Tensor
from refarray.testing.producers import Producer

onnxruntime = library("onnxruntime")

LIBRARY = "ONNX Runtime"


class TestExchange(Exchange):
    adapter = load("onnxruntime")
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


@pytest.mark.bug(None)
def test_memory_of_a_gpu():
    """A capsule that says its memory lies on a GPU is taken by a build for the CPU."""
    tensor = Tensor.of([1.0, 2.0], (2,)).but(device=(2, 0), version=None)
    assert onnxruntime.OrtValue.from_dlpack(Producer(tensor)).shape() == [2]
