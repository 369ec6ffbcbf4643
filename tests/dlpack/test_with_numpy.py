"""The exchange with NumPy, both ways: dtypes, layouts, flags, memory."""

import math
from enum import Enum

import numpy as np
import pytest

import refarray as xp
from refarray._base import dtypes
from refarray._memory.native import ffi
from refarray.dlpack import Tensor, from_capsule, to_capsule
from refarray.dlpack.structs import Flags, managed_tensor

NAMES = [str(dtype) for dtype in (*dtypes.STANDARD, dtypes.float16)]

LAYOUTS = {
    "compact": lambda a: a,
    "strided": lambda a: a[::2, 1::3],
    "reversed": lambda a: a[::-1, ::-2],
    "transposed": lambda a: a.T,
    "offset": lambda a: a[2:, 3:],
    "0-d": lambda a: a[1, 2],
    "empty": lambda a: a[:0],
    "new axes": lambda a: a[None, :, None, :],
    "one row": lambda a: a[1:2, ::4],
    "eight axes": lambda a: a.reshape(1, 2, 2, 1, 2, 1, 3, 2)[..., ::-1],
    "broadcast": lambda a: np.broadcast_to(a[0, 0:1], (3, 5)),
}


def numbers(name):
    """Return 4 x 12 values which every dtype of that name can hold."""
    values = np.arange(48).reshape(4, 12) % 100
    if name == "bool":
        return values % 3 == 0
    if name.startswith("complex"):
        return (values + 1j * values[::-1]).astype(name)
    return values.astype(name)


def address(a):
    return a.__array_interface__["data"][0]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", NAMES)
def test_import_shares_every_dtype_and_layout(name, layout):
    a = np.asarray(LAYOUTS[layout](numbers(name)))
    if layout == "0-d":
        a = numbers(name)[1:2, 2:3].reshape(())
    x = xp.from_dlpack(a)
    assert (x.shape, str(x.dtype), x.ndim, x.size) == (a.shape, name, a.ndim, a.size)
    back = np.from_dlpack(x)
    assert back.dtype == a.dtype
    np.testing.assert_array_equal(back, a)
    assert x._read_only is not a.flags.writeable
    if a.size:
        assert address(back) == address(a)
        # The stride of an axis of length 1 means nothing, and is made compact.
        for extent, ours, theirs in zip(a.shape, back.strides, a.strides, strict=True):
            assert extent == 1 or ours == theirs


@pytest.mark.parametrize("name", NAMES)
def test_writes_are_seen_on_both_sides(name):
    a = numbers(name)
    x = xp.from_dlpack(a)[1:, ::2]
    b = np.from_dlpack(x)
    assert not a[3, 2] == a[2, 0] or name == "bool"
    a[3, 2] = a[2, 0]
    assert b[2, 1] == a[2, 0]
    b[0, 0] = b[2, 3]
    assert a[1, 0] == a[3, 6]


def test_bfloat16_is_held_and_passed_on():
    # NumPy has no bfloat16; relabel a capsule of 16-bit integers. 1.5 is 0x3fc0.
    capsule = to_capsule(xp.from_dlpack(np.array([0x3FC0, 0xC000], np.uint16)))
    managed_tensor(capsule)[1].dl_tensor.dtype.code = 4
    x = from_capsule(capsule)
    assert x.dtype is dtypes.bfloat16
    assert repr(x) == "Array([ 1.5, -2. ], dtype=refarray.bfloat16)"
    _, managed = managed_tensor(onward := to_capsule(x, max_version=(1, 0)))
    dtype = managed.dl_tensor.dtype
    assert (dtype.code, dtype.bits, dtype.lanes) == (4, 16, 1)
    del onward
    with pytest.raises(TypeError, match="bfloat16 is data that refarray holds"):
        x + x
    with pytest.raises(BufferError, match="bfloat16"):
        memoryview(x)
    with pytest.raises(TypeError, match="bfloat16"):
        np.asarray(x)


@pytest.mark.parametrize(
    ("code", "bits", "lanes"),
    [
        (4, 32, 1),
        (10, 8, 1),
        (17, 4, 1),
        (3, 64, 1),
        (0, 24, 1),
        (2, 32, 4),
        (2, 32, 0),
    ],
)
def test_other_types_are_refused_with_code_bits_and_lanes(code, bits, lanes):
    capsule = to_capsule(xp.from_dlpack(np.zeros(8)))
    dtype = managed_tensor(capsule)[1].dl_tensor.dtype
    dtype.code, dtype.bits, dtype.lanes = code, bits, lanes
    with pytest.raises(
        BufferError, match=f"type code {code} with {bits} bits and {lanes} lanes"
    ):
        from_capsule(capsule)


def test_read_only_memory_stays_read_only():
    a = np.arange(3.0)
    a.flags.writeable = False
    x = xp.from_dlpack(a)
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        x += 1.0
    assert memoryview(x).readonly
    assert not np.from_dlpack(x).flags.writeable
    assert not np.from_dlpack(x[1:]).flags.writeable, "so is a view of it"
    with pytest.raises(BufferError, match="legacy capsule cannot say so"):
        x.__dlpack__()
    capsule = x.__dlpack__(max_version=(1, 0))
    assert managed_tensor(capsule)[1].flags == Flags.READ_ONLY
    assert a.tolist() == [0.0, 1.0, 2.0]


