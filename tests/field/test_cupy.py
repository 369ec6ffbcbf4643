"""The exchange with CuPy: on a GPU where there is one, else what can be said without.

tests/gpu/check_gpu.py checks more on a GPU: layouts, streams, lifetimes, speed.

Install: cupy-cuda12x==14.2.0
"""

import numpy as np
import pytest
from arrays import DTYPES, numbers, ours
from exchange import library

import refarray as xp
from refarray.testing.forge import Tensor
from refarray.testing.producers import Producer

cupy = library("cupy")

LIBRARY = "CuPy"
VERSION = cupy.__version__

HAS_GPU = cupy.cuda.is_available()
DIRECTIONS = "both" if HAS_GPU else "none"

on_a_gpu = pytest.mark.skipif(not HAS_GPU, reason="CuPy finds no GPU")
without_gpu = pytest.mark.skipif(HAS_GPU, reason="there is a GPU")

#: An address that is nobody's.
NOWHERE = 0x7F0000001000


def unowned():
    """Return an array of CuPy's over an address, of which no driver knows."""
    memory = cupy.cuda.UnownedMemory(NOWHERE, 4096, object(), device_id=0)
    return cupy.ndarray((2, 3), np.float32, cupy.cuda.MemoryPointer(memory, 0))


def forged(version):
    """Return a producer that says its memory lies on CUDA device 0."""
    tensor = Tensor(NOWHERE, (2, 3), (3, 1), (2, 32, 1), (2, 0), version=version)
    return Producer(tensor)


@on_a_gpu
@pytest.mark.works
@pytest.mark.parametrize("name", DTYPES)
def test_every_type_both_ways(name):
    """On a GPU, every data type is shared in both directions."""
    x = xp.asarray(numbers(name), device=xp.Device("cuda:0"), copy=True)
    a = cupy.from_dlpack(x)
    assert a.data.ptr == x._buffer.address
    assert cupy.asnumpy(a).tolist() == numbers(name).tolist()
    y = xp.from_dlpack(cupy.asarray(numbers(name)))
    assert y.device == xp.Device("cuda:0")
    back = np.from_dlpack(y.to_device(xp.Device("cpu")))
    assert back.tolist() == numbers(name).tolist()


@pytest.mark.refuses
def test_memory_of_the_cpu(balance):
    """Memory of the CPU, in words that say what to do instead."""
    with balance, pytest.raises(TypeError, match="CPU arrays cannot be directly"):
        cupy.from_dlpack(ours())


@pytest.mark.refuses
@pytest.mark.filterwarnings("ignore:This function is deprecated")
def test_capsules_of_memory_of_the_cpu(balance):
    """Bare capsules of memory of the CPU."""
    with balance, pytest.raises(RuntimeError, match="different from the backend"):
        cupy.fromDlpack(ours().__dlpack__())


@without_gpu
@pytest.mark.works
@pytest.mark.parametrize("version", [None, (1, 0)])
def test_a_consumer_without_a_driver(version):
    """Without a driver it cannot take memory of a GPU, and gives back what it asked."""
    producer = forged(version)
    with pytest.raises(RuntimeError, match="cudaErrorInsufficientDriver"):
        cupy.from_dlpack(producer)
    assert set(producer.deleter_calls) <= {1}


@without_gpu
@pytest.mark.works
def test_an_export_without_a_driver():
    """Nor can it export: what it says, refarray hands on unchanged."""
    error = type(error_of(lambda: unowned().__dlpack__(max_version=(1, 0))))
    for call in (
        lambda: xp.from_dlpack(unowned()),
        lambda: xp.from_dlpack(unowned(), copy=True),
        lambda: xp.from_dlpack(unowned(), device=xp.Device("cpu")),
    ):
        with pytest.raises(error, match="cudaErrorInsufficientDriver"):
            call()


def error_of(call):
    with pytest.raises(RuntimeError) as caught:
        call()
    return caught.value
