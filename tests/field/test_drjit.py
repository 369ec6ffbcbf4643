"""The exchange with Dr.Jit, its scalar backend on the CPU, which copies."""

import signal

import pytest
from arrays import LAYOUTS, in_child, ours
from exchange import Exchange, library, load

drjit = library("drjit")

LIBRARY = "Dr.Jit"
ADAPTER = load("drjit")


class TestExchange(Exchange):
    adapter = ADAPTER
    takes = list(ADAPTER.dtypes)
    refusal = TypeError
    copies = True
    refused_layouts = dict.fromkeys(
        ["strided", "transposed", "offset", "column", "one row", "reversed"], TypeError
    )
    read_only = "copied"
    takes_copy = False
    asks = {}
    asks_device = False
    given_layouts = [name for name in LAYOUTS if name != "transposed"]
    gives_version = "legacy"

    def layout(self, array, name):
        return array[1, 2] if name == "0-d" else LAYOUTS[name](array)

    def take(self, x, **keywords):
        """Call the tensor type of that data type, as there is no other constructor."""
        name = str(getattr(x, "dtype", self.base))
        made = self.adapter.make([0], (1,), name if name in self.takes else self.base)
        return type(made)(x, **keywords)


@pytest.mark.bug(None)
def test_transposed():
    """`.T` of a tensor of the scalar backend ends the process."""
    result = in_child(
        "from drjit import scalar; import numpy\n"
        "scalar.TensorXf64(numpy.ones((2, 3))).T"
    )
    assert result.returncode == -signal.SIGSEGV


@pytest.mark.refuses
def test_another_type():
    """An array of another data type than the tensor's."""
    with pytest.raises(TypeError, match="Unable to initialize"):
        ADAPTER.from_dlpack(ours("float32"))
