"""The exchange with TensorFlow, on the CPU. Its consumer takes capsules only."""

import pytest
from arrays import DTYPES, LAYOUTS, numbers, reads
from exchange import Exchange, library, load

import refarray as xp

tf = library("tensorflow")

LIBRARY = "TensorFlow"


class TestExchange(Exchange):
    adapter = load("tensorflow")
    takes = DTYPES
    refused_layouts = dict.fromkeys(
        ["strided", "transposed", "offset", "column", "one row", "reversed"],
        tf.errors.InvalidArgumentError,
    )
    read_only = BufferError  # ours: the capsule is a legacy one, which cannot say so
    writes = False
    takes_copy = False
    asks = {}
    asks_device = False
    gives_version = "legacy"
    given_read_only = "lost"
    gives_copy = RuntimeError

    def layout(self, array, name):
        return tf.transpose(array) if name == "transposed" else LAYOUTS[name](array)


@pytest.mark.bug(None)
def test_immutable_tensors_change():
    """Its legacy capsules do not say that a tensor is immutable, and so it changes."""
    t = TestExchange().theirs("float64")
    xp.from_dlpack(t)[0, 0] = 99.0
    assert t[0, 0] == 99.0


@pytest.mark.works
def test_bfloat16():
    """bfloat16 comes too, and can be converted to float32."""
    x = xp.from_dlpack(tf.constant([1.5, -2.0], dtype=tf.bfloat16))
    assert str(x.dtype) == "bfloat16"
    assert reads(xp.astype(x, xp.float32)).tolist() == [1.5, -2.0]


@pytest.mark.works
def test_what_it_computes_comes_back():
    """What it computes on our memory comes back."""
    t = tf.experimental.dlpack.from_dlpack(xp.ones((4, 12)).__dlpack__())
    assert reads(xp.from_dlpack(t * numbers())).tolist() == numbers().tolist()
