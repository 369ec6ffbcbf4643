"""What has to become of a capsule: read with ctypes, judged by the rules of DLPack.

Nothing of refarray is used, and Python's integers do not overflow. Next:
fuzz_capsules.py.
"""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from itertools import product

MAX_NDIM = 64
MAX_ELEMENTS = 512  # more are not read: the next input may tell more
#: DLPack's (code, bits) of what an array of refarray can hold.
HELD = {
    *((0, bits) for bits in (8, 16, 32, 64)),
    *((1, bits) for bits in (8, 16, 32, 64)),
    *((2, bits) for bits in (16, 32, 64)),
    *((4, 16), (5, 64), (5, 128), (6, 8)),
}


class CTensor(ctypes.Structure):
    """DLTensor, as dlpack.h of DLPack 1.3 has it."""

    _fields_ = [
        ("data", ctypes.c_uint64),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_uint64),
        ("strides", ctypes.c_uint64),
        ("byte_offset", ctypes.c_uint64),
    ]


class CVersioned(ctypes.Structure):
    """DLManagedTensorVersioned, its pointers as numbers."""

    _fields_ = [
        ("version", ctypes.c_uint32 * 2),
        ("manager_ctx", ctypes.c_uint64),
        ("deleter", ctypes.c_uint64),
        ("flags", ctypes.c_uint64),
        ("tensor", CTensor),
    ]


@dataclass
class Seen:
    """A managed tensor, as its bytes are."""

    name: str | None
    version: tuple[int, int] | None
    flags: int
    data: int
    device: tuple[int, int]
    dtype: tuple[int, int, int]
    ndim: int
    shape: tuple[int, ...] | None
    strides: tuple[int, ...] | None  # compact ones for a NULL pointer
    byte_offset: int

    @classmethod
    def at(cls, name: str | None, address: int) -> Seen:
        """Read the form that the name says."""
        version, flags = None, 0
        if (name or "").endswith("dltensor_versioned"):
            managed = CVersioned.from_address(address)
            it = managed.tensor
            version, flags = tuple(managed.version), managed.flags
        else:
            it = CTensor.from_address(address)
        shape = strides = None
        if 0 <= it.ndim <= MAX_NDIM and (it.shape or not it.ndim):
            extents = ctypes.c_int64 * it.ndim
            shape = tuple(extents.from_address(it.shape)) if it.ndim else ()
            if it.strides and it.ndim:
                strides = tuple(extents.from_address(it.strides))
            else:
                strides = tuple(math.prod(shape[i + 1 :]) for i in range(it.ndim))
        return cls(
            name,
            version,
            flags,
            it.data,
            tuple(it.device),
            (it.code, it.bits, it.lanes),
            it.ndim,
            shape,
            strides,
            it.byte_offset,
        )

    @property
    def bits(self) -> int:
        """Bits of an element."""
        return self.dtype[1] * self.dtype[2]

    @property
    def itemsize(self) -> int:
        """Bytes of an element, which are whole ones."""
        return self.bits // 8

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def first(self) -> int:
        """The address of the first element."""
        return self.data + self.byte_offset

    @property
    def is_other_version(self) -> bool:
        """Whether only version and deleter may be looked at."""
        return self.version is not None and self.version[0] != 1

    def reach(self) -> tuple[int, int]:
        """Lowest address of all elements, and the one after the highest."""
        ends = [
            (n - 1) * step for n, step in zip(self.shape, self.strides, strict=True)
        ]
        low = self.first + self.itemsize * sum(min(0, end) for end in ends)
        high = self.first + self.itemsize * (sum(max(0, end) for end in ends) + 1)
        return low, high

    def addresses(self) -> list[int]:
        """Where each element is, in row-major order."""
        return [
            self.first
            + self.itemsize
            * sum(i * s for i, s in zip(index, self.strides, strict=True))
            for index in product(*map(range, self.shape))
        ]

    def elements(self) -> bytes:
        """The bytes of all elements, in row-major order."""
        read = ctypes.string_at
        return b"".join(read(where, self.itemsize) for where in self.addresses())

    # ---- What is right ---------------------------------------------------------------

    def wrong_name(self) -> bool:
        """Whether this is no capsule for a consumer."""
        return self.name not in ("dltensor", "dltensor_versioned")

    def verdict(self, any_memory: bool) -> bool | None:
        """Tell whether it must be accepted, or refused; None if either is right.

        `any_memory`: it need not be an array, but any elements on any device.
        """
        if self.is_other_version:
            return False
        if any_memory:
            if not self.bits or self.bits % 8:
                return False
            if self.dtype[1] < 8 and self.flags & 4 and self.name != "dltensor":
                return False  # padded elements; a description is of packed ones
            if self.byte_offset and self.device != (1, 0):
                # Where memory is known by a handle, nothing can be added to it.
                return self._layout() and None
        elif self.dtype[:2] not in HELD or self.dtype[2] != 1 or self.device != (1, 0):
            return False
        return self._layout()

    def _layout(self) -> bool | None:
        if self.shape is None or any(n < 0 for n in self.shape):
            return False
        if math.prod(n or 1 for n in self.shape) * self.itemsize >= 2**63:
            return False if self.size else None
        if not self.size:
            return True
        low, high = self.reach()
        if not self.data or low <= 0 or high > 2**64:
            return False
        # No memory is as large as a quarter of all addresses, or at their end.
        near = self.first - low < 2**62 and high - self.first < 2**62
        return True if near and self.byte_offset < 2**63 and high < 2**64 else None

    def can_be_read(self, start: int, end: int) -> bool:
        """Whether there are elements, few, and all of them between two addresses."""
        if not 0 < self.size <= MAX_ELEMENTS:
            return False
        low, high = self.reach()
        return start <= low and high <= end
