"""The exchange with cuda.core's StridedMemoryView, over memory of the CPU."""

import numpy as np
import pytest
from arrays import DTYPES, LAYOUTS, address, numbers
from exchange import Exchange, library, load

import refarray as xp

library("cuda.core", "cuda_core")

LIBRARY = "cuda.core"


class TestExchange(Exchange):
    adapter = load("cuda_core")
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
