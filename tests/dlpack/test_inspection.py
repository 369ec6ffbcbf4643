"""The inspector: every field of a sound tensor, and what is wrong with a broken one.

The struct is read a second time through ctypes, which has the layout rules of C.
"""

import ctypes
import json
import subprocess
import sys

import numpy as np
import pytest

import refarray as xp
from refarray._memory.native import ffi
from refarray.dlpack import from_capsule, inspect
from refarray.dlpack.structs import managed_tensor
from refarray.testing.forge import CUDA, Tensor, allocate, forge

GOOD = Tensor.of([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], (2, 3))


class Device(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32)]


class DataType(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
    ]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int32),
        ("dtype", DataType),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    ]


class Version(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("version", Version),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("dl_tensor", DLTensor),
    ]


class Legacy(ctypes.Structure):
    _fields_ = [
        ("dl_tensor", DLTensor),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


def leaves(struct, path="", base=0):
    """Each field that is no struct: name, offset, size, the integer in it."""
    for name, ctype in struct._fields_:
        where = base + getattr(type(struct), name).offset
        value = getattr(struct, name)
        if isinstance(value, ctypes.Structure):
            yield from leaves(value, f"{path}{name}.", where)
        else:
            yield path + name, where, ctypes.sizeof(ctype), value or 0


def fields(capsule):
    return {field.name: field.value for field in inspect(capsule).fields}


def forged(**changes):
    capsule, case = forge(GOOD.but(**changes))
    return capsule, case


def pointer_in(capsule, name):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, name.encode())


# A sound tensor ----------------------------------------------------------------------


@pytest.mark.parametrize("max_version", [None, (1, 3)])
def test_fields_are_where_and_what_the_c_compiler_says(max_version):
    a = np.arange(24, dtype="int16").reshape(4, 6)[::2, ::-3]
    capsule = a.__dlpack__(max_version=max_version)
    found = inspect(capsule)
    struct = Versioned if max_version else Legacy
    name = "dltensor_versioned" if max_version else "dltensor"
    assert (found.name, found.consumed, found.producer) == (name, False, None)
    assert found.address == pointer_in(capsule, name)
    expected = list(leaves(struct.from_address(found.address)))
    assert [(f.name, f.offset, f.nbytes) for f in found.fields] == [
        leaf[:3] for leaf in expected
    ]
    for field, (_, _, _, value) in zip(found.fields, expected, strict=True):
        text = field.value.split()[0]
        number = 0 if text == "NULL" else int(text, 0)
        assert number == value, field.name
    values = fields(capsule)
    assert int(values["dl_tensor.data"], 16) == a.ctypes.data
    assert values["dl_tensor.shape"].endswith("-> [2, 2]")
    assert values["dl_tensor.strides"].endswith("-> [12, -3]")
    assert values["dl_tensor.device.device_type"] == "1 (kDLCPU)"
    assert values["dl_tensor.dtype.code"] == "0 (kDLInt)"


def test_the_types_are_those_of_the_header():
    types = {field.name: field.ctype for field in inspect(xp.zeros(2)).fields}
    assert types["version.major"] == "uint32_t"
    assert types["flags"] == types["dl_tensor.byte_offset"] == "uint64_t"
    assert types["dl_tensor.data"] == types["manager_ctx"] == "void *"
    assert types["dl_tensor.shape"] == types["dl_tensor.strides"] == "int64_t *"
    assert types["dl_tensor.dtype.lanes"] == "uint16_t"
    assert types["deleter"].startswith("void(*)(")


