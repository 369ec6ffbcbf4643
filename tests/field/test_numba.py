"""The exchange with Numba, on the CPU and on its simulator of CUDA.

Numba compiles functions over NumPy's arrays, and has none of its own on the CPU: what
goes in is a view of NumPy over our memory, and what comes out is an array of NumPy in
memory of Numba's runtime.

Install: numba==0.68.1
Environment: NUMBA_ENABLE_CUDASIM=1
In CI: yes
"""

import ctypes

import numpy as np
import pytest
from arrays import DTYPES, LAYOUTS, address, numbers, ours, read_only, reads
from exchange import Exchange, library, load

import refarray as xp

numba = library("numba")
cuda = library("numba.cuda", "numba")

LIBRARY = "Numba"

simulated = pytest.mark.skipif(
    not numba.config.ENABLE_CUDASIM,
    reason="Numba simulates CUDA only if NUMBA_ENABLE_CUDASIM=1 was set in time",
)


@numba.njit
def same(a):
    return a


@numba.njit
def fresh(a):
    return a.copy()


@numba.njit
def double(a):
    a[...] = a + a


@numba.njit
def total(a):
    result = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            result += a[i, j]
    return result


class Numba(type(load("numpy"))):
    name = "numba"
    version = numba.__version__

    @staticmethod
    def from_dlpack(x, /, **keywords):
        return same(np.from_dlpack(x, **keywords))

    def make(self, values, shape, dtype):
        return fresh(np.asarray(values, dtype=dtype).reshape(shape))


class TestExchange(Exchange):
    """What a compiled function is given and returns."""

    adapter = Numba()
    takes = [name for name in DTYPES if name != "float16"]
    refusal = NotImplementedError
    read_only = "kept"
    gives_version = (1, 0)
    given_read_only = "kept"


@pytest.mark.works
@pytest.mark.parametrize("layout", [n for n in LAYOUTS if n != "0-d"])
def test_compiled_code_writes_into_our_memory(layout):
    """Compiled code writes into our memory, in every layout."""
    x = LAYOUTS[layout](ours())
    double(np.from_dlpack(x))
    assert reads(x).tolist() == (2 * LAYOUTS[layout](numbers())).tolist()


@pytest.mark.works
@pytest.mark.parametrize("name", ["int8", "uint64", "float32", "float64"])
def test_a_memoryview_is_compiled_too(name):
    """`memoryview(x)` can be indexed in compiled code, without NumPy between."""
    x = ours(name)[::2, ::-3]
    assert total(memoryview(x)) == numbers(name)[::2, ::-3].sum()


@pytest.mark.works
def test_our_array_itself_can_be_indexed():
    """An array of refarray can be indexed in compiled code; more is not known of it."""

    @numba.njit
    def swap(a):
        a[0, 1], a[3, 11] = a[3, 11], a[0, 1]

    x = ours()
    swap(x)
    assert (float(x[0, 1]), float(x[3, 11])) == (47.0, 1.0)
    with pytest.raises(numba.TypingError, match="Unknown attribute 'shape'"):
        total(x)


@pytest.mark.works
def test_an_address_is_enough():
    """A compiled callback in C takes the address of our memory."""

    @numba.cfunc("void(CPointer(float64), int64)")
    def add_one(pointer, size):
        values = numba.carray(pointer, (size,))
        for i in range(size):
            values[i] += 1

    x = ours()
    pointer = ctypes.cast(address(x), ctypes.POINTER(ctypes.c_double))
    add_one.ctypes(pointer, x.size)
    assert reads(x).tolist() == (numbers() + 1).tolist()


@pytest.mark.works
def test_results_come_back_without_a_copy(balance):
    """A compiled result lies in memory of Numba, which lives as long as our array."""

    @numba.njit
    def made(n):
        return np.arange(n) * 1.5

    numba.core.runtime._nrt_python.memsys_enable_stats()
    allocated = numba.core.runtime.rtsys.get_allocation_stats
    with balance:
        result = made(1000)
        before = allocated()
        x = xp.from_dlpack(result)
        assert address(x) == result.ctypes.data
        del result
        assert allocated().free == before.free
        assert float(x[999]) == 1498.5
        del x
        assert allocated().free == before.free + 1


@pytest.mark.refuses
def test_read_only_memory_stays_so():
    """Code that writes into our read-only memory is not compiled."""
    assert str(numba.typeof(np.from_dlpack(read_only()))).startswith("readonly")
    with pytest.raises(numba.TypingError, match="readonly array"):
        double(np.from_dlpack(read_only()))


@pytest.mark.refuses
@pytest.mark.parametrize("name", ["bool", "float16"])
def test_formats_without_a_type(name):
    """A `memoryview` of bool or float16: go through `np.from_dlpack`."""
    with pytest.raises(numba.core.errors.NumbaValueError, match="PEP 3118"):
        numba.typeof(memoryview(ours(name)))


@pytest.mark.refuses
def test_compiled_ufuncs():
    """Compiled ufuncs of our arrays, by refarray: an array of NumPy would come out."""

    @numba.vectorize(["float64(float64)"])
    def add_one(a):
        return a + 1

    x = ours()
    with pytest.raises(TypeError):
        add_one(x)
    add_one(np.from_dlpack(x), out=np.from_dlpack(x))
    assert reads(x).tolist() == (numbers() + 1).tolist()


@pytest.mark.works
@simulated
def test_kernels_of_the_simulator():
    """Kernels on the simulator of CUDA work in our memory on the CPU."""

    @cuda.jit
    def double(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] *= 2

    x = xp.reshape(ours(), (-1,))
    double[1, 64](np.from_dlpack(x))
    assert reads(x).tolist() == (2 * numbers().ravel()).tolist()


@pytest.mark.works
@simulated
def test_memory_of_the_simulator():
    """Its simulated device memory is exported as what it is, memory of the CPU."""
    array = cuda.to_device(numbers())
    x = xp.from_dlpack(array)
    assert x.device == xp.Device("cpu")
    x[1, 2] = 50.0
    assert array.copy_to_host()[1, 2] == 50.0
    copied = cuda.to_device(np.from_dlpack(ours()))
    assert copied.copy_to_host().tolist() == numbers().tolist()


@pytest.mark.refuses
@simulated
def test_the_interface_of_cuda_arrays_in_the_simulator():
    """`__cuda_array_interface__` in the simulator: its arrays have none, take none."""
    assert not hasattr(cuda.to_device(numbers()), "__cuda_array_interface__")
    assert not hasattr(cuda, "as_cuda_array")
    # Ours on the CPU have none either, so that nobody takes host memory for CUDA's.
    assert not hasattr(ours(), "__cuda_array_interface__")


@pytest.mark.bug("https://github.com/numba/numba/issues/4719")
def test_there_is_no_dlpack_in_compiled_code():
    """Compiled code knows no DLPack: a producer that is no buffer has no type."""

    class Exporter:
        def __init__(self, x):
            self.__dlpack__, self.__dlpack_device__ = x.__dlpack__, x.__dlpack_device__

    with pytest.raises(ValueError, match="Cannot determine Numba type"):
        numba.typeof(Exporter(ours()))