def test_legacy_imports_are_writable():
    a = np.arange(3.0)
    x = from_capsule(a.__dlpack__())
    x[1] = 5.0
    assert a.tolist() == [0.0, 5.0, 2.0]


@pytest.mark.parametrize("max_version", [None, (0, 8), (1, 0), (1, 3), (2, 0)])
def test_the_version_asked_for_decides_the_form(max_version):
    x = xp.from_dlpack(np.arange(3.0))
    name, managed = managed_tensor(capsule := x.__dlpack__(max_version=max_version))
    if max_version is None or max_version[0] == 0:
        assert name == "dltensor"
    else:
        assert name == "dltensor_versioned"
        assert (managed.version.major, managed.version.minor) == (1, 3)
        assert managed.flags == 0
    del capsule


@pytest.mark.parametrize("version", [(2**70, 0), (1, 2**70), (2**70, 2**70)])
def test_a_version_has_no_upper_bound(version):
    # "max_version >= our own": the producer's newest (array API, array.__dlpack__).
    for x in (xp.ones(3), Tensor.from_buffer(bytearray(3))):
        _, managed = managed_tensor(capsule := x.__dlpack__(max_version=version))
        assert (managed.version.major, managed.version.minor) == (1, 3)
        del capsule
    capsule = xp.ones(3).__dlpack__(max_version=(0, 2**70))
    assert managed_tensor(capsule)[0] == "dltensor"


@pytest.mark.parametrize(
    "bad",
    [
        *(1, (1,), (1, 0, 0), "1.0", (1.0, 0), (-1, 0), [1, 0]),
        *((-(2**70), 0), (1, -1), (1, -(2**70))),
    ],
)
def test_a_malformed_version_is_a_type_error(bad):
    with pytest.raises(TypeError, match="max_version must be None or a tuple"):
        xp.from_dlpack(np.arange(3.0)).__dlpack__(max_version=bad)


def test_copy_true_exports_new_memory_and_says_so():
    x = xp.from_dlpack(np.arange(6.0).reshape(2, 3).T)
    capsule = x.__dlpack__(max_version=(1, 0), copy=True)
    assert managed_tensor(capsule)[1].flags == Flags.IS_COPIED
    y = from_capsule(capsule)
    y[0, 0] = 9.0
    assert float(x[0, 0]) == 0.0
    assert y.shape == (3, 2)
    assert float(y[2, 1]) == 5.0


@pytest.mark.parametrize("copy", [None, False])
def test_without_copy_the_memory_is_shared(copy):
    x = xp.from_dlpack(np.arange(3.0))
    y = from_capsule(x.__dlpack__(max_version=(1, 0), copy=copy, dl_device=(1, 0)))
    assert y._buffer.address == x._buffer.address


@pytest.mark.parametrize(
    ("keywords", "error", "words"),
    [
        ({"stream": 1}, ValueError, "stream must be None"),
        ({"stream": "s"}, ValueError, "stream must be None"),
        ({"dl_device": (2, 0)}, BufferError, "cannot be exported to DLPack device"),
        ({"dl_device": (1, 7)}, BufferError, "cannot be exported to DLPack device"),
        ({"dl_device": "cpu"}, TypeError, "dl_device must be None or a tuple"),
        ({"dl_device": (1,)}, TypeError, "dl_device must be None or a tuple"),
        ({"copy": 1}, TypeError, "copy must be True, False or None"),
        ({"version": (1, 0)}, TypeError, "unexpected keyword argument 'version'"),
    ],
)
def test_what_cannot_be_exported_as_asked(keywords, error, words):
    x = xp.from_dlpack(np.arange(3.0))
    with pytest.raises(error, match=words):
        x.__dlpack__(**keywords)


def test_a_device_may_be_named_by_an_enum():
    class Place(Enum):  # as the standard has it: its members do not equal their numbers
        HOST = 1
        GPU = 2

    x = xp.asarray([1.0, 2.0])
    y = from_capsule(x.__dlpack__(max_version=(1, 0), dl_device=(Place.HOST, 0)))
    assert y._buffer.address == x._buffer.address
    with pytest.raises(BufferError, match=r"device \(2, 0\); allowed here: \(1, 0\)"):
        x.__dlpack__(dl_device=(Place.GPU, 0))


def test_a_keyword_is_known_by_its_text():
    # Names written in a program are one object each; made on the fly they are not.
    keywords = {"".join(["max_", "version"]): (1, 0), "".join(["co", "py"]): True}
    capsule = xp.from_dlpack(np.arange(3.0)).__dlpack__(**keywords)
    assert managed_tensor(capsule)[1].flags == Flags.IS_COPIED


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (2, 0, 3), (0, 0), (3, 1, 0, 2)])
def test_an_empty_axis_counts_as_one_in_strides(shape):
    # As in PyTorch; there is no element whose place they could tell.
    wanted = [math.prod(max(n, 1) for n in shape[i + 1 :]) for i in range(len(shape))]
    _, managed = managed_tensor(capsule := xp.empty(shape).__dlpack__())
    assert [managed.dl_tensor.strides[i] for i in range(len(shape))] == wanted
    del capsule


