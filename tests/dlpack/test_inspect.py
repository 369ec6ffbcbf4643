"""The inspector: every field of a sound tensor, and no crash over a broken one."""

import pytest

import refarray as xp
from refarray._memory.native import ffi
from refarray.dlpack import from_capsule, inspect
from refarray.dlpack.structs import managed_tensor


def fields(capsule):
    return {field.name: field.value for field in inspect(capsule).fields}


def test_what_is_no_capsule():
    for wrong in (3, None, "dltensor"):
        with pytest.raises(TypeError, match="a capsule is expected"):
            inspect(wrong)


@pytest.mark.parametrize("max_version", [None, (1, 3)])
def test_the_fields_are_those_of_the_array(max_version):
    x = xp.zeros((2, 3), dtype=xp.int16)[:, ::2]
    capsule = x.__dlpack__(max_version=max_version)
    found = {name.removeprefix("dl_tensor."): v for name, v in fields(capsule).items()}
    assert int(found["data"], 16) == x._buffer.address
    assert found["shape"].endswith("-> [2, 2]")
    assert found["strides"].endswith("-> [3, 2]")
    assert (found["ndim"], found["dtype.bits"]) == ("2", "16")
    assert found["dtype.code"] == "0 (kDLInt)"
    assert found["device.device_type"] == "1 (kDLCPU)"
    assert ("version.major" in found) is (max_version is not None)
    from_capsule(capsule)
    assert fields(capsule) == {}
    assert "consumed" in str(inspect(capsule))


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


@pytest.mark.parametrize("ndim", [-1, 65, 2**31 - 1])
def test_shapes_of_no_array_are_not_read(ndim):
    capsule = xp.zeros(2).__dlpack__(max_version=(1, 3))
    _, managed = managed_tensor(capsule)
    managed.dl_tensor.ndim = ndim
    assert fields(capsule)["dl_tensor.shape"].endswith(f"(not read: ndim is {ndim})")
