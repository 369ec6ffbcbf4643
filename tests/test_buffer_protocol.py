"""The buffer protocol: memory for `memoryview`, `bytes` and `numpy.asarray`."""

import ctypes
import hashlib
import itertools

import numpy as np
import pytest

import refarray as xp
from refarray import profiles
from refarray._base import dtypes


def array(values, dtype=None):
    return xp.from_dlpack(np.array(values, dtype))


def values(x):
    return np.from_dlpack(x).tolist()


@pytest.mark.parametrize("name", [str(d) for d in dtypes.STANDARD] + ["float16"])
def test_numpy_reads_the_same_memory_with_the_same_dtype(name):
    x = xp.from_dlpack(np.arange(12).reshape(3, 4).astype(name))[::-1, 1::2]
    a = np.asarray(x)
    assert a.dtype == np.dtype(name)
    assert a.dtype.char == np.dtype(name).char
    assert np.shares_memory(a, np.from_dlpack(x))
    assert a.tolist() == values(x)


def test_a_memoryview_has_shape_strides_and_format():
    view = memoryview(xp.from_dlpack(np.arange(12, dtype="int32").reshape(3, 4)).T)
    assert (view.shape, view.strides, view.format) == ((4, 3), (4, 16), "i")
    assert (view.itemsize, view.nbytes, view.readonly) == (4, 48, False)
    assert view.f_contiguous
    assert not view.c_contiguous
    assert view.tolist() == np.arange(12).reshape(3, 4).T.tolist()


def test_a_consumer_without_strides_gets_compact_arrays_only():
    x = xp.from_dlpack(np.arange(6, dtype="uint8").reshape(2, 3))
    assert bytes(x) == b"".join(bytes(row) for row in x) == bytes(range(6))
    target = bytearray(6)
    memoryview(target).cast("B")[:] = memoryview(x).cast("B")
    assert bytes(target) == bytes(range(6))
    with pytest.raises(BufferError, match="strided"):
        hashlib.sha256(x.T)


class Buffer(ctypes.Structure):
    """Py_buffer, as in CPython's stable ABI."""

    _fields_ = [
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.py_object),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    ]


def described(exporter, flags):
    """Return what a consumer with these flags is told; None for a BufferError."""
    view = Buffer()
    api = ctypes.pythonapi
    try:
        api.PyObject_GetBuffer(ctypes.py_object(exporter), ctypes.byref(view), flags)
    except BufferError:
        return None
    n = view.ndim
    told = {
        "len": view.len,
        "itemsize": view.itemsize,
        "ndim": n,
        "format": view.format,
        "shape": view.shape[:n] if view.shape else None,
        "strides": view.strides[:n] if view.strides else None,
    }
    api.PyBuffer_Release(ctypes.byref(view))
    return told


@pytest.mark.parametrize("shape", [(2, 3), (6,), (), (1, 6, 1)])
@pytest.mark.parametrize("transposed", [False, True])
def test_a_consumer_is_told_what_it_asks_for(shape, transposed):
    # CPython's own exporter says what is right. Without a shape a buffer has one
    # dimension: PyMemoryView_FromBuffer reads as many extents as there are dimensions.
    a = np.arange(np.prod(shape), dtype="int16").reshape(shape)
    a = a.T if transposed else a
    x = xp.from_dlpack(a)
    writable, form, nd, strides = 0x1, 0x4, 0x8, 0x18
    layouts = (0, nd, strides, strides | 0x20, strides | 0x40, strides | 0x80)
    for layout, *parts in itertools.product(layouts, (0, form), (0, writable)):
        flags = layout | sum(parts)
        if parts[0] and not layout & nd:
            continue  # a format without a shape: exporters disagree
        assert described(x, flags) == described(memoryview(a), flags), hex(flags)


@pytest.mark.parametrize("convert", [np.asarray, xp.Array.__array__])
def test_what_is_done_to_a_numpy_array_does_not_change_this_one(convert):
    x = array([1.0, 2.0])
    a = convert(x)
    a.flags.writeable = False
    x += 1
    assert (a.tolist(), values(x + x)) == ([2, 3], [4, 6])
    with pytest.raises(ValueError, match="WRITEABLE"):
        convert(xp.broadcast_to(x, (3, 2))).flags.writeable = True


def test_a_view_outlives_its_array():
    x = array([1.0, 2.0]) + 1.0
    view = memoryview(x)
    del x
    assert view.tolist() == [2.0, 3.0]


def test_empty_and_zero_dimensional():
    assert memoryview(array(np.zeros((0, 3)))).shape == (0, 3)
    assert memoryview(array(5)).tolist() == 5
    assert np.asarray(array(np.zeros((0, 3)))).shape == (0, 3)


def test_a_library_without_the_dtype_converts_what_it_reads():
    a = np.asarray([[1.5, -2.0], [3e9, np.nan]])[:, ::-1]
    with profiles.use("jax32"):
        x = xp.asarray(a, dtype=xp.float32)
        assert x.dtype is xp.float32
        assert np.array_equal(np.asarray(x), a.astype("float32"), equal_nan=True)
        with pytest.raises(ValueError, match="does not support float64"):
            xp.asarray(a)
        with pytest.raises(ValueError, match="copy=False"):
            xp.asarray(a, dtype=xp.float32, copy=False)
        with pytest.raises(TypeError, match="which part is meant"):
            xp.asarray(a + 1j, dtype=xp.float32)
        i = np.asarray([1, 2])
        for copy in (None, True):
            assert xp.asarray(i, dtype=xp.int32, copy=copy).dtype is xp.int32
    with profiles.use("jax32+gpu"):
        x = xp.asarray(a, dtype=xp.float32)
        assert (x.device.name, x.dtype) == ("gpu", xp.float32)
        assert len(profiles.active().transferred) == 1
    with profiles.use("jax32+pedantic"):
        with pytest.raises(profiles.UnspecifiedError, match="does not promote"):
            xp.asarray(a, dtype=xp.float32)