DTYPES = [
    "bool",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_are_those_of_numpy(dtype):
    a = (np.arange(12).reshape(3, 4) - 3).astype(dtype)[::-1, 1::2]
    found = inspect(a)
    assert found.tensor.dtype_name == dtype
    base = a.__array_interface__["data"][0]
    assert len(found.elements) == 6
    for element in found.elements:
        assert element.value == a[element.indices]
        i, j = element.indices
        assert element.address == base + i * a.strides[0] + j * a.strides[1]
    assert found.tensor.reach == np.lib.array_utils.byte_bounds(a)
    assert (found.unread, found.broken) == (None, ())


def test_bfloat16_is_the_upper_half_of_float32():
    whole = np.asarray([1.0, -2.5], dtype="float32").view("uint32")
    halves = (whole >> 16).astype("uint16")
    capsule, _ = forge(
        GOOD.but(data=halves.ctypes.data, shape=(2,), strides=(1,), dtype=(4, 16, 1))
    )
    assert [e.value for e in inspect(capsule).elements] == [1.0, -2.5]
    assert inspect(capsule).tensor.dtype_name == "bfloat16"


def test_only_a_corner_of_much_data_is_read():
    a = np.arange(10**6).reshape(1000, 1000)
    found = inspect(a)
    assert 9 <= len(found.elements) <= 48
    assert {e.indices for e in found.elements} >= {(0, 0), (0, 1), (1, 0), (2, 2)}
    assert all(e.value == a[e.indices] for e in found.elements)


def test_without_axes_and_without_elements():
    found = inspect(xp.asarray(2.5))
    assert [(e.indices, e.value) for e in found.elements] == [((), 2.5)]
    assert (found.unread, found.broken) == (None, ())
    found = inspect(xp.zeros((0, 3)))
    assert (found.elements, found.unread, found.broken) == ((), None, ())
    assert found.tensor.shape == (0, 3)
    assert fields(xp.zeros((0, 3)))["dl_tensor.data"] == "NULL"


def test_a_capsule_stays_as_it_is():
    x = xp.asarray([1.0, 2.0])
    capsule = x.__dlpack__(max_version=(1, 3))
    assert inspect(capsule) == inspect(capsule)
    y = from_capsule(capsule)
    x[0] = 5.0
    assert float(y[0]) == 5.0


@pytest.mark.parametrize("max_version", [None, (1, 3)])
def test_a_consumed_capsule_is_not_looked_into(max_version):
    capsule = xp.zeros(3).__dlpack__(max_version=max_version)
    from_capsule(capsule)  # frees it, so what the capsule points to is gone
    found = inspect(capsule)
    assert found.consumed
    assert found.name.startswith("used_dltensor")
    assert (found.fields, found.tensor, found.elements) == ((), None, ())
    assert "belongs to the consumer" in str(found)
    assert "belongs to the consumer" in found.unread


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (0, "0 (none)"),
        (1, "1 (READ_ONLY)"),
        (3, "3 (READ_ONLY | IS_COPIED)"),
        (4, "4 (IS_SUBBYTE_TYPE_PADDED)"),
        (1 | 1 << 40, "1099511627777 (READ_ONLY | unknown bits 0x10000000000)"),
    ],
)
def test_flags_are_spelled_out(flags, words):
    capsule, _ = forged(flags=flags)
    assert fields(capsule)["flags"] == words


def test_read_only_arrays_say_so():
    a = np.arange(3.0)
    a.flags.writeable = False
    found = inspect(a)
    assert found.to_dict()["read_only"] is True
    assert inspect(np.arange(3.0)).to_dict()["read_only"] is False
    # The legacy form has no flags, so it cannot tell.
    assert inspect(np.arange(3.0).__dlpack__()).to_dict()["read_only"] is None


def test_memory_of_a_device_is_not_read():
    capsule, _ = forged(device=CUDA)
    found = inspect(capsule)
    assert found.unread == "the memory is that of device 2 (kDLCUDA), 0"
    assert [e.value for e in found.elements] == [None] * 6
    assert found.elements[5].address == GOOD.data + 40
    assert found.broken == ()


def test_a_handle_is_no_address():
    # A cl_mem: nothing can be added to it, and it has no alignment.
    capsule, _ = forged(device=(4, 0), data=0x1003, byte_offset=16)
    found = inspect(capsule)
    assert found.unread == "data is a handle of device 4 (kDLOpenCL), 0, and no address"
    assert found.elements == () == found.broken
    tensor = found.to_dict()["tensor"]
    assert (tensor["first_element"], tensor["bytes"]) == (None, None)
    assert "data 0x1003 + 16<" in found.svg()


