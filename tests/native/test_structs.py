"""The structs, against the numbers of the DLPack 1.3 header on 64-bit platforms."""

import pytest

from refarray._base.devices import DeviceType
from refarray._memory.native import ffi, lib
from refarray.dlpack.structs import TypeCode

LAYOUT = {
    "DLDevice": (8, {"device_type": 0, "device_id": 4}),
    "DLDataType": (4, {"code": 0, "bits": 1, "lanes": 2}),
    "DLPackVersion": (8, {"major": 0, "minor": 4}),
    "DLTensor": (
        48,
        {
            "data": 0,
            "device": 8,
            "ndim": 16,
            "dtype": 20,
            "shape": 24,
            "strides": 32,
            "byte_offset": 40,
        },
    ),
    "DLManagedTensor": (64, {"dl_tensor": 0, "manager_ctx": 48, "deleter": 56}),
    "DLManagedTensorVersioned": (
        80,
        {"version": 0, "manager_ctx": 8, "deleter": 16, "flags": 24, "dl_tensor": 32},
    ),
}


@pytest.mark.parametrize("name", LAYOUT)
def test_sizes_and_offsets_are_those_of_the_header(name):
    size, offsets = LAYOUT[name]
    assert ffi.sizeof(name) == size
    fields = dict(ffi.typeof(name).fields)
    assert {field: fields[field].offset for field in fields} == offsets


@pytest.mark.parametrize("names", [DeviceType, TypeCode])
def test_python_and_c_agree_on_the_constants(names):
    for member in names:
        assert getattr(lib, member.name) == member.value
