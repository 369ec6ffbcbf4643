"""The exchange with nanobind's ndarray, in the module of adapters/."""

import numpy as np
import pytest
from arrays import DTYPES, LAYOUTS, ours
from exchange import Exchange, library, load

from refarray.testing import doubles
from refarray.testing.forge import READ_ONLY, Raw, Tensor
from refarray.testing.producers import Producer

library("nanobind")


ADAPTER = load("nanobind")


class TestExchange(Exchange):
    adapter = ADAPTER
    takes = DTYPES
    read_only = "kept"
    takes_copy = False
    asks = {"max_version": (1, 1)}
    asks_device = False
    gives_version = (1, 1)
    gives_copy = BufferError

    def layout(self, array, name):
        return self.take(LAYOUTS[name](np.from_dlpack(array)))


class Refusing:
    """A producer that refuses."""

    def __dlpack__(self, **keywords):
        raise BufferError("refused on purpose")

    def __dlpack_device__(self):
        return ours().__dlpack_device__()


@pytest.mark.bug("docs/upstream/nanobind.md")
def test_the_error_of_a_producer():
    """The error of a producer is hidden behind a TypeError."""
    with pytest.raises(TypeError, match="incompatible function arguments"):
        ADAPTER.from_dlpack(Refusing())


@pytest.mark.bug("docs/upstream/nanobind.md")
def test_a_capsule_given_twice():
    """A capsule keeps its name when it is taken: it is taken again, and freed twice."""
    double = doubles.producer("the same capsule again")
    for _ in range(2):
        assert ADAPTER.read(ADAPTER.from_dlpack(double.array)) == double.values
    assert double.deleter_calls == 2


@pytest.mark.bug("docs/upstream/nanobind.md")
def test_another_major_version():
    """A capsule of version 2.0, which may have any layout, is read as one of 1.x."""
    with doubles.producer("version (2, 0), ndim 2") as double:
        assert ADAPTER.read(ADAPTER.from_dlpack(double.array)) == [1, 2, 3, 4, 5, 6]


@pytest.mark.bug(None)
def test_read_only_memory_in_a_legacy_capsule():
    """Read-only memory is exported in a legacy capsule, as if it were writable."""
    x = ADAPTER.from_dlpack(Producer(Tensor.of([1.0], (1,)).but(flags=READ_ONLY)))
    assert Raw(x.__dlpack__(max_version=(1, 1))).flags == READ_ONLY
    assert Raw(x.__dlpack__()).name == "dltensor"


@pytest.mark.bug(None)
def test_negative_extents():
    """A negative extent is taken."""
    with doubles.producer("shape (2, -3)") as double:
        x = ADAPTER.from_dlpack(double.array)
        assert Raw(x.__dlpack__()).shape == (2, -3)
        del x
