"""The exchange with thinc, whose models and converters spaCy uses, on the CPU.

Its converters `xp2torch` and `torch2xp` stand between its own arrays, NumPy's,
and torch. spaCy has no data exchange of its own.

Install: thinc==8.3.11 spacy==3.8.11 click torch==2.13.0
"""

import signal

import numpy as np
import pytest
from arrays import DTYPES, LAYOUTS, address, in_child, numbers, ours, reads
from exchange import Exchange, library, load

import refarray as xp

thinc = library("thinc")
util = library("thinc.util", "thinc")
torch = library("torch")

LIBRARY = "thinc and spaCy"
pytestmark = pytest.mark.filterwarnings("ignore")


class Thinc(type(load("torch"))):
    name = "thinc"
    version = thinc.__version__
    cpu = None

    @staticmethod
    def from_dlpack(x, /):
        return util.xp2torch(x)


class TestExchange(Exchange):
    """`xp2torch` of our arrays, and `torch2xp` back."""

    adapter = Thinc()
    takes = DTYPES
    refused_layouts = {"reversed": "the process ends"}
    read_only = "lost"
    takes_copy = False
    asks = {"max_version": (1, 0)}
    given_layouts = [name for name in LAYOUTS if name != "reversed"]

    def give(self, array, **keywords):
        return xp.from_dlpack(util.torch2xp(array), **keywords)

    @pytest.mark.bug("https://github.com/pytorch/pytorch/issues/188023")
    def test_refuses_other_layouts(self):
        """A negative stride ends the process, in torch."""
        result = in_child(
            "import thinc.util, refarray as xp\n"
            "thinc.util.xp2torch(xp.asarray([1.0, 2.0, 3.0])[::-1])"
        )
        assert result.returncode == -signal.SIGABRT
        assert "strides=[-1]" in result.stderr


@pytest.mark.works
def test_gradients():
    """`xp2torch(x, requires_grad=True)` shares our memory too."""
    x = ours()
    t = util.xp2torch(x, requires_grad=True)
    assert t.requires_grad
    assert t.data_ptr() == address(x)


@pytest.mark.works
def test_models():
    """A model computes from our memory, and its result comes back without a copy."""
    from thinc.api import Linear

    model = Linear(4, 12)
    model.initialize()
    model.set_param("W", np.ones((4, 12), "float32"))
    result = model.predict(np.from_dlpack(ours("float32")))
    x = xp.from_dlpack(result)
    assert address(x) == result.ctypes.data
    expected = numbers("float32").sum(1)[:, None].repeat(4, 1)
    assert reads(x).tolist() == expected.tolist()


@pytest.mark.works
def test_vectors_of_spacy():
    """Word vectors of spaCy lie in our memory; attributes of a text come out of it."""
    spacy = library("spacy", "thinc")
    from spacy.vectors import Vectors

    x = ours("float32")
    vectors = Vectors(data=np.from_dlpack(x), keys=["a", "b", "c", "d"])
    assert address(xp.from_dlpack(vectors.data)) == address(x)
    assert vectors["b"].tolist() == numbers("float32")[1].tolist()
    lengths = spacy.blank("en")("one three eleven").to_array("LENGTH")
    assert reads(xp.from_dlpack(lengths)).tolist() == [3, 5, 6]


@pytest.mark.refuses
def test_what_is_no_array_to_thinc():
    """Our arrays are none of thinc's own, which are NumPy's and CuPy's."""
    assert not util.is_xp_array(ours())
    assert util.is_xp_array(np.from_dlpack(ours()))


@pytest.mark.refuses
def test_converters_that_are_off():
    """`xp2tensorflow` and `xp2mxnet`, which thinc leaves off."""
    for convert in (util.xp2tensorflow, util.xp2mxnet):
        with pytest.raises(ImportError):
            convert(ours())
