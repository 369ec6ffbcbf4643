"""The exchange with TensorFlow, on the CPU. Its consumer takes capsules only."""

import signal

import pytest
from arrays import DTYPES, LAYOUTS, in_child, numbers, ours, reads
from exchange import Exchange, library, load
from faults import ended_by, shape_taken

import refarray as xp
from refarray.testing import doubles
from refarray.testing.forge import Raw

tf = library("tensorflow")

LIBRARY = "TensorFlow"
ADAPTER = load("tensorflow")


class TestExchange(Exchange):
    adapter = ADAPTER
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


@pytest.mark.bug("docs/upstream/tensorflow.md")
def test_the_version_that_is_asked_for():
    """`max_version` is ignored: the capsule is always a legacy one."""
    t = tf.constant([1.0, 2.0])
    assert Raw(t.__dlpack__(max_version=(1, 3))).name == "dltensor"


@pytest.mark.bug("docs/upstream/tensorflow.md")
def test_strings():
    """To export a tensor of strings ends the process."""
    result = in_child(
        "import tensorflow as tf\n"
        "t = tf.constant(['a'])\n"
        "print('so far', flush=True)\n"
        "t.__dlpack__()"
    )
    assert result.stdout == "so far\n"
    assert result.returncode == -signal.SIGABRT


@pytest.mark.bug("docs/upstream/tensorflow.md")
def test_memory_of_a_gpu():
    """Memory of a GPU is refused by a build for the CPU, and freed twice."""
    double = doubles.producer("announced (1, 0), capsule on (2, 0)")
    with pytest.raises(tf.errors.InvalidArgumentError, match="unknown device"):
        ADAPTER.from_dlpack(double.array)
    assert double.deleter_calls == 2


@pytest.mark.bug("docs/upstream/tensorflow.md")
@pytest.mark.parametrize("fault", ["shape (-1, 3)", "shape (2**40, 2**40)"])
def test_impossible_shapes(fault):
    """Negative extents, and too many elements to be counted, end the process."""
    assert ended_by(ADAPTER, fault) is signal.SIGABRT


@pytest.mark.bug(None)
def test_data_that_is_null():
    """Six elements at NULL become a tensor."""
    assert shape_taken(ADAPTER, "data NULL with 6 elements") == (2, 3)


@pytest.mark.bug("docs/upstream/tensorflow.md")
def test_vectors():
    """Vectors of four numbers are taken for numbers."""
    with doubles.producer("(code, bits, lanes) = (2, 64, 4)") as double:
        t = ADAPTER.from_dlpack(double.array)
        assert (t.dtype, ADAPTER.shape(t)) == (tf.float64, (2, 3))
        del t


@pytest.mark.bug("docs/upstream/tensorflow.md")
def test_the_message_for_a_versioned_capsule():
    """The error for a versioned capsule shows `%s` instead of the capsule's name."""
    with pytest.raises(tf.errors.InvalidArgumentError, match='got "%s"'):
        tf.experimental.dlpack.from_dlpack(ours().__dlpack__(max_version=(1, 0)))


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
