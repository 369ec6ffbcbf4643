"""Forge DLPack capsules with anything in them, and read the capsules of others raw.

`Tensor` says what a managed tensor shall contain, right or wrong; `forge` makes the
capsule and a `Case` that counts deleter and destructor calls. `Raw` reads any capsule
without consuming it. Forged memory is never freed, so a wrong consumer reads stale
bytes and is counted instead of crashing. Next: producers.py, objects with `__dlpack__`.
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from refarray.testing import _forge

ffi = _forge.ffi
lib = _forge.lib
_forge.lib.forge_install(_forge.__name__.encode())

CPU = (1, 0)
CUDA = (2, 0)
ROCM = (10, 0)
#: Every device type that DLPack 1.3 names.
DEVICE_TYPES = frozenset({1, 2, 3, 4, *range(7, 19)})
READ_ONLY = 1 << 0
IS_COPIED = 1 << 1
#: Names of capsules that nobody has taken yet.
FRESH_NAMES = ("dltensor", "dltensor_versioned")
#: The DLPack version that the checks know.
NEWEST = (1, 3)

#: dtype name -> (code, bits, lanes) and the struct module's letters for one element.
DTYPES: dict[str, tuple[tuple[int, int, int], str]] = {
    "bool": ((6, 8, 1), "?"),
    "int8": ((0, 8, 1), "b"),
    "int16": ((0, 16, 1), "h"),
    "int32": ((0, 32, 1), "i"),
    "int64": ((0, 64, 1), "q"),
    "uint8": ((1, 8, 1), "B"),
    "uint16": ((1, 16, 1), "H"),
    "uint32": ((1, 32, 1), "I"),
    "uint64": ((1, 64, 1), "Q"),
    "float32": ((2, 32, 1), "f"),
    "float64": ((2, 64, 1), "d"),
    "complex64": ((5, 64, 1), "ff"),
    "complex128": ((5, 128, 1), "dd"),
}
NAMES = {triple: name for name, (triple, _) in DTYPES.items()}
FLOAT64 = DTYPES["float64"][0]

DELETERS = {"counts": 0, "needs GIL": 1, "takes GIL": 2, "loses error": 3}
DESTRUCTORS = {
    "right": 0,
    "ignores name": 1,
    "leaks": 2,
    "loses error": 3,
    "trusts deleter": 4,
}

_kept: list[Any] = []  # forged memory lives as long as the process
# Longer than this module, which ends with Python: some deleters are called after that.
ctypes.pythonapi.Py_IncRef(ctypes.py_object(_kept))


def keep(thing: Any) -> Any:
    """Keep something alive as long as the process, and return it."""
    _kept.append(thing)
    return thing


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of a compact row-major array, in elements."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def offsets(shape: Sequence[int], strides: Sequence[int]) -> list[int]:
    """Return where each element lies, in elements, in row-major order."""
    result = [0]
    for extent, stride in zip(shape, strides, strict=True):
        result = [base + i * stride for base in result for i in range(extent)]
    return result


def itemsize(dtype: str) -> int:
    """Return the bytes of one element."""
    return DTYPES[dtype][0][1] // 8


def allocate(nbytes: int, misaligned: int = 0) -> int:
    """Return the address of zeroed memory: 256-byte aligned, plus `misaligned`."""
    block = keep(ffi.new("char[]", nbytes + 512))
    address = int(ffi.cast("uintptr_t", block))
    return address + -address % 256 + misaligned


def store(address: int, dtype: str, value: complex) -> None:
    """Write one element."""
    letters = DTYPES[dtype][1]
    parts = (value.real, value.imag) if len(letters) == 2 else (value,)
    packed = struct.pack("=" + letters, *parts)
    ffi.buffer(ffi.cast("char *", address), len(packed))[:] = packed


def load(address: int, dtype: str) -> Any:
    """Read one element as a Python number."""
    letters = DTYPES[dtype][1]
    raw = bytes(ffi.buffer(ffi.cast("char *", address), itemsize(dtype)))
    parts = struct.unpack("=" + letters, raw)
    return complex(*parts) if len(letters) == 2 else parts[0]


@dataclass(frozen=True, slots=True)
class Tensor:
    """What a managed tensor contains. Nothing is checked: that is the point.

    Strides count elements. None is a NULL pointer; for `version` it is the legacy form,
    for `name` a capsule without one.
    """

    data: int | None
    shape: tuple[int, ...] | None
    strides: tuple[int, ...] | None
    dtype: tuple[int, int, int] = FLOAT64
    device: tuple[int, int] = CPU
    byte_offset: int = 0
    version: tuple[int, int] | None = NEWEST
    flags: int = 0
    ndim: int | None = None  # None: as long as shape
    name: str | None = "by version"
    shared_name: bool = True
    deleter: str | None = "counts"
    destructor: str | None = "right"

    @classmethod
    def of(
        cls, values: Sequence[complex], shape: tuple[int, ...], dtype: str = "float64"
    ) -> Tensor:
        """Return a well-formed row-major tensor over fresh memory."""
        address = allocate(len(values) * itemsize(dtype))
        letters = DTYPES[dtype][1]
        parts = values
        if len(letters) == 2:
            parts = [part for z in values for part in (z.real, z.imag)]
        packed = struct.pack(f"={len(parts)}{letters[0]}", *parts)
        ffi.buffer(ffi.cast("char *", address), len(packed))[:] = packed
        data = address if values else None
        return cls(data, shape, row_major(shape), DTYPES[dtype][0])

    def but(self, **changes: Any) -> Tensor:
        """Return the same tensor with some fields changed."""
        return replace(self, **changes)


class Case:
    """One forged tensor and what happened to it."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        self.struct = keep(ffi.new("forge_case *"))
        self._fill()

    @property
    def address(self) -> int:
        """Where the managed tensor lies."""
        form = "legacy" if self.tensor.version is None else "versioned"
        return int(ffi.cast("uintptr_t", ffi.addressof(self.struct, form)))

    @property
    def deleter_calls(self) -> int:
        """How often the deleter was called."""
        return int(self.struct.deleter_calls)

    @property
    def destructor_calls(self) -> int:
        """How often the capsule's destructor was called."""
        return int(self.struct.destructor_calls)

    @property
    def deleter_calls_of_destructor(self) -> int:
        """How many of the deleter's calls came from the capsule's own destructor."""
        return int(self.struct.deleter_calls_of_destructor)

    @property
    def was_found_used(self) -> bool:
        """Whether the destructor found that the capsule had been taken."""
        return bool(self.struct.found_used)

    def _fill(self) -> None:
        tensor, case = self.tensor, self.struct
        legacy = tensor.version is None
        managed = case.legacy if legacy else case.versioned
        if tensor.version is not None:
            managed.version.major, managed.version.minor = tensor.version
            managed.flags = tensor.flags
        managed.manager_ctx = case
        if tensor.deleter is not None:
            name = "forge_delete_legacy" if legacy else "forge_delete_versioned"
            managed.deleter = ffi.addressof(lib, name)
            case.deleter_kind = DELETERS[tensor.deleter]
        if tensor.destructor is not None:
            case.destructor_kind = DESTRUCTORS[tensor.destructor]
        dl = managed.dl_tensor
        dl.data = ffi.cast("void *", tensor.data or 0)
        dl.device.device_type, dl.device.device_id = tensor.device
        dl.dtype.code, dl.dtype.bits, dl.dtype.lanes = tensor.dtype
        dl.byte_offset = tensor.byte_offset
        dl.ndim = len(tensor.shape or ()) if tensor.ndim is None else tensor.ndim
        if tensor.shape is not None:
            case.shape[0 : len(tensor.shape)] = tensor.shape
            dl.shape = case.shape
        if tensor.strides is not None:
            case.strides[0 : len(tensor.strides)] = tensor.strides
            dl.strides = case.strides

    def capsule(self) -> object:
        """Return a capsule over this tensor."""
        tensor = self.tensor
        name = tensor.name
        if name == "by version":
            name = "dltensor" if tensor.version is None else "dltensor_versioned"
        return _forge.make_capsule(
            self.address,
            int(ffi.cast("uintptr_t", self.struct)),
            name,
            tensor.destructor is not None,
            tensor.shared_name,
        )


