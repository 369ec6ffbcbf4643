"""The exchange with nanobind's ndarray, in the module of adapters/."""

import numpy as np
import pytest
from arrays import DTYPES, LAYOUTS, ours
from exchange import Exchange, library, load

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


@pytest.mark.bug(None)
def test_the_error_of_a_producer():
    """The error of a producer is hidden behind a TypeError."""
    with pytest.raises(TypeError, match="incompatible function arguments"):
        ADAPTER.from_dlpack(Refusing())