# Any object --------------------------------------------------------------------------


def test_what_is_no_capsule():
    for wrong in (3, None, "dltensor"):
        with pytest.raises(TypeError, match="a capsule is expected"):
            inspect(wrong)


def test_what_an_object_is_called():
    assert inspect(np.zeros(2)).producer == "numpy.ndarray"
    assert inspect(xp.zeros(2)).producer == "refarray.Array"


# Unusual tensors --------------------------------------------------------------------


def test_strides_that_are_null_are_read_as_row_major():
    capsule, _ = forged(strides=None, version=None)
    found = inspect(capsule)
    assert found.tensor.strides is None
    assert fields(capsule)["dl_tensor.strides"] == "NULL"
    assert [e.value for e in found.elements] == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_data_and_byte_offset_together():
    capsule, _ = forged(shape=(4,), strides=(1,), byte_offset=16)
    assert [e.value for e in inspect(capsule).elements] == [3.0, 4.0, 5.0, 6.0]


def test_elements_of_a_few_bits():
    address = allocate(8)
    ffi.buffer(ffi.cast("char *", address), 4)[:] = b"\x01\x02\x0a\xff"
    fp4 = {"data": address, "shape": (4,), "strides": (1,), "dtype": (17, 4, 1)}
    packed, _ = forged(**fp4)
    assert inspect(packed).elements == ()
    assert inspect(packed).unread == "elements of 4 bits have no address of their own"
    padded, _ = forged(**fp4, flags=4)
    assert [e.value for e in inspect(padded).elements] == ["01", "02", "0a", "ff"]
    assert inspect(padded).tensor.dtype_name == "float4_e2m1fn"


def test_what_another_major_version_may_have_elsewhere_is_not_read():
    capsule = xp.zeros(2).__dlpack__(max_version=(1, 3))
    _, managed = managed_tensor(capsule)
    managed.version.major = 2
    managed.dl_tensor.shape = ffi.cast("int64_t *", 8)
    assert list(fields(capsule)) == [
        "version.major",
        "version.minor",
        "manager_ctx",
        "deleter",
        "flags",
    ]
    assert "version 2.3" in inspect(capsule).unread


@pytest.mark.parametrize("ndim", [-1, 65, 10**9, 2**31 - 1])
def test_shapes_of_no_array_are_not_read(ndim):
    capsule = xp.zeros(2).__dlpack__(max_version=(1, 3))
    _, managed = managed_tensor(capsule)
    managed.dl_tensor.ndim = ndim
    assert fields(capsule)["dl_tensor.shape"].endswith(f"(not read: ndim is {ndim})")


# As plain values ---------------------------------------------------------------------


def test_the_dict_is_json_and_says_the_same():
    # NumPy before 2.4 gives no strides in row-major order.
    a = np.asarray([[1.5, np.nan], [np.inf, -2.0]], order="F")
    found = inspect(a)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["capsule"] == "dltensor_versioned"
    assert plain["producer"] == "numpy.ndarray"
    assert [f["name"] for f in plain["fields"]] == [f.name for f in found.fields]
    assert plain["tensor"]["shape"] == [2, 2]
    assert plain["tensor"]["strides"] == [1, 2]
    assert plain["tensor"]["dtype"] == "float64"
    assert int(plain["tensor"]["first_element"], 16) == a.ctypes.data
    assert [e["value"] for e in plain["elements"]] == [1.5, "nan", "inf", -2.0]
    assert plain["breaks"] == []
    bad, _ = forged(dtype=(200, 64, 1))
    assert inspect(bad).to_dict()["breaks"][0]["rule"] == 26


def test_importing_refarray_loads_none_of_it():
    program = (
        "import sys, refarray; "
        "print([name for name in sys.modules if 'inspection' in name])"
    )
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True
    )
    assert out.stdout.strip() == b"[]"