def forge(tensor: Tensor) -> tuple[object, Case]:
    """Return a capsule with this content, and its counters."""
    case = Case(tensor)
    return case.capsule(), case


class Raw:
    """A capsule read without consuming it. It keeps the capsule alive."""

    def __init__(self, capsule: object) -> None:
        self.capsule: object | None = capsule
        self._look(*_forge.read_capsule(capsule))

    def _look(
        self, name: str | None, name_address: int, address: int, has_destructor: bool
    ) -> None:
        self.name, self.name_address = name, name_address
        self.address, self.has_destructor = address, has_destructor
        self.legacy = (name or "").removeprefix("used_") == "dltensor"
        kind = "DLManagedTensor *" if self.legacy else "DLManagedTensorVersioned *"
        self.managed = ffi.cast(kind, address)

    @classmethod
    def at(cls, address: int) -> Raw:
        """Look at a versioned tensor without a capsule: one that was taken."""
        self = cls.__new__(cls)
        self.capsule = None
        self._look("used_dltensor_versioned", 0, address, False)
        return self

    @classmethod
    def over(cls, tensor: int) -> Raw:
        """Look at a copy of the DLTensor at an address, which owns nothing."""
        managed = keep(ffi.new("DLManagedTensorVersioned *"))
        managed.dl_tensor = ffi.cast("DLTensor *", tensor)[0]
        return cls.at(int(ffi.cast("uintptr_t", managed)))

    @property
    def version(self) -> tuple[int, int] | None:
        """The version of the struct; None for the legacy form."""
        if self.legacy:
            return None
        return int(self.managed.version.major), int(self.managed.version.minor)

    @property
    def flags(self) -> int:
        """The flags; 0 for the legacy form, which has none."""
        return 0 if self.legacy else int(self.managed.flags)

    @property
    def has_deleter(self) -> bool:
        """Whether the deleter is not NULL."""
        return bool(self.managed.deleter != ffi.NULL)

    @property
    def data(self) -> int:
        """The data pointer, without the byte offset."""
        return int(ffi.cast("uintptr_t", self.managed.dl_tensor.data))

    @property
    def byte_offset(self) -> int:
        """Bytes from the data pointer to the first element."""
        return int(self.managed.dl_tensor.byte_offset)

    @property
    def first(self) -> int:
        """The address of the first element."""
        return self.data + self.byte_offset

    @property
    def device(self) -> tuple[int, int]:
        """The pair (device type, device id)."""
        device = self.managed.dl_tensor.device
        return int(device.device_type), int(device.device_id)

    @property
    def dtype(self) -> tuple[int, int, int]:
        """The triple (code, bits, lanes)."""
        dtype = self.managed.dl_tensor.dtype
        return int(dtype.code), int(dtype.bits), int(dtype.lanes)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return int(self.managed.dl_tensor.ndim)

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        return tuple(int(n) for n in self.managed.dl_tensor.shape[0 : self.ndim])

    @property
    def strides(self) -> tuple[int, ...] | None:
        """The strides in elements; None for a NULL pointer."""
        strides = self.managed.dl_tensor.strides
        if strides == ffi.NULL:
            return None
        return tuple(int(n) for n in strides[0 : self.ndim])

    def addresses(self) -> list[int]:
        """Return the address of each element, in row-major order."""
        if self.ndim == 0:
            return [self.first]
        strides = row_major(self.shape) if self.strides is None else self.strides
        size = self.dtype[1] // 8
        return [self.first + size * n for n in offsets(self.shape, strides)]

    def values(self) -> list[Any]:
        """Read the elements, in row-major order, as Python numbers (CPU memory)."""
        name = NAMES[self.dtype]
        return [load(address, name) for address in self.addresses()]

    def write(self, value: complex) -> None:
        """Write every element."""
        for address in self.addresses():
            store(address, NAMES[self.dtype], value)

    def take(self) -> None:
        """Rename the capsule and let it go; the tensor is ours to delete now."""
        used = "used_dltensor" if self.legacy else "used_dltensor_versioned"
        _forge.rename_capsule(self.capsule, used)
        self.capsule = None

    def delete(self) -> None:
        """Call the deleter, here and with the GIL, unless it is NULL."""
        _forge.call_deleter(self.address, self.legacy)
