"""The structs of DLPack as Python sees them, and the constants in them.

The structs themselves are declared in `_cffi_build/dlpack.h`, which cffi reads.
Next: `producer.py`.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag
from typing import Any

from refarray._base.devices import DeviceType
from refarray._base.dtypes import BY_NAME, DType
from refarray._base.layout import shown
from refarray._memory.native import ffi, inspect_capsule

NAME = "dltensor_versioned"
LEGACY_NAME = "dltensor"

#: Devices whose `data` is a handle, such as a cl_mem, and no address to count from.
HANDLES = (
    DeviceType.kDLOpenCL,
    DeviceType.kDLVulkan,
    DeviceType.kDLMetal,
    DeviceType.kDLWebGPU,
)


class TypeCode(IntEnum):
    """Kinds of element. Source: DLPack 1.3, DLDataTypeCode."""

    kDLInt = 0
    kDLUInt = 1
    kDLFloat = 2
    kDLOpaqueHandle = 3
    kDLBfloat = 4
    kDLComplex = 5
    kDLBool = 6
    kDLFloat8_e3m4 = 7
    kDLFloat8_e4m3 = 8
    kDLFloat8_e4m3b11fnuz = 9
    kDLFloat8_e4m3fn = 10
    kDLFloat8_e4m3fnuz = 11
    kDLFloat8_e5m2 = 12
    kDLFloat8_e5m2fnuz = 13
    kDLFloat8_e8m0fnu = 14
    kDLFloat6_e2m3fn = 15
    kDLFloat6_e3m2fn = 16
    kDLFloat4_e2m1fn = 17


class Flags(IntFlag):
    """Flags of a versioned tensor. Source: DLPack 1.3, `DLPACK_FLAG_BITMASK_...`."""

    READ_ONLY = 1
    IS_COPIED = 2
    IS_SUBBYTE_TYPE_PADDED = 4


def dtype_name(code: int, bits: int, lanes: int) -> str:
    """Return the name by which libraries know an element type, such as float64."""
    if code not in set(TypeCode):
        return f"unknown type of code {code}, {bits} bits"
    name = TypeCode(code).name.removeprefix("kDL").lower()
    plain = "_" in name or (name, bits) == ("bool", 8)
    times = "" if lanes == 1 else f" x {lanes} lanes"
    return f"{name if plain else f'{name}{bits}'}{times}"


# Types that DLPack has and refarray has not, by the names that others give them.
_NARROW = {
    code.name.removeprefix("kDL").lower(): (code.value, 8, 1)
    for code in TypeCode
    if code.name.startswith("kDLFloat8")
}


def dtype_triple(dtype: object) -> tuple[int, int, int]:
    """Return DLPack's (type code, bits, lanes) of a dtype, a name, or such a triple.

    TypeError for anything else, ValueError for a name or numbers that DLPack has not.
    """
    if isinstance(dtype, str):
        if dtype in _NARROW:
            return _NARROW[dtype]
        if dtype not in BY_NAME:
            known = ", ".join([*BY_NAME, *_NARROW])
            raise ValueError(
                f"no dtype is named {dtype!r}; known names: {known} (DLPack, DLTensor)"
            )
        dtype = BY_NAME[dtype]
    if isinstance(dtype, DType):
        return dtype.code, dtype.bits, 1
    if (
        isinstance(dtype, tuple)
        and len(dtype) == 3
        and all(isinstance(number, int) for number in dtype)
    ):
        code, bits, lanes = dtype
        if 0 <= code < 256 and 0 < bits < 256 and 0 < lanes < 65536:
            if bits * lanes % 8 == 0:
                return code, bits, lanes
            raise ValueError(
                f"elements of {bits} bits in {lanes} lanes are no whole bytes "
                "(DLPack, DLTensor)"
            )
        raise ValueError(
            f"{shown(dtype)} is no (type code, bits, lanes) of DLPack "
            "(DLPack, DLTensor)"
        )
    raise TypeError(
        "a dtype is one of refarray, a name, or DLPack's (type code, bits, lanes), "
        f"not {dtype!r} (DLPack, DLTensor)"
    )


def managed_tensor(capsule: object) -> tuple[str | None, Any]:
    """Return the name of a capsule and a cffi pointer to the managed tensor in it.

    The capsule is not consumed; the pointer is good while somebody holds the tensor.
    TypeError for anything but a capsule, ValueError if its name is not one of DLPack's
    (with or without `used_`).
    """
    name, address = inspect_capsule(capsule)
    kind = (name or "").removeprefix("used_")
    if kind == NAME:
        return name, ffi.cast("DLManagedTensorVersioned *", address)
    if kind == LEGACY_NAME:
        return name, ffi.cast("DLManagedTensor *", address)
    raise ValueError(
        f"the capsule is named {name!r}, so what is in it is unknown; DLPack's names "
        f"are {NAME!r}, {LEGACY_NAME!r}, and these after 'used_' (DLPack, "
        "capsule)"
    )
