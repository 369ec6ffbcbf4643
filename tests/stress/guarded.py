"""Memory between pages that nobody can touch: one byte too far ends the process.

Next: fuzz_input.py.
"""

from __future__ import annotations

import ctypes
import mmap

NONE, READ, WRITE = 0, mmap.PROT_READ, mmap.PROT_READ | mmap.PROT_WRITE

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [
    ctypes.c_void_p,
    ctypes.c_size_t,
    *[ctypes.c_int] * 3,
    ctypes.c_long,
]
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


class Guarded:
    """Some pages that can be closed and opened, with closed ones on both sides.

    They stay as long as the process.
    """

    GUARD = 64 * mmap.PAGESIZE

    def __init__(self, pages: int) -> None:
        self.nbytes = pages * mmap.PAGESIZE
        kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        whole = _libc.mmap(None, self.nbytes + 2 * self.GUARD, NONE, kind, -1, 0)
        assert whole != ctypes.c_void_p(-1).value, "no memory"
        self.address = whole + self.GUARD
        self.end = self.address + self.nbytes
        self.open(WRITE)

    def open(self, how: int) -> None:
        """Let the pages be written, or be read, or not be touched at all."""
        failed = _libc.mprotect(self.address, self.nbytes, how)
        assert not failed, "mprotect failed"

    def fill(self, pattern: bytes) -> None:
        """Write these bytes, as many as there are in the pages."""
        ctypes.memmove(self.address, pattern, self.nbytes)

    def content(self) -> bytes:
        """Return all bytes."""
        return ctypes.string_at(self.address, self.nbytes)

    def place_last(self, integers: tuple[int, ...]) -> int:
        """Write int64 so that the last one ends where the pages do; their address."""
        values = (ctypes.c_int64 * len(integers))(*integers)
        where = self.end - ctypes.sizeof(values)
        ctypes.memmove(where, values, ctypes.sizeof(values))
        return where
