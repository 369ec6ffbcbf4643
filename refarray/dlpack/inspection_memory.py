"""Read what a capsule points to, and never crash: pointers may be anything.

The kernel is asked to copy the bytes (into a pipe); for an address where nothing is, it
returns an error where a plain read would end the process.

Next: `inspection_rules.py`.
"""

from __future__ import annotations

import os
import struct
from itertools import product
from math import prod
from typing import Any, NamedTuple

from refarray._base.devices import DeviceType
from refarray._base.layout import MAX_NDIM, row_major_strides, shown
from refarray._memory.native import ffi
from refarray.dlpack.structs import HANDLES, Flags, TypeCode, dtype_name

# Written to a pipe in one piece on every system, and enough for 64 extents.
_MAX_READ = 512
#: At most so many elements are read.
MAX_ELEMENTS = 48

_HOST = (DeviceType.kDLCPU, DeviceType.kDLCUDAHost, DeviceType.kDLROCMHost)
# bfloat16 is not here: it is the upper half of a float32.
_LETTERS = {
    TypeCode.kDLInt: {8: "b", 16: "h", 32: "i", 64: "q"},
    TypeCode.kDLUInt: {8: "B", 16: "H", 32: "I", 64: "Q"},
    TypeCode.kDLFloat: {16: "e", 32: "f", 64: "d"},
    TypeCode.kDLComplex: {64: "ff", 128: "dd"},
    TypeCode.kDLBool: {8: "?"},
}


class Memory:
    """Memory of this process, read by address. A context manager."""

    def __enter__(self) -> Memory:
        self._out, self._in = os.pipe()
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._out)
        os.close(self._in)

    def read(self, address: int, nbytes: int) -> bytes | None:
        """Return a few bytes from an address; None where they cannot be read."""
        if not (0 < address < 2**64 - nbytes and 0 < nbytes <= _MAX_READ):
            return None
        source = ffi.buffer(ffi.cast("char *", address), nbytes)
        try:
            copied = os.write(self._in, source)
        except OSError:  # EFAULT: nothing is there
            return None
        data = os.read(self._out, copied)
        return data if copied == nbytes else None

    def integers(self, address: int, n: int) -> tuple[int, ...] | None:
        """Return `n` int64 from an address; None where they cannot be read."""
        data = self.read(address, 8 * n) if n else b""
        return None if data is None else struct.unpack(f"={n}q", data)


class Element(NamedTuple):
    """One element: where it is, and what it is if that can be told.

    `value` is a Python number, the bytes in hexadecimal for a type without one, or None
    for memory that was not read.
    """

    indices: tuple[int, ...]
    address: int
    value: bool | int | float | complex | str | None


