"""Creation functions: dtypes, lengths and exact ends, and whose memory it is.

Cases that the standard leaves open are in tests/unspecified.
"""

import array
import ctypes
import math
import mmap

import numpy as np
import pytest

import refarray as xp

DTYPES = (
    xp.bool,
    xp.int8,
    xp.int16,
    xp.int32,
    xp.int64,
    xp.uint8,
    xp.uint16,
    xp.uint32,
    xp.uint64,
    xp.float32,
    xp.float64,
    xp.complex64,
    xp.complex128,
)


def numpy(x):
    assert type(x) is xp.Array
    return np.asarray(memoryview(x))


def values(x):
    return numpy(x).tolist()


# asarray of Python values ------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "dtype"),
    [
        (True, xp.bool),
        ([True, False], xp.bool),
        (2**62, xp.int64),
        ([1, True], xp.int64),
        (1.0, xp.float64),
        ([1, 2.5, False], xp.float64),
        (1j, xp.complex128),
        ([1j, 1.5, 1, True], xp.complex128),
        (((1, 2), [3, 4]), xp.int64),
        ([[[1.5]], [[2]]], xp.float64),
        (range(3), xp.int64),
    ],
)
def test_the_kinds_of_values_decide_the_dtype(given, dtype):
    x = xp.asarray(given)
    wanted = np.asarray(given)
    assert (x.dtype, x.shape) == (dtype, wanted.shape)
    assert values(x) == wanted.tolist()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_values_in_each_dtype(dtype):
    x = xp.asarray([[0, 1], [1, 0]], dtype=dtype)
    assert (x.dtype, x.shape) == (dtype, (2, 2))
    assert values(x) == [[0, 1], [1, 0]]
    assert values(xp.asarray([True, False], dtype=dtype)) == [1, 0]


def test_integers_are_exact():
    extremes = [-(2**63), 2**63 - 1, 2**53 + 1]
    assert values(xp.asarray(extremes)) == extremes
    unsigned = [2**64 - 1, 2**53 + 1, 0]
    assert values(xp.asarray(unsigned, dtype=xp.uint64)) == unsigned


def test_values_keep_their_signs_and_nans():
    x = numpy(xp.asarray([-0.0, math.nan, -math.inf]))
    assert math.copysign(1, x[0]) == -1
    assert math.isnan(x[1])
    assert x[2] == -math.inf
    assert values(xp.asarray(1e300, dtype=xp.float32)) == math.inf


# asarray of memory -------------------------------------------------------------------


@pytest.mark.parametrize("name", [*map(str, DTYPES), "float16"])
def test_numpy_memory_is_shared(name, balance):
    lent = np.ones((2, 3), name)
    with balance:
        for view in (
            lent,
            lent.T,
            lent[::-1, ::2],
            lent[1:, 1],
            lent[:, None],
            lent[0, 0:0],
        ):
            x = xp.asarray(view)
            assert (str(x.dtype), x.shape) == (name, view.shape)
            if view.size:
                assert numpy(x).ctypes.data == view.ctypes.data
                numpy(x)[...] = 0
                assert not view.any()
                view[...] = 1
                assert numpy(x).all()
            y = xp.asarray(view, copy=True)
            assert not np.shares_memory(numpy(y), view)
            assert numpy(y).tolist() == view.tolist()
            assert not view.size or np.shares_memory(
                numpy(xp.asarray(view, copy=False)), view
            )
        del x, y


def test_other_buffers_are_shared():
    integers = array.array("i", [1, 2, 3])
    c_longs = (ctypes.c_long * 3 * 2)()
    pages = mmap.mmap(-1, 16)
    for lent, dtype, shape in (
        (integers, xp.int32, (3,)),
        (memoryview(integers)[::-1], xp.int32, (3,)),
        (bytearray(b"ab"), xp.uint8, (2,)),
        (c_longs, xp.int64, (2, 3)),
        (ctypes.c_double(), xp.float64, ()),
        ((ctypes.c_bool * 2)(), xp.bool, (2,)),
        (pages, xp.uint8, (16,)),
    ):
        x = xp.asarray(lent)
        assert (x.dtype, x.shape) == (dtype, shape)
        numpy(x)[...] = 1
        assert numpy(xp.asarray(lent)).all()
        assert x._buffer.kind == "exporter"
    assert integers.tolist() == [1, 1, 1]
    assert [list(row) for row in c_longs] == [[1] * 3] * 2
    del x, lent
    pages.close()  # refused while its memory is lent


@pytest.mark.parametrize("letter", "?bBhHiIlLqQnNfd")
def test_formats_of_the_struct_module(letter):
    lent = memoryview(bytearray(16)).cast(letter)
    x = xp.asarray(lent)
    assert x.dtype.bits == 8 * lent.itemsize
    kind = {"?": "bool", "f": "real floating", "d": "real floating"}.get(
        letter, "signed integer" if letter.islower() else "unsigned integer"
    )
    assert x.dtype.family == kind
    assert np.asarray(lent).dtype == numpy(x).dtype


