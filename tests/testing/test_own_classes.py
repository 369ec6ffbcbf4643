"""Classes made producers by `refarray.dlpack` keep every rule of a producer."""

import ctypes
import mmap
import tempfile

import numpy as np
import pytest

from refarray.dlpack import Exports, Tensor
from refarray.testing.adapters import Adapter
from refarray.testing.rules import check


class Mapped(Exports):
    """A file in memory."""

    def __init__(self, data, shape, dtype):
        with tempfile.TemporaryFile() as file:
            file.write(data or b"\0")
            file.flush()
            self.map = mmap.mmap(file.fileno(), 0)
        self.bytes = (ctypes.c_char * len(self.map)).from_buffer(self.map)
        self.shape, self.dtype = shape, dtype

    def dlpack_tensor(self):
        return Tensor(
            ctypes.addressof(self.bytes), self.shape, self.dtype, owner=self.bytes
        )


class Wrapped(Exports):
    """Any object with the buffer protocol, as pydlpack's `asdlpack` takes it."""

    def __init__(self, exporter):
        self.exporter = exporter

    def dlpack_tensor(self):
        return Tensor.from_buffer(self.exporter)


def read(tensor, dtype):
    """Read memory as a C programmer would, without DLPack."""
    size = int(np.prod(tensor.shape, dtype=int))
    if not size:
        return []
    steps = [step * np.dtype(dtype).itemsize for step in tensor.strides]
    memory = (ctypes.c_char * (np.dtype(dtype).itemsize * size)).from_address(
        tensor.pointer
    )
    return np.ndarray(tensor.shape, dtype, memory, 0, steps).ravel().tolist()


class MappedAdapter(Adapter):
    name = "mapped"

    def make(self, values, shape, dtype):
        return Mapped(np.asarray(values, dtype).tobytes(), shape, dtype)

    def read(self, array):
        return read(array.dlpack_tensor(), array.dtype)

    def write(self, array, value):
        array.map[:] = np.full(array.shape, value, array.dtype).tobytes()

    def shape(self, array):
        return array.shape


class WrappedAdapter(Adapter):
    name = "wrapped"

    def make(self, values, shape, dtype):
        return Wrapped(np.asarray(values, dtype).reshape(shape))

    def read(self, array):
        return array.exporter.ravel().tolist()

    def write(self, array, value):
        array.exporter[...] = value

    def view(self, array, key):
        return Wrapped(array.exporter[key])

    def shape(self, array):
        return array.exporter.shape

    def read_only(self, array):
        constant = array.exporter.view()
        constant.flags.writeable = False
        return Wrapped(constant)

    def unexportable(self):
        return Wrapped(np.zeros(2, "M8[s]"))


PRODUCER = range(1, 37)


@pytest.mark.parametrize(
    "adapter", [MappedAdapter(), WrappedAdapter()], ids=lambda a: a.name
)
def test_a_class_of_ones_own_keeps_every_rule_of_a_producer(adapter):
    findings = check(adapter, PRODUCER)
    assert [f for f in findings if f.verdict in ("fail", "crash")] == []
    assert sum(f.verdict == "pass" for f in findings) >= 20