class Description(NamedTuple):
    """A DLTensor, copied with its extents. What could not be read is None.

    Strides count elements. `strides` is None also for a NULL pointer.
    """

    data: int
    byte_offset: int
    device: tuple[int, int]
    dtype: tuple[int, int, int]
    ndim: int
    shape_address: int
    strides_address: int
    shape: tuple[int, ...] | None
    strides: tuple[int, ...] | None
    padded: bool

    @classmethod
    def of(cls, tensor: Any, flags: int, memory: Memory) -> Description:
        """Copy a DLTensor, and follow its pointers as far as they can be trusted."""
        shape_address, strides_address = address(tensor.shape), address(tensor.strides)
        ndim, shape, strides = int(tensor.ndim), None, None
        if 0 <= ndim <= MAX_NDIM:
            shape = memory.integers(shape_address, ndim)
            strides = memory.integers(strides_address, ndim)
        dtype, device = tensor.dtype, tensor.device
        return cls(
            address(tensor.data),
            int(tensor.byte_offset),
            (int(device.device_type), int(device.device_id)),
            (int(dtype.code), int(dtype.bits), int(dtype.lanes)),
            ndim,
            shape_address,
            strides_address,
            shape,
            strides,
            padded=bool(flags & Flags.IS_SUBBYTE_TYPE_PADDED),
        )

    @property
    def is_handle(self) -> bool:
        """Whether `data` is a handle, so that no element has an address."""
        return self.device[0] in HANDLES

    @property
    def first(self) -> int:
        """The address of the element whose indices are all 0."""
        return self.data + self.byte_offset

    @property
    def bits(self) -> int:
        """Bits from one element to the next: 8 for a padded type of fewer."""
        _, bits, lanes = self.dtype
        return 8 if self.padded and bits < 8 and lanes == 1 else bits * lanes

    @property
    def itemsize(self) -> int | None:
        """Bytes of an element; None if it has no address of its own."""
        return self.bits // 8 if self.bits and self.bits % 8 == 0 else None

    @property
    def size(self) -> int | None:
        """The number of elements; None if the shape is no shape."""
        if self.shape is None or any(n < 0 for n in self.shape):
            return None
        return prod(self.shape)

    @property
    def steps(self) -> tuple[int, ...] | None:
        """The strides to go by: where the pointer is NULL, those of row-major order."""
        if self.strides_address or self.shape is None or not self.ndim:
            return self.strides
        return None if self.size is None else row_major_strides(self.shape)

    @property
    def reach(self) -> tuple[int, int] | None:
        """First and last address of all elements, end excluded; None if unknown."""
        if self.shape is None or self.steps is None or not self.size:
            return None
        if self.is_handle:
            return None
        reaches = [(n - 1) * s for n, s in zip(self.shape, self.steps, strict=True)]
        size = self.itemsize
        if size is None:
            return None
        low = sum(r for r in reaches if r < 0)
        high = sum(r for r in reaches if r > 0)
        return self.first + size * low, self.first + size * (high + 1)

    @property
    def dtype_name(self) -> str:
        """The name by which libraries know the element type, such as float64."""
        return dtype_name(*self.dtype)

    @property
    def unread(self) -> str | None:
        """Why no element is read; None if they are, or if there are none."""
        device_type, device_id = self.device
        if not 0 <= self.ndim <= MAX_NDIM:
            return f"ndim is {self.ndim}"
        if self.shape is None:
            return (
                "shape is NULL" if not self.shape_address else "shape points to nothing"
            )
        if self.size is None:
            return f"shape is {list(self.shape)}"
        if self.steps is None:
            return "strides points to nothing"
        if self.size == 0:
            return None
        if not self.data:
            return "data is NULL"
        if self.itemsize is None:
            return f"elements of {self.bits} bits have no address of their own"
        name = named(device_type, DeviceType)
        if self.is_handle:
            return f"data is a handle of device {name}, {device_id}, and no address"
        if device_type not in _HOST:
            return f"the memory is that of device {name}, {device_id}"
        return None


def read_elements(tensor: Description, memory: Memory) -> tuple[Element, ...]:
    """Read the elements at the corner of index 0, at most MAX_ELEMENTS.

    Of memory that is another device's, elements without values; none of a handle. Not a
    method: a description is a record that may outlive the memory.
    """
    size, steps = tensor.itemsize, tensor.steps
    if not tensor.size or size is None or steps is None or not tensor.data:
        return ()
    if tensor.is_handle:
        return ()
    on_host = tensor.device[0] in _HOST
    out = []
    for index in product(*map(range, corner(tensor.shape or ()))):
        offset = sum(i * step for i, step in zip(index, steps, strict=True))
        where = tensor.first + size * offset
        data = memory.read(where, size) if on_host else None
        value = None if data is None else decode(data, tensor.dtype)
        out.append(Element(index, where, value))
    return tuple(out)


def address(pointer: Any) -> int:
    """Return a cffi pointer as an integer."""
    return int(ffi.cast("uintptr_t", pointer))


def corner(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return how many indices of each axis are shown: all, or as many as of another."""
    cap = MAX_ELEMENTS
    while prod(min(n, cap) for n in shape) > MAX_ELEMENTS:
        cap -= 1
    return tuple(min(n, cap) for n in shape)


def decode(data: bytes, dtype: tuple[int, int, int]) -> Any:
    """Return the Python number in some bytes; the bytes in hexadecimal if none is."""
    code, bits, lanes = dtype
    if lanes == 1:
        if (code, bits) == (TypeCode.kDLBfloat, 16):
            zeros = b"\0\0"
            both = zeros + data if struct.pack("=H", 1)[0] else data + zeros
            return struct.unpack("=f", both)[0]
        letters = _LETTERS.get(code, {}).get(bits)  # type: ignore[call-overload]
        if letters:
            parts = struct.unpack("=" + letters, data)
            return complex(*parts) if len(parts) == 2 else parts[0]
    return data.hex()


def named(value: int, names: type[DeviceType] | type[TypeCode]) -> str:
    """Return a number with the name it has in DLPack: `1 (kDLCPU)`."""
    name = names(value).name if value in set(names) else "unknown"
    return f"{shown(value)} ({name})"
