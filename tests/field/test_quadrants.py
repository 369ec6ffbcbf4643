"""The exchange with Quadrants, a successor of Taichi, on the CPU.

Its arrays and fields have `to_dlpack()`, which gives a bare capsule; what it takes, it
takes from NumPy.

Install: quadrants==1.3.3
"""

import numpy as np
import pytest
from arrays import numbers, ours, read_only, reads
from exchange import Gives, library

import refarray as xp
from refarray.dlpack import from_capsule
from refarray.testing.adapters import Adapter
from refarray.testing.forge import Raw

qd = library("quadrants")

LIBRARY = "Quadrants"
DIRECTIONS = "both"

TYPES = {
    **{"int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64"},
    **{"uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64"},
    **{"float16": "f16", "float32": "f32", "float64": "f64", "bool": "u1"},
}


@pytest.fixture(scope="module", autouse=True)
def runtime():
    qd.init(arch=qd.cpu, log_level=qd.ERROR)
    yield
    qd.reset()


@qd.kernel
def double(a: qd.types.ndarray()):
    for i in qd.grouped(a):
        a[i] = a[i] * 2


class Quadrants(Adapter):
    name = "quadrants"
    version = ".".join(map(str, qd.__version__))
    dtypes = list(TYPES)

    def __init__(self, kind):
        self.kind = kind

    def make(self, values, shape, dtype):
        array = self.kind(getattr(qd, TYPES[dtype]), shape)
        array.from_numpy(np.asarray(values, dtype).reshape(shape))
        return array

    def read(self, array):
        return array.to_numpy().ravel().tolist()

    def write(self, array, value):
        array.fill(value)


class TestNdarray(Gives):
    """Its `ndarray`."""

    adapter = Quadrants(qd.ndarray)
    gives = ["bool", "int32", "int64", "float32", "float64"]
    given_refusal = RuntimeError
    given_layouts = ["compact"]  # it has no views
    gives_version = "legacy"

    def export(self, array):
        return array.to_dlpack()

    def give(self, array, **keywords):
        return from_capsule(self.export(array), **keywords)

    # Bare capsules: no device to ask for, and no copy.
    test_the_device_is_that_of_the_capsule = None
    test_gives_copies_on_request = None


class TestField(TestNdarray):
    """Its `field`."""

    adapter = Quadrants(qd.field)
    # A field lives as long as the runtime.
    test_its_memory_lives_as_long_as_it_is_held_here = None


@pytest.mark.works
def test_versioned_capsules():
    """`to_dlpack(versioned=True)` gives a versioned capsule, of DLPack 1.2."""
    array = TestNdarray.adapter.make(range(6), (2, 3), "float64")
    capsule = array.to_dlpack(versioned=True)
    assert (Raw(capsule).version, Raw(capsule).flags) == ((1, 2), 0)
    x = from_capsule(capsule)
    x[1, 2] = 50.0
    assert array[1, 2] == 50.0


@pytest.mark.works
def test_vectors_matrices_and_scalars():
    """Vectors and matrices get axes of their own; arrays without axes have none."""
    for make, shape in (
        (lambda: qd.Vector.ndarray(3, qd.f32, (4,)), (4, 3)),
        (lambda: qd.Vector.field(3, qd.f32, (4,)), (4, 3)),
        (lambda: qd.Matrix.ndarray(3, 2, qd.f32, (4,)), (4, 3, 2)),
        (lambda: qd.ndarray(qd.f64, ()), ()),
        (lambda: qd.field(qd.f64, ()), ()),
    ):
        array = make()
        x = from_capsule(array.to_dlpack())
        assert x.shape == shape
        x[...] = 2.0
        assert np.all(array.to_numpy() == 2.0)


@pytest.mark.works
@pytest.mark.parametrize("name", ["int32", "int64", "uint8", "float32", "float64"])
def test_kernels_write_into_our_memory(name):
    """Kernels write into our memory, through `np.from_dlpack(x)`."""
    x = ours(name)
    double(np.from_dlpack(x))
    assert reads(x).tolist() == (2 * numbers(name)).tolist()


@pytest.mark.works
def test_kernels_write_into_both():
    """What a kernel writes into its own array is seen in ours."""
    array = TestNdarray.adapter.make(range(6), (2, 3), "float64")
    x = from_capsule(array.to_dlpack())
    double(array)
    assert reads(x).tolist() == [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]


@pytest.mark.refuses
def test_objects_without_the_protocol():
    """Its arrays instead of capsules, by refarray; ours instead of NumPy's, by it."""
    array = TestNdarray.adapter.make(range(48), (4, 12), "float64")
    with pytest.raises(AttributeError, match="lacks them"):
        xp.from_dlpack(array)
    with pytest.raises(TypeError, match=r"numpy\.ndarray"):
        array.from_numpy(ours())
    with pytest.raises(Exception, match="Unknown type"):
        double(ours())


@pytest.mark.refuses
def test_views_that_are_not_compact():
    """Arrays that are not compact, by its kernels, and empty ones of its own."""
    with pytest.raises(ValueError, match="Non contiguous"):
        double(np.from_dlpack(ours()[::2, :]))
    with pytest.raises(qd.lang.exception.QuadrantsRuntimeError, match="valid shape"):
        qd.ndarray(qd.f64, (0, 12))


@pytest.mark.bug(None)
def test_fields_that_are_made_together():
    """Of fields that are made together only the first is exported without torch."""
    # The others have a byte offset; it asks torch whether torch could read that.
    first, second = qd.field(qd.f64, (3,)), qd.field(qd.f64, (3,))
    assert Raw(first.to_dlpack()).byte_offset == 0
    with pytest.raises(ModuleNotFoundError, match="requires torch"):
        second.to_dlpack()


@pytest.mark.bug(None)
def test_kernels_write_into_read_only_memory():
    """A kernel writes into memory that NumPy says is read-only."""
    x = read_only()
    double(np.from_dlpack(x))
    assert reads(x).tolist() == (2 * numbers()).tolist()
