"""The exchange with cuda.core's StridedMemoryView, over memory of the CPU."""

import numpy as np
import pytest
from arrays import DTYPES, LAYOUTS, address, numbers
from exchange import Exchange, library, load
from faults import shape_taken

import refarray as xp
from refarray.testing import doubles

library("cuda.core", "cuda_core")

LIBRARY = "cuda.core"
ADAPTER = load("cuda_core")


class TestExchange(Exchange):
    adapter = ADAPTER
    takes = DTYPES
    read_only = "kept"
    takes_copy = False
    asks = {"stream": None, "max_version": (1, 3)}
    asks_device = True
    gives_version = (1, 3)
    given_read_only = "kept"
    gives_copy = BufferError

    def layout(self, array, name):
        return self.take(LAYOUTS[name](np.from_dlpack(array)))


@pytest.mark.works
def test_it_describes_our_memory():
    """Address, shape and strides of our arrays are told as they are."""
    x = xp.asarray(numbers(), copy=True)[::2, 1::3]
    view = TestExchange().take(x)
    assert (view.ptr, tuple(view.shape)) == (address(x), x.shape)
    assert tuple(view.strides) == x._strides


@pytest.mark.bug("docs/upstream/cuda_core.md")
def test_another_major_version():
    """A capsule of version 2.0, which may have any layout, is read as one of 1.x."""
    assert shape_taken(ADAPTER, "version (2, 0), ndim 2") == (2, 3)


@pytest.mark.bug("docs/upstream/cuda_core.md")
def test_a_negative_number_of_axes():
    """A number of axes of -1 is taken; the shape is a SystemError then."""
    with doubles.producer("ndim -1") as double:
        view = ADAPTER.from_dlpack(double.array)
        with pytest.raises(SystemError, match="bad argument to internal function"):
            ADAPTER.shape(view)
        del view


@pytest.mark.bug("docs/upstream/cuda_core.md")
@pytest.mark.parametrize(
    ("fault", "shape"),
    [("shape (2**61,)", (2**61,)), ("data NULL with 6 elements", (2, 3))],
)
def test_impossible_memory(fault, shape):
    """More elements than there are addresses, and six at NULL, become views."""
    assert shape_taken(ADAPTER, fault) == shape


@pytest.mark.refuses
def test_negative_extents():
    """A negative extent, though not before the shape is asked for."""
    with doubles.producer("shape (-1, 3)") as double:
        view = ADAPTER.from_dlpack(double.array)
        with pytest.raises(ValueError, match="Extents must be non-negative"):
            ADAPTER.shape(view)
        del view
