"""The trace between other libraries, seen step by step."""

import gc

import numpy as np

import refarray as xp
from refarray.dlpack import trace
from refarray.testing.adapters import Adapter

END = ["taken over", "deleter called"]


def life(t):
    """Return the kinds of steps, without those that only some libraries take."""
    optional = ("device asked", "device answered", "capsule dropped", "block ended")
    return [step.kind for step in t.steps if step.kind not in optional]


class Traces:
    """What a trace shows of a library, on either side."""

    library: Adapter

    def test_it_takes(self, balance):
        with balance:
            with trace() as t:
                y = self.library.from_dlpack(t.watch(xp.ones(1000, dtype=xp.float32)))
            # Some take the destructor away: no more is seen before the deleter runs.
            assert life(t)[:2] == ["capsule asked", "capsule made"]
            assert t.steps[-1].kind == "block ended" and t.unseen
            del y
            gc.collect()
        assert life(t) == ["capsule asked", "capsule made", *END]
        assert t.producer == "refarray.Array"

    def test_it_makes(self):
        x = self.library.make([0.0, 1.0, 2.0, 3.0], (4,), "float32")
        with trace(consumer="NumPy") as t:
            y = np.from_dlpack(t.watch(x))
        assert y.tolist() == [0.0, 1.0, 2.0, 3.0]
        del y
        assert life(t) == ["capsule asked", "capsule made", *END]
        assert t.consumer == "NumPy" and t.producer != "producer"
