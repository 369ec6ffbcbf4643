"""The exchange with MLX, on the CPU. Its arrays are immutable; its import copies."""

import pytest
from arrays import DTYPES, numbers, ours
from exchange import Exchange, library, load

import refarray as xp

mx = library("mlx.core", "mlx")

LIBRARY = "MLX"


class TestExchange(Exchange):
    adapter = load("mlx")
    takes = DTYPES
    converts = {"float64": "float32", "complex128": "complex64"}
    copies = True
    refused_layouts = {"reversed": ValueError}
    read_only = "copied"
    writes = False
    asks = {}
    asks_device = False
    gives = [name for name in DTYPES if name != "complex128"]
    gives_version = "legacy"


@pytest.mark.bug(None)
def test_precision_is_lost_in_silence():
    """float64 and complex128 lose half their digits in silence."""
    x = xp.asarray([1 + 2.0**-40])
    assert mx.from_dlpack(x).tolist() == [1.0]


@pytest.mark.bug(None)
def test_immutable_arrays_change():
    """Its legacy capsules do not say that an array is immutable, and so it changes."""
    t = TestExchange().theirs("float32")
    xp.from_dlpack(t)[0, 0] = 99.0
    assert t[0, 0] == 99.0


@pytest.mark.refuses
def test_it_does_not_share():
    """`copy=False`, as memory of the CPU is always copied."""
    with pytest.raises(ValueError, match="without a copy"):
        mx.from_dlpack(ours("float32"), copy=False)


@pytest.mark.works
def test_it_computes_with_our_values():
    """What it computes from our values comes back."""
    x = xp.from_dlpack(mx.from_dlpack(ours("float32")) * 2)
    assert float(xp.sum(x)) == 2 * numbers().sum()
