"""From the bytes of a fuzzer to a forged capsule: every field of it, right or wrong.

Each byte chooses among values that are worth trying, the value of other bytes being one
of them; where the bytes end, all that follows is the first choice, a plain array. So
any bytes mean something, and a small change of them is a small change of the capsule.
Next: fuzz_oracle.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from guarded import Guarded

from refarray.testing import _forge, forge
from refarray.testing.forge import Case, Tensor, ffi, row_major

#: What the data points into, and the pages in which shape and strides end.
DATA, SHAPE, STRIDES = Guarded(4), Guarded(1), Guarded(1)

#: The axes that a forged case has room for.
ROOM = len(ffi.new("forge_case *").shape)
#: No float made of bytes below 64 is NaN, or as much as 1.
PATTERN = bytes(37 * i % 64 for i in range(DATA.nbytes))
BITS = bytes(i % 3 == 0 for i in range(DATA.nbytes))

VERSIONS = [
    *((1, 3), None, (1, 3), None, (1, 0), (1, 2), (1, 255), (1, 2**32 - 1)),
    *((0, 0), (0, 9), (2, 0), (2, 2**31), (2**32 - 1, 3)),
]
NAMES = [*["by version"] * 20, None, "used", "", "dltensor", "numpy", "dltensor_v"]
NDIMS = [1, 2, 0, 3, 2, 4, 1, 5, 64, 65, 72, -1, -(2**31), 2**31 - 1, "bytes"]
EXTENTS = [
    *(3, 1, 2, 0, 4, 5, 1, 2, 17, 64, "byte", "bytes", -1, 2**31, 2**40, 2**62),
    *(2**63 - 1, -(2**63)),
]
STEPS = [
    *(1, 0, -1, 2, -2, 3, "byte", "bytes", 2**31, -(2**31), 2**55, 2**60, -(2**60)),
    *(2**62, 2**63 - 1, -(2**63)),
]
ORDERS = ["compact", None, "columns", "reversed", "every second", "zeros", "each"]
DTYPES = [
    *[forge.DTYPES[name][0] for name in ("float64", "int8", "bool", "complex64")],
    *((2, 16, 1), (4, 16, 1), "known", "known", (2, 64, 4), (2, 64, 0), (2, 0, 1)),
    *((3, 64, 1), (17, 4, 2), (6, 1, 1), "bytes"),
]
DEVICES = [*[forge.CPU] * 12, (1, 1), (2, 0), (3, 0), (12, 0), (12, 7), "bytes"]
OFFSETS = [0, 0, 0, 8, 1, 64, 4096, "bytes", 2**63 - 1, 2**63, 2**64 - 1]
PLACES = ["end", "start", "end", "start", "inside", "inside", "nowhere", "NULL"]
FLAGS = [0, 0, 0, 1, 2, 3, 4, "bytes"]


class Source:
    """Bytes, taken one after the other; zeros when they have ended."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def byte(self) -> int:
        """Take one."""
        self.at += 1
        return self.data[self.at - 1] if self.at <= len(self.data) else 0

    def number(self, nbytes: int, signed: bool = False) -> int:
        """Take some as one number."""
        taken = bytes(self.byte() for _ in range(nbytes))
        return int.from_bytes(taken, "little", signed=signed)

    def choose(self, options: Sequence[Any], nbytes: int = 8) -> Any:
        """Choose by one byte; "byte" and "bytes" are for the signed number in more."""
        found = options[self.byte() % len(options)]
        if found == "byte":
            return self.number(1, signed=True)
        return self.number(nbytes, signed=True) if found == "bytes" else found


class Reused(Case):
    """A case in memory that another had before: too many are made to keep them all."""

    def __init__(self, tensor: Tensor, struct: Any) -> None:
        self.tensor, self.struct = tensor, struct
        ffi.memmove(struct, bytes(ffi.sizeof("forge_case")), ffi.sizeof("forge_case"))
        self._fill()
        form = struct.legacy if tensor.version is None else struct.versioned
        for name, room in (("shape", SHAPE), ("strides", STRIDES)):
            values = getattr(tensor, name)
            if values is not None:
                where = ffi.cast("int64_t *", room.place_last(values))
                setattr(form.dl_tensor, name, where)

    def capsule_at(self, address: int) -> object:
        """Return a capsule that points to anything, and gives nothing back."""
        name = "dltensor" if self.tensor.version is None else "dltensor_versioned"
        return _forge.make_capsule(address, 0, name, False, True)


def tensor(source: Source) -> Tensor:
    """Return what the capsule shall contain."""
    version = source.choose(VERSIONS)
    name = source.choose(NAMES)
    if name == "used":
        name = "used_dltensor" if version is None else "used_dltensor_versioned"
    ndim = source.choose(NDIMS, 4)
    given = ndim if 0 <= ndim <= ROOM else 3
    shape = tuple(source.choose(EXTENTS) for _ in range(min(given, 6)))
    shape += (1,) * (given - len(shape))
    strides = _strides(source, shape)
    dtype = source.choose(DTYPES)
    if dtype == "known":
        dtype = source.choose([triple for triple, _ in forge.DTYPES.values()])
    elif not isinstance(dtype, tuple):
        dtype = (dtype & 0xFF, dtype >> 8 & 0xFF, dtype >> 16 & 0xFFFF)
    device = source.choose(DEVICES)
    if not isinstance(device, tuple):
        device = (device % 20, device >> 8 & 0xFF)
    offset = source.choose(OFFSETS) % 2**64
    return Tensor(
        data=_place(source, shape, strides, dtype, offset),
        shape=None if source.choose([False] * 15 + [True]) else shape,
        strides=strides,
        dtype=dtype,
        device=device,
        byte_offset=offset,
        version=version,
        flags=source.choose(FLAGS) % 2**64,
        ndim=ndim,
        name=name,
        deleter=source.choose(["counts"] * 7 + [None]),
        destructor=source.choose(["right"] * 7 + [None]),
    )


def _strides(source: Source, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    order = source.choose(ORDERS)
    if order is None:
        return None
    if order == "each":
        steps = tuple(source.choose(STEPS) for _ in shape[:6])
        return steps + (1,) * (len(shape) - len(steps))
    if order == "columns":
        steps = row_major(shape[::-1])[::-1]
    else:
        factor = {"compact": 1, "reversed": -1, "every second": 2, "zeros": 0}[order]
        steps = tuple(factor * step for step in row_major(shape))
    return tuple((step + 2**63) % 2**64 - 2**63 for step in steps)


def _place(
    source: Source,
    shape: tuple[int, ...],
    strides: tuple[int, ...] | None,
    dtype: tuple[int, int, int],
    offset: int,
) -> int | None:
    """Return the data pointer: so that the elements end, or begin, where DATA does."""
    place = source.choose(PLACES)
    if place == "NULL":
        return None
    if place == "nowhere":
        return source.choose([1, 4096, 2**47, 2**63, 2**64 - 8, "bytes"]) % 2**64
    size = max(1, math.ceil(dtype[1] * dtype[2] / 8))
    steps = row_major(shape) if strides is None else strides
    ends = [(n - 1) * step for n, step in zip(shape, steps, strict=True)]
    if place == "end":
        first = DATA.end - size * (sum(max(0, end) for end in ends) + 1)
    elif place == "start":
        first = DATA.address - size * sum(min(0, end) for end in ends)
    else:
        first = DATA.address + source.number(2) % DATA.nbytes
    return (first - offset) % 2**64
