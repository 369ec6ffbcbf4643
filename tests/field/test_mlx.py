"""The exchange with MLX, on the CPU. Its arrays are immutable; its import copies."""

import signal

import pytest
from arrays import DTYPES, in_child, numbers, ours
from exchange import Exchange, library, load
from faults import ended_by

import refarray as xp
from refarray.testing import doubles
from refarray.testing.forge import Raw

mx = library("mlx.core", "mlx")

LIBRARY = "MLX"
ADAPTER = load("mlx")


class TestExchange(Exchange):
    adapter = ADAPTER
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


@pytest.mark.bug("docs/upstream/mlx.md")
def test_the_version_that_is_asked_for():
    """`max_version` is ignored: the capsule is always a legacy one."""
    t = TestExchange().theirs("float32")
    assert Raw(t.__dlpack__(max_version=(1, 3))).name == "dltensor"


@pytest.mark.bug(None)
def test_another_major_version():
    """A capsule of version 2.0, which may have any layout, is read as one of 1.x."""
    with doubles.producer("version (2, 0), ndim 2") as double:
        assert ADAPTER.read(ADAPTER.from_dlpack(double.array)) == [1, 2, 3, 4, 5, 6]


@pytest.mark.bug("docs/upstream/mlx.md")
def test_the_error_of_a_producer():
    """The error of a producer is hidden behind a TypeError."""
    double = doubles.producer("__dlpack__ raises BufferError")
    with pytest.raises(TypeError, match="incompatible function arguments"):
        mx.from_dlpack(double.array)


@pytest.mark.bug("docs/upstream/mlx.md")
def test_data_that_is_null():
    """Six elements at NULL end the process."""
    assert ended_by(ADAPTER, "data NULL with 6 elements") is signal.SIGSEGV


@pytest.mark.bug("docs/upstream/mlx.md")
def test_negative_extents():
    """A negative extent is taken, and ends the process when it is computed with."""
    result = in_child(
        "import mlx.core as mx\n"
        "from refarray.testing import doubles\n"
        "x = mx.from_dlpack(doubles.producer('shape (-1, 3)').array)\n"
        "print(x.shape, flush=True)\n"
        "mx.eval(x + 1)"
    )
    assert result.stdout == "(-1, 3)\n"
    assert result.returncode == -signal.SIGSEGV


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
