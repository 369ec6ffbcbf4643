"""The exchange with Open3D's tensor, on the CPU."""

import pytest
from arrays import COMPLEX, DTYPES, LAYOUTS
from exchange import Exchange, library, load

import refarray as xp

open3d = library("open3d")

LIBRARY = "Open3D"


class TestExchange(Exchange):
    adapter = load("open3d")
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
