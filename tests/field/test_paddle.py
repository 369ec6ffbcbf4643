"""The exchange with PaddlePaddle, on the CPU."""

import signal
import subprocess
import sys

import pytest
from arrays import DTYPES, LAYOUTS, numbers, ours, reads
from exchange import Exchange, library, load
from faults import ended_by, shape_taken

import refarray as xp
from refarray.testing.forge import Tensor
from refarray.testing.producers import Producer

pytestmark = pytest.mark.filterwarnings("ignore")
paddle = library("paddle")

LIBRARY = "PaddlePaddle"
ADAPTER = load("paddle")


CHAIN = """
import paddle
import refarray
t = paddle.ones([3])
for _ in range(2):
    t = paddle.utils.dlpack.from_dlpack(refarray.from_dlpack(t))
print("made", flush=True)
del t
"""


class TestExchange(Exchange):
    adapter = ADAPTER
    takes = DTYPES
    refused_layouts = {"reversed": "taken, but cannot be read"}
    read_only = "lost"
    asks = {"max_version": (1, 2)}
    asks_device = True
    gives_version = (1, 3)

    def theirs(self, name):
        if name in ("uint16", "uint32", "uint64"):
            # It makes none of them itself, but passes on those of other libraries.
            return self.take(numbers(name))
        return super().theirs(name)

    @pytest.mark.bug(None)
    def test_round_trips_keep_one_memory(self):
        """When a tensor made of another's capsule of a capsule goes, it hangs."""
        command = [sys.executable, "-W", "ignore", "-c", CHAIN]
        with pytest.raises(subprocess.TimeoutExpired) as caught:
            subprocess.run(command, stdout=subprocess.PIPE, timeout=20)
        assert caught.value.stdout == b"made\n"  # and not: import took so long

    @pytest.mark.bug("docs/upstream/paddle.md")
    def test_refuses_other_layouts(self):
        """A reversed array is taken, and ends in a MemoryError when it is read."""
        t = self.take(LAYOUTS["reversed"](ours()))
        with pytest.raises(MemoryError):
            t.numpy()

    @pytest.mark.bug("https://github.com/PaddlePaddle/Paddle/pull/69632")
    def test_the_device_is_that_of_the_capsule(self):
        """`__dlpack_device__` has None for the number of the CPU."""
        assert self.theirs("float64").__dlpack_device__()[1] is None

    @pytest.mark.bug(None)
    def test_gives_copies_on_request(self):
        """So keywords that need the device are refused: `copy=True`, `copy=False`."""
        t = self.theirs("float64")
        for copy in (True, False):
            with pytest.raises(TypeError, match="tuple of two integers"):
                xp.from_dlpack(t, copy=copy)


@pytest.mark.bug("docs/upstream/paddle.md")
def test_byte_offset():
    """The byte offset of a capsule is ignored, and other values are read."""
    tensor = Tensor.of([1.0, 2.0, 3.0], (3,)).but(shape=(2,), byte_offset=8)
    t = paddle.utils.dlpack.from_dlpack(Producer(tensor))
    assert t.tolist() == [1.0, 2.0]


@pytest.mark.bug("docs/upstream/paddle.md")
def test_a_producer_on_a_gpu():
    """A producer on a GPU ends the process of a build for the CPU."""
    assert ended_by(ADAPTER, "keeps every rule, on CUDA") is signal.SIGSEGV


@pytest.mark.bug("docs/upstream/paddle.md")
@pytest.mark.parametrize(
    ("fault", "shape"),
    [
        ("ndim -1", ()),
        ("shape (-1, 3)", (-1, 3)),
        ("shape (2**40, 2**40)", (2**40, 2**40)),
    ],
)
def test_impossible_shapes(fault, shape):
    """Negative sizes, and more elements than there are addresses, become tensors."""
    assert shape_taken(ADAPTER, fault) == shape


@pytest.mark.bug(None)
def test_data_that_is_null():
    """Six elements at NULL become a tensor."""
    assert shape_taken(ADAPTER, "data NULL with 6 elements") == (2, 3)


@pytest.mark.bug(None)
def test_uint16_is_printed_as_bfloat16():
    """uint16 is taken as what it is, and its type is printed as bfloat16."""
    t = paddle.utils.dlpack.from_dlpack(ours("uint16"))
    assert t.dtype != paddle.bfloat16
    assert str(t.dtype) == "paddle.bfloat16"


@pytest.mark.works
def test_bfloat16():
    """bfloat16 comes too, and can be converted to float32."""
    x = xp.from_dlpack(paddle.to_tensor([1.5, -2.0], dtype="bfloat16"))
    assert str(x.dtype) == "bfloat16"
    assert reads(xp.astype(x, xp.float32)).tolist() == [1.5, -2.0]