class OnlyDLPack:
    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **keywords):
        return self.x.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


def test_objects_with_dlpack_only():
    lent = np.arange(3.0)
    x = xp.asarray(OnlyDLPack(lent))
    x[0] = 5
    assert lent[0] == 5
    y = xp.asarray(OnlyDLPack(lent), copy=True)
    z = xp.asarray(OnlyDLPack(lent), dtype=xp.float32)
    lent[0] = 7
    assert (values(y)[0], values(z)[0]) == (5, 5)
    assert z.dtype is xp.float32
    with pytest.raises(ValueError, match="copy=False"):
        xp.asarray(OnlyDLPack(lent), dtype=xp.float32, copy=False)


def test_own_arrays():
    x = xp.asarray([1.0, 2.0])
    assert xp.asarray(x) is x
    assert xp.asarray(x, dtype=xp.float64, copy=False, device=x.device) is x
    y = xp.asarray(x, copy=True)
    z = xp.asarray(x, dtype=xp.float32)
    x[0] = 5
    assert (values(y), values(z)) == ([1, 2], [1, 2])
    with pytest.raises(ValueError, match="copy=False"):
        xp.asarray(x, dtype=xp.float32, copy=False)


def test_arguments_of_the_wrong_type():
    for refused in (
        lambda: xp.asarray(1, dtype="float64"),
        lambda: xp.asarray(1, dtype=float),
        lambda: xp.asarray(1, device="cpu"),
        lambda: xp.asarray(1, copy=1),
        lambda: xp.zeros(2, dtype=np.float64),
        lambda: xp.zeros(2, device="cpu"),
        lambda: xp.zeros_like(np.zeros(2)),
        lambda: xp.arange("1"),
        lambda: xp.arange(True),
        lambda: xp.arange(1j),
        lambda: xp.linspace(0, 1, 2.0),
        lambda: xp.linspace(0, 1, True),
        lambda: xp.eye(2.0),
        lambda: xp.full(2, [1, 2]),
        lambda: xp.tril([[1]]),
    ):
        with pytest.raises(TypeError):
            refused()


# A shape and a value -----------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), 3, (0,), (2, 0, 3), (2, 3), (1,) * 8])
def test_filled_arrays(shape, dtype):
    wanted = np.zeros(shape, str(dtype))
    cpu = xp.Device("cpu")
    for x, value in (
        (xp.zeros(shape, dtype=dtype, device=cpu), 0),
        (xp.ones(shape, dtype=dtype, device=cpu), 1),
        (xp.full(shape, 1, dtype=dtype, device=cpu), 1),
        (xp.empty(shape, dtype=dtype, device=cpu), None),
    ):
        assert (x.shape, x.dtype, x.device) == (wanted.shape, dtype, cpu)
        assert value is None or values(x) == np.full_like(wanted, value).tolist()
        for like in (
            xp.zeros_like(x),
            xp.ones_like(x),
            xp.empty_like(x),
            xp.full_like(x, 1),
        ):
            assert (like.shape, like.dtype, like.device) == (x.shape, dtype, cpu)
    assert values(xp.zeros_like(xp.ones(shape), dtype=dtype)) == wanted.tolist()
    assert xp.ones_like(xp.ones(shape), dtype=dtype).dtype is dtype


def test_default_dtypes():
    for function in (xp.empty, xp.zeros, xp.ones):
        assert function(1).dtype is xp.float64
    for value, dtype in (
        (True, xp.bool),
        (1, xp.int64),
        (1.0, xp.float64),
        (1j, xp.complex128),
    ):
        assert xp.full(1, value).dtype is dtype
    assert xp.full_like(xp.ones(1, dtype=xp.float32), 1).dtype is xp.float32


def test_negative_and_excessive_sizes():
    for shape in (-1, (2, -1)):
        with pytest.raises(ValueError, match="negative"):
            xp.zeros(shape)
    with pytest.raises(ValueError, match=r"2\*\*63 - 1 bytes"):
        xp.zeros((2**40, 2**40))
    for refused in (
        lambda: xp.zeros(2**63),
        lambda: xp.zeros((0, 2**70)),
        lambda: xp.arange(2**63),
        lambda: xp.linspace(0, 1, 2**63),
        lambda: xp.repeat(xp.ones(3), 2**62),
        lambda: xp.tile(xp.ones(3), (2**70,)),
    ):
        with pytest.raises(ValueError, match="exceeds"):
            refused()
    for refused in (
        lambda: xp.empty(2**50),
        lambda: xp.arange(2**50),
        lambda: xp.linspace(0, 1, 2**50),
    ):
        with pytest.raises(MemoryError, match=str(8 * 2**50)):
            refused()


# Ranges ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "stop", "step"),
    [
        *((0, 5, 1), (5, 0, -1), (0, 5, -1), (2, 2, 1), (0, -10, -3), (-7, 8, 5)),
        *((0, 1, 0.1), (1.0, 0.0, -0.1), (0.0, 1.001, 0.001), (1250, 1350.005, 0.005)),
        *((0.5, 3, 1), (0, 901 * 0.001, 0.001), (1e16, 1e16 + 8, 2.0)),
    ],
)
def test_arange(start, stop, step):
    x = values(xp.arange(start, stop, step))
    assert len(x) == max(0, math.ceil((stop - start) / step))
    assert x == pytest.approx([start + i * step for i in range(len(x))], rel=1e-15)