def test_the_keywords_are_keywords():
    with pytest.raises(TypeError, match="keyword arguments only"):
        xp.from_dlpack(np.arange(3.0)).__dlpack__(None)


def test_an_empty_array_exports_null():
    capsule = xp.from_dlpack(np.zeros((0, 3))).__dlpack__(max_version=(1, 0))
    tensor = managed_tensor(capsule)[1].dl_tensor
    assert tensor.data == ffi.NULL
    assert [tensor.shape[i] for i in range(2)] == [0, 3]
    assert [tensor.strides[i] for i in range(2)] == [3, 1]


def test_a_zero_dimensional_array_exports_no_extents():
    capsule = xp.from_dlpack(np.array(3.0)).__dlpack__(max_version=(1, 0))
    tensor = managed_tensor(capsule)[1].dl_tensor
    assert tensor.ndim == 0
    assert tensor.shape == tensor.strides == ffi.NULL


class TestFromDlpack:
    """Keywords and errors of from_dlpack."""

    def test_copy_true_never_aliases(self):
        a = np.arange(3.0)
        x = xp.from_dlpack(a, copy=True)
        a[0] = 9.0
        assert float(x[0]) == 0.0
        assert not x._read_only

    def test_copy_true_is_done_here_if_the_producer_did_not(self):
        a = np.arange(3.0)

        class Ignores:
            def __dlpack__(self, **keywords):
                return a.__dlpack__(max_version=(1, 0))

            def __dlpack_device__(self):
                return (1, 0)

        x = xp.from_dlpack(Ignores(), copy=True)
        a[0] = 9.0
        assert float(x[0]) == 0.0

    def test_copy_false_refuses_a_copy(self):
        a = np.arange(3.0)

        class Copies:
            def __dlpack__(self, **keywords):
                return a.__dlpack__(max_version=(1, 0), copy=True)

            def __dlpack_device__(self):
                return (1, 0)

        for error in (BufferError, ValueError):
            with pytest.raises(error, match="copy=False"):
                xp.from_dlpack(Copies(), copy=False)

    def test_copy_false_and_device_share(self):
        a = np.arange(3.0)
        x = xp.from_dlpack(a, copy=False, device=xp.Device("cpu"))
        a[0] = 9.0
        assert float(x[0]) == 9.0

    @pytest.mark.parametrize("x", [5, object(), [1.0], None, np.float64(1)])
    def test_no_protocol_is_an_attribute_error(self, x):
        with pytest.raises(AttributeError, match="__dlpack__ and __dlpack_device__"):
            xp.from_dlpack(x)

    def test_python_values_are_refused_with_the_way_out(self):
        with pytest.raises(AttributeError, match=r"list lacks.*refarray\.asarray"):
            xp.from_dlpack([1.0])

    def test_a_bare_capsule_is_refused_with_the_way_out(self):
        with pytest.raises(AttributeError, match=r"refarray\.dlpack\.from_capsule"):
            xp.from_dlpack(np.arange(3.0).__dlpack__())

    def test_a_device_by_its_name_is_refused(self):
        with pytest.raises(TypeError, match=r"Device\('cpu'\)"):
            xp.from_dlpack(np.arange(3.0), device="cpu")

    @pytest.mark.parametrize("pair", [None, 1, (1,), (1, None), ("cpu", 0), [1, 0]])
    def test_a_device_that_is_no_pair_of_integers_is_a_type_error(self, pair):
        class Producer:
            def __dlpack__(self, **keywords):
                return np.arange(3.0).__dlpack__(max_version=(1, 0))

            def __dlpack_device__(self):
                return pair

        with pytest.raises(TypeError):
            xp.from_dlpack(Producer())

    def test_copy_is_a_bool(self):
        with pytest.raises(TypeError, match="copy must be"):
            xp.from_dlpack(np.arange(3.0), copy=1)


@pytest.mark.parametrize(
    ("max_version", "name"),
    [
        (None, "dltensor"),
        ((0, 8), "dltensor"),
        ((1, 0), "dltensor_versioned"),
        ((1, 3), "dltensor_versioned"),
    ],
)
def test_a_bare_capsule_has_the_form_that_was_asked_for(max_version, name):
    x = xp.ones(3)
    assert managed_tensor(to_capsule(x, max_version=max_version))[0] == name
    frozen = xp.broadcast_to(x, (2, 3))
    if name == "dltensor":
        with pytest.raises(BufferError, match="legacy capsule cannot say so"):
            to_capsule(frozen, max_version=max_version)
    else:
        assert from_capsule(to_capsule(frozen, max_version=max_version))._read_only
