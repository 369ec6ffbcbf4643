"""The exchange with Taichi, on the CPU.

Taichi has no DLPack. Its kernels work in memory of NumPy without a copy, and its own
arrays are copied to NumPy's and from them.

Install: taichi==1.7.4
"""

import numpy as np
import pytest
from arrays import address, numbers, ours, read_only, reads
from exchange import library

import refarray as xp

ti = library("taichi")

LIBRARY = "Taichi"
VERSION = ".".join(map(str, ti.__version__))
DIRECTIONS = "both"

TYPES = {
    **{"int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64"},
    **{"uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64"},
    **{"float16": "f16", "float32": "f32", "float64": "f64", "bool": "u1"},
}


@pytest.fixture(scope="module", autouse=True)
def runtime():
    ti.init(arch=ti.cpu, log_level=ti.ERROR)
    yield
    ti.reset()


@ti.kernel
def double(a: ti.types.ndarray()):
    for i in ti.grouped(a):
        a[i] = a[i] * 2


@ti.kernel
def number(a: ti.types.ndarray()):
    for i, j in a:
        a[i, j] = 100 * i + j


def theirs(name="float64"):
    array = ti.ndarray(getattr(ti, TYPES[name]), (4, 12))
    array.from_numpy(numbers(name))
    return array


@pytest.mark.works
@pytest.mark.parametrize("name", ["int32", "int64", "uint8", "float32", "float64"])
def test_kernels_write_into_our_memory(name):
    """Kernels write into our memory, through `np.from_dlpack(x)`."""
    x = ours(name)
    double(np.from_dlpack(x))
    assert reads(x).tolist() == (2 * numbers(name)).tolist()


@pytest.mark.works
def test_kernels_on_parts_of_our_memory(balance):
    """Rows and reshaped arrays are compact, and shared too."""
    with balance:
        x = ours()
        double(np.from_dlpack(x[2:, :]))
        double(np.from_dlpack(xp.reshape(x, (-1,))))
        assert reads(x).tolist() == [
            *(2 * numbers()[:2]).tolist(),
            *(4 * numbers()[2:]).tolist(),
        ]
        del x


@pytest.mark.works
def test_columns():
    """A transposed array is given to the kernel as a copy, which is copied back."""
    x = ours()
    number(np.from_dlpack(x.T))
    expected = 100 * np.arange(12)[:, None] + np.arange(4)
    assert reads(x).T.tolist() == expected.tolist()


@pytest.mark.works
@pytest.mark.parametrize("name", TYPES)
def test_arrays_are_copied_into_ours_and_back(name):
    """Arrays of Taichi are copied in both directions, through `to_numpy`."""
    copied = theirs(name).to_numpy()
    x = xp.from_dlpack(copied)
    assert str(x.dtype) == name
    assert address(x) == copied.ctypes.data
    assert reads(x).tolist() == numbers(name).tolist()
    back = ti.ndarray(getattr(ti, TYPES[name]), (4, 12))
    back.from_numpy(np.from_dlpack(x))
    assert back.to_numpy().tolist() == numbers(name).tolist()


@pytest.mark.works
def test_fields():
    """Fields, also those of vectors, are copied in the same way."""
    field = ti.field(ti.f64, (4, 12))
    field.from_numpy(np.from_dlpack(ours()))
    assert reads(xp.from_dlpack(field.to_numpy())).tolist() == numbers().tolist()
    vectors = ti.Vector.field(3, ti.f32, (4,))
    vectors.from_numpy(np.from_dlpack(ours("float32")[:, 1:4]))
    x = xp.from_dlpack(vectors.to_numpy())
    assert reads(x).tolist() == numbers("float32")[:, 1:4].tolist()


@pytest.mark.refuses
def test_its_arrays_in_refarray():
    """Its arrays and fields, by refarray: they have none of the protocols."""
    for array in (theirs(), ti.field(ti.f64, (2,))):
        with pytest.raises(AttributeError, match="lacks them"):
            xp.from_dlpack(array)
        with pytest.raises(TypeError, match="buffer protocol or __dlpack__"):
            xp.asarray(array)


@pytest.mark.refuses
def test_our_arrays_in_taichi():
    """Our arrays themselves, by Taichi: it asks for NumPy's."""
    with pytest.raises(TypeError, match=r"numpy\.ndarray"):
        theirs().from_numpy(ours())
    with pytest.raises(Exception, match="Unknown type"):
        double(ours())


@pytest.mark.refuses
def test_views_that_are_not_compact():
    """Arrays that are not compact, by its kernels."""
    with pytest.raises(ValueError, match="Non contiguous"):
        double(np.from_dlpack(ours()[::2, :]))


@pytest.mark.bug(None)
def test_kernels_write_into_read_only_memory():
    """A kernel writes into memory that NumPy says is read-only."""
    x = read_only()
    double(np.from_dlpack(x))
    assert reads(x).tolist() == (2 * numbers()).tolist()


@pytest.mark.bug("https://github.com/taichi-dev/taichi/issues/4534")
def test_there_is_no_dlpack():
    """There is no DLPack, so that its own arrays cannot be shared."""
    assert not hasattr(theirs(), "to_dlpack")
    assert not hasattr(theirs(), "__dlpack__")