def test_arange_of_one_bound():
    assert values(xp.arange(3)) == [0, 1, 2]
    assert values(xp.arange(2.5)) == [0, 1, 2]
    assert values(xp.arange(-3)) == []


def test_dtypes_of_arange():
    assert xp.arange(3).dtype is xp.int64
    for bounds in ((3.0,), (0, 3.0), (0, 3, 1.0)):
        assert xp.arange(*bounds).dtype is xp.float64
    for dtype in DTYPES[1:]:
        x = xp.arange(5, 0, -2, dtype=dtype)
        assert (x.dtype, values(x)) == (dtype, [5, 3, 1])
        assert xp.arange(0, 1, 0.25, dtype=dtype).shape == (4,)
    end = 2**64
    assert values(xp.arange(end - 3, end, 2, dtype=xp.uint64)) == [end - 3, end - 1]
    assert values(xp.arange(-128, 128, 85, dtype=xp.int8)) == [-128, -43, 42, 127]
    assert values(xp.arange(2**62, 2**62 + 2)) == [2**62, 2**62 + 1]


def test_linspace():
    assert values(xp.linspace(0, 1, 5)) == [0, 0.25, 0.5, 0.75, 1]
    assert values(xp.linspace(0, 1, 4, endpoint=False)) == [0, 0.25, 0.5, 0.75]
    assert values(xp.linspace(3, -1, 3)) == [3, 1, -1]
    assert values(xp.linspace(3, 5, 1)) == [3]
    assert values(xp.linspace(3, 5, 0)) == []
    assert values(xp.linspace(1 + 1j, 3, 3)) == [1 + 1j, 2 + 0.5j, 3]
    for start, stop in ((0, 0.1), (0.1, 0.7), (1e-300, 1e300), (-0.0, 3)):
        x = values(xp.linspace(start, stop, 50))
        assert (x[0], x[-1]) == (start, stop)
        assert math.copysign(1, x[0]) == math.copysign(1, start)
        assert x == pytest.approx(np.linspace(start, stop, 50).tolist(), rel=1e-14)
    assert xp.linspace(0, 1, 3).dtype is xp.float64
    assert xp.linspace(0, 1j, 3).dtype is xp.complex128
    for dtype in DTYPES[9:]:
        x = xp.linspace(0, 1, 3, dtype=dtype)
        assert (x.dtype, values(x)) == (dtype, [0, 0.5, 1])
    with pytest.raises(ValueError, match="from 0 up"):
        xp.linspace(0, 1, -1)


# Matrices ----------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (4, 2), (0, 3), (3, 0), (1, 1)])
def test_diagonals_and_triangles(shape):
    x = xp.reshape(xp.arange(1.0, shape[0] * shape[1] + 1), shape)
    stack = xp.stack([x, xp.flip(x)])
    for k in range(-5, 6):
        assert values(xp.eye(*shape, k=k)) == np.eye(*shape, k=k).tolist()
        for y in (x, stack, xp.matrix_transpose(x), x[::-1, ::-1]):
            a = numpy(y)
            assert values(xp.tril(y, k=k)) == np.tril(a, k).tolist()
            assert values(xp.triu(y, k=k)) == np.triu(a, k).tolist()
    assert xp.eye(3, dtype=xp.complex64).dtype is xp.complex64


def test_triangles_of_nan():
    x = xp.full((2, 2), math.nan)
    assert values(xp.tril(x))[0][1] == values(xp.triu(x))[1][0] == 0


def test_meshgrid():
    x, y, z = xp.arange(3), xp.arange(2), xp.arange(4)
    for arrays in ((), (x,), (x, y), (x, y, z), (x[::-1], y, z[::2])):
        for indexing in ("xy", "ij"):
            grids = xp.meshgrid(*arrays, indexing=indexing)
            assert type(grids) is tuple
            wanted = np.meshgrid(*map(numpy, arrays), indexing=indexing)
            assert [values(g) for g in grids] == [w.tolist() for w in wanted]
            assert [g.shape for g in grids] == [w.shape for w in wanted]
    with pytest.raises(ValueError, match="indexing"):
        xp.meshgrid(x, y, indexing="yx")


def test_new_memory_is_aligned():
    for x in (
        xp.asarray([1]),
        xp.asarray(np.ones(3), copy=True),
        xp.arange(3),
        xp.linspace(0, 1, 3),
        xp.eye(3),
        xp.tril(xp.ones((2, 2))),
        *xp.meshgrid(xp.arange(3), xp.arange(3)),
        xp.nonzero(xp.ones(3))[0],
        xp.unique_values(xp.ones(3)),
    ):
        assert x._buffer.kind == "host"
        assert numpy(x).ctypes.data % 64 == 0
