"""The exchange with Apache MXNet, on the CPU.

It exports and takes bare capsules. How it comes to share a process with refarray says
mxnet_here.py; what it does in its own interpreter, test_mxnet_alone.py.

Install: mxnet==1.9.1 numpy==1.23.5
Python: 3.8
Apart: needs NumPy 1
Name: Apache MXNet
"""

import numpy as np
import pytest
from arrays import LAYOUTS, in_child, numbers, ours, watch
from exchange import Exchange, settle
from mxnet_here import borrow

import refarray as xp
from refarray.dlpack import from_capsule
from refarray.testing import _forge
from refarray.testing.adapters import Adapter
from refarray.testing.forge import Raw, Tensor, forge

try:
    mx = borrow()
except ImportError:
    reason = "mxnet is not installed; `make field LIBRARIES=mxnet` installs it"
    pytest.skip(reason, allow_module_level=True)

LIBRARY = "Apache MXNet"
DTYPES = ["int8", "int32", "int64", "uint8", "float16", "float32", "float64"]
MXNetError = mx.base.MXNetError

#: The start of a program that runs in a child process.
CHILD = """\
import sys
sys.path.insert(0, "tests/field")
from mxnet_here import borrow
from refarray.testing.forge import Tensor, forge
mx = borrow()
good = Tensor.of([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], (2, 3)).but(version=None)
"""


class MXNet(Adapter):
    name = "mxnet"
    version = mx.__version__
    dtypes = DTYPES

    @staticmethod
    def from_dlpack(x, /):
        return mx.nd.from_dlpack(x.__dlpack__())

    def make(self, values, shape, dtype):
        return mx.nd.array(np.asarray(values, dtype).reshape(shape), dtype=dtype)

    def read(self, array):
        return array.asnumpy().ravel().tolist()

    def write(self, array, value):
        array[:] = value
        array.wait_to_read()


class TestExchange(Exchange):
    adapter = MXNet()
    takes = DTYPES
    # Of its own message for some types it cannot make a str.
    refusal = (MXNetError, UnicodeDecodeError)
    refused_layouts = dict.fromkeys(
        ["strided", "transposed", "offset", "column", "one row", "reversed"], MXNetError
    )
    read_only = BufferError  # ours: a legacy capsule could not say so
    takes_copy = False
    # Without axes it has only what it was given so; strides it has none, so that its
    # other views are copies.
    given_layouts = [name for name in LAYOUTS if name != "0-d"]
    gives_version = "legacy"

    def export(self, array):
        return array.to_dlpack_for_write()

    def give(self, array, **keywords):
        return from_capsule(self.export(array), **keywords)

    # Bare capsules: no device to ask for, and no copy.
    test_the_device_is_that_of_the_capsule = None
    test_gives_copies_on_request = None


def theirs(name="float32"):
    return mx.nd.array(numbers(name), dtype=name)


@pytest.mark.works
@pytest.mark.parametrize("export", ["to_dlpack_for_read", "to_dlpack_for_write"])
def test_both_exports_share_the_memory(export):
    """`to_dlpack_for_read` and `to_dlpack_for_write` both give writable memory."""
    t = theirs()
    x = from_capsule(getattr(t, export)())
    x[1, 2] = 50.0
    assert t[1, 2].asscalar() == 50.0


@pytest.mark.works
def test_rows_are_views():
    """Rows of an array are views, so that a write into them is seen in the array."""
    t = theirs()
    x = from_capsule(t[2:].to_dlpack_for_write())
    assert Raw(t.to_dlpack_for_read()).first + 2 * 12 * 4 == Raw(x.__dlpack__()).first
    x[0, 0] = 50.0
    assert t[2, 0].asscalar() == 50.0


@pytest.mark.works
def test_work_still_to_be_done_is_waited_for():
    """The export waits for work that MXNet has still to do on the memory."""
    a = mx.nd.ones((300, 300))
    for _ in range(5):
        a = mx.nd.dot(a, a) / 300
    x = from_capsule(a.to_dlpack_for_read())
    assert bool(xp.all(x == 1.0))


@pytest.mark.refuses
def test_arrays_instead_of_capsules():
    """Objects instead of capsules, by both: MXNet has no `__dlpack__`."""
    with pytest.raises(AttributeError, match="NDArray lacks them"):
        xp.from_dlpack(theirs())
    with pytest.raises(AssertionError, match="consumed only once"):
        mx.nd.from_dlpack(ours("float32"))


@pytest.mark.refuses
def test_versioned_and_used_capsules(balance):
    """Versioned capsules and used ones, which stay as they are."""
    with balance:
        x = ours("float32")
        capsule = x.__dlpack__(max_version=(1, 0))
        with pytest.raises(AssertionError, match="consumed only once"):
            mx.nd.from_dlpack(capsule)
        assert Raw(capsule).name == "dltensor_versioned"
        capsule = x.__dlpack__()
        t = mx.nd.from_dlpack(capsule)
        with pytest.raises(AssertionError, match="consumed only once"):
            mx.nd.from_dlpack(capsule)
        assert t.asnumpy().tolist() == numbers("float32").tolist()
        del x, capsule, t
        settle()


def forged(**changes):
    good = Tensor.of([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], (2, 3))
    return forge(good.but(version=None, **changes))


@pytest.mark.refuses
@pytest.mark.parametrize(
    "changes",
    [
        {"device": (3, 0)},
        {"device": (99, 0)},
        {"dtype": (2, 64, 4)},
        {"dtype": (2, 24, 1)},
        {"ndim": -1},
        {"shape": (-1, 3)},
        {"strides": (1, 2)},
    ],
    ids=str,
)
def test_impossible_tensors_are_refused_and_freed(changes):
    """Tensors that nobody can read; the capsule then frees them once."""
    capsule, case = forged(**changes)
    with pytest.raises((MXNetError, UnicodeDecodeError)):
        mx.nd.from_dlpack(capsule)
    assert case.deleter_calls == 0
    del capsule
    settle()
    assert case.deleter_calls == 1


@pytest.mark.bug(None)
def test_the_byte_offset():
    """A byte offset in a capsule is ignored; refarray exports none."""
    capsule, _ = forged(shape=(4,), strides=(1,), byte_offset=16)
    assert mx.nd.from_dlpack(capsule).asnumpy().tolist() == [1.0, 2.0, 3.0, 4.0]
    assert Raw(ours()[2:, :].__dlpack__()).byte_offset == 0


@pytest.mark.bug(None)
def test_sizes_that_overflow():
    """A tensor of 2**40 x 2**40 elements is taken for one of 0 x 0."""
    capsule, _ = forged(shape=(1 << 40, 1 << 40), strides=(1 << 40, 1))
    assert mx.nd.from_dlpack(capsule).shape == (0, 0)


@pytest.mark.bug(None)
def test_bool_is_exported_as_one_bit():
    """An array of bool is exported as unsigned integers of one bit."""
    t = mx.nd.array([1, 0, 1], dtype="bool")
    assert Raw(t.to_dlpack_for_read()).dtype == (1, 1, 1)
    with pytest.raises(BufferError, match="type code 1 with 1 bits"):
        from_capsule(t.to_dlpack_for_read())
    # What helps: numbers.
    x = from_capsule(t.astype("uint8").to_dlpack_for_read())
    assert xp.astype(x, xp.bool).__array__().tolist() == [True, False, True]


@pytest.mark.bug(None)
def test_memory_of_a_gpu():
    """Memory of a GPU is taken by a build without GPUs, which cannot read it."""
    capsule, case = forged(device=(2, 0))
    t = mx.nd.from_dlpack(capsule)
    with pytest.raises(MXNetError, match="GPU is not enabled"):
        t.asnumpy()
    del t, capsule
    settle()
    assert case.deleter_calls == 1


@pytest.mark.bug("https://github.com/numpy/numpy/issues/32697")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_capsule_dropped_during_an_exception():
    """A capsule that is dropped while an exception is pending loses this exception."""
    # Its destructor is a function in Python. refarray drops no capsule then.
    capsule = theirs().to_dlpack_for_read()
    watch(capsule)
    items = [capsule]
    del capsule
    assert _forge.drop_with_pending_error(items) is False
    t = mx.nd.array([1, 0, 1], dtype="bool")
    capsule = t.to_dlpack_for_read()
    calls = watch(capsule)
    with pytest.raises(BufferError):
        from_capsule(capsule)
    del capsule
    assert calls() == 1


@pytest.mark.bug(None)
def test_data_that_is_null():
    """A capsule without data ends the process when its elements are read."""
    result = in_child(
        CHILD + "capsule, _ = forge(good.but(data=None))\n"
        "print('taken', mx.nd.from_dlpack(capsule).asnumpy())"
    )
    assert result.returncode != 0
    assert "Segmentation fault" in result.stderr


@pytest.mark.bug(None)
def test_a_capsule_that_outlives_python():
    """A capsule that nobody took, and that lives until Python ends, ends it badly."""
    result = in_child(
        CHILD + "mx.nd.kept = mx.nd.ones((2,)).to_dlpack_for_read()\n"
        "sys.kept = mx.nd.kept\n"
        "print('so far', flush=True)"
    )
    assert result.stdout == "so far\n"
    assert result.returncode != 0
