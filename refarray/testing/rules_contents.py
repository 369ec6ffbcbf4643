"""Rules 46-54 and 59: what `from_dlpack` makes of the tensor in the capsule.

Next: rules.py, the list of all rules.
"""

from __future__ import annotations

from typing import Any

from refarray.testing.adapters import Adapter
from refarray.testing.findings import (
    API,
    HEADER,
    MUST,
    SHOULD,
    Level,
    Problem,
    Rule,
    note,
)
from refarray.testing.forge import (
    CPU,
    CUDA,
    NAMES,
    READ_ONLY,
    Tensor,
    allocate,
    itemsize,
    row_major,
    store,
)
from refarray.testing.producers import Producer
from refarray.testing.rules_consumer import (
    describe,
    need_flags,
    settle,
    take,
    tensor,
)
from refarray.testing.samples import VALUES


def misread(
    adapter: Adapter,
    source: Tensor,
    shape: tuple[int, ...],
    values: list[Any],
    *,
    level: Level | None = None,
    may_refuse: bool = False,
    label: str = "",
) -> list[Problem]:
    """Import a forged tensor; a problem unless shape and values arrive."""
    how = f"from_dlpack(x), {label}"
    note(label)
    got = take(adapter, Producer(source, legacy_only=source.version is None))
    if may_refuse and isinstance(got.error, BufferError):
        return []
    if got.error:
        return [Problem(describe(got), how, level)]
    if adapter.shape(got.value) != shape:
        seen = f"shape {adapter.shape(got.value)}, not {shape}"
        return [Problem(seen, how, level)]
    if adapter.read(got.value) != values:
        return [Problem(f"values {adapter.read(got.value)}, not {values}", how, level)]
    return []


def accepted(
    adapter: Adapter,
    source: Tensor,
    label: str,
    announce: tuple[int, int] | None = None,
) -> list[Problem]:
    """Import a forged tensor that nobody can read; a problem unless that raises."""
    how = f"from_dlpack(x), {label}"
    note(label)
    x = Producer(source, announce=announce)
    got = take(adapter, x)
    problems = []
    if got.error is None or isinstance(got.error, SystemError):
        problems.append(Problem(describe(got), how))
    del got
    settle(x)
    if any(calls > 1 for calls in x.deleter_calls):
        problems.append(Problem(f"deleter calls: {x.deleter_calls}", how))
    return problems


def byte_offset(adapter: Adapter) -> list[Problem]:
    """The first element lies at data + byte_offset."""
    good = tensor(adapter)
    size = itemsize(NAMES[good.dtype])
    label = f"byte_offset={2 * size}"
    part = good.but(shape=(4,), strides=(1,), byte_offset=2 * size)
    return misread(adapter, part, (4,), VALUES[2:], label=label)


def strides_may_be_null(adapter: Adapter) -> list[Problem]:
    """Strides that are NULL mean row-major, in the legacy form and before DLPack 1.2.

    Later they are not allowed, and should be tolerated.
    """
    good = tensor(adapter).but(strides=None)
    problems = []
    for version in (None, (1, 0), (1, 1), (1, 3)):
        level = SHOULD if version == (1, 3) else None
        label = f"strides NULL, version {version}"
        source = good.but(version=version)
        problems += misread(adapter, source, (2, 3), VALUES, level=level, label=label)
    return problems


def strides_are_honoured(adapter: Adapter) -> list[Problem]:
    """Any strides are honoured, or refused with BufferError."""
    good = tensor(adapter)
    last = 5 * itemsize(NAMES[good.dtype])
    cases = [
        ("column-major", (2, 3), (1, 2), 0, [1, 3, 5, 2, 4, 6]),
        ("gaps", (2, 2), (3, 2), 0, [1, 3, 4, 6]),
        ("stride 0", (2, 3), (0, 1), 0, [1, 2, 3, 1, 2, 3]),
        ("negative strides", (2, 3), (-3, -1), last, [6, 5, 4, 3, 2, 1]),
        ("one row, stride 77777", (1, 3), (77777, 1), 0, [1, 2, 3]),
        ("one row, stride -5", (1, 3), (-5, 1), 0, [1, 2, 3]),
    ]
    problems = []
    for label, shape, strides, skip, values in cases:
        source = good.but(shape=shape, strides=strides, data=(good.data or 0) + skip)
        problems += misread(
            adapter, source, shape, values, may_refuse=True, label=label
        )
    return problems


def null_pointers(adapter: Adapter) -> list[Problem]:
    """Without axes, shape and strides may be NULL; without elements, data may be."""
    good = tensor(adapter)
    scalar = good.but(shape=None, strides=None)
    empty = good.but(data=None, shape=(0, 3), strides=(3, 1))
    return misread(
        adapter, scalar, (), VALUES[:1], label="ndim 0, shape and strides NULL"
    ) + misread(adapter, empty, (0, 3), [], label="shape (0, 3), data NULL")


def unknown_types(adapter: Adapter) -> list[Problem]:
    """Unknown type codes, bits, lanes and devices raise an exception; never a guess."""
    good = tensor(adapter)
    problems = []
    for dtype in (
        (200, 64, 1),
        (2, 24, 1),
        (0, 7, 1),
        (6, 1, 1),
        (3, 64, 1),
        (2, 64, 4),
        (2, 64, 0),
    ):
        source = good.but(dtype=dtype)
        problems += accepted(adapter, source, f"(code, bits, lanes) = {dtype}")
    return problems + accepted(adapter, good.but(device=(99, 0)), "device type 99")


def impossible_tensors(adapter: Adapter) -> list[Problem]:
    """Negative ndim or extents, overflow, NULL data with elements: an exception."""
    good = tensor(adapter)
    big = (1 << 40, 1 << 40)
    cases = [
        ("ndim -1", good.but(ndim=-1)),
        ("shape (-1, 3)", good.but(shape=(-1, 3))),
        ("shape (2, -3)", good.but(shape=(2, -3))),
        ("shape (2**40, 2**40)", good.but(shape=big, strides=row_major(big))),
        ("shape (2**61,)", good.but(shape=(1 << 61,), strides=(1,))),
        ("data NULL with 6 elements", good.but(data=None)),
    ]
    problems = []
    for label, source in cases:
        problems += accepted(adapter, source, label)
    return problems


def read_only_flag(adapter: Adapter) -> list[Problem]:
    """READ_ONLY makes the array read-only; a library without that notion ignores it."""
    x = Producer(tensor(adapter).but(flags=READ_ONLY))
    got = take(adapter, x)
    need_flags(x)
    how = "from_dlpack(x), flags=READ_ONLY"
    if got.error:
        return [Problem(describe(got), how)]
    if adapter.is_read_only(got.value) is False:
        return [Problem("the array is writable", how)]
    return []


def unknown_flags(adapter: Adapter) -> list[Problem]:
    """Flag bits that nobody has defined yet are ignored."""
    x = Producer(tensor(adapter).but(flags=1 << 40 | 1 << 63))
    got = take(adapter, x)
    need_flags(x)
    if got.error is None and adapter.read(got.value) == VALUES:
        return []
    return [Problem(describe(got), "from_dlpack(x), flags=1<<40 | 1<<63")]


def device_of_capsule_decides(adapter: Adapter) -> list[Problem]:
    """The capsule's device counts; if another was announced, an exception."""
    good = tensor(adapter)
    problems = []
    for announced, found in ((CPU, CUDA), (CUDA, CPU), (CPU, (3, 0))):
        source = good.but(device=found)
        label = f"announced {announced}, capsule on {found}"
        problems += accepted(adapter, source, label, announced)
    return problems


def misaligned(adapter: Adapter) -> list[Problem]:
    """Memory that is not aligned for its type is handled or copied."""
    good = tensor(adapter)
    dtype = NAMES[good.dtype]
    address = allocate(6 * itemsize(dtype), misaligned=1)
    for i, value in enumerate(VALUES):
        store(address + i * itemsize(dtype), dtype, value)
    source = good.but(data=address)
    return misread(adapter, source, (2, 3), VALUES, label="data at an odd address")


RULES = (
    Rule(46, MUST, f"{HEADER}, byte_offset", byte_offset, risky=True),
    Rule(47, MUST, f"{HEADER}, strides", strides_may_be_null, risky=True),
    Rule(48, MUST, f"{HEADER}, strides", strides_are_honoured, risky=True),
    Rule(49, MUST, f"{HEADER}, DLTensor", null_pointers, risky=True),
    Rule(50, MUST, f"{HEADER}, DLDataType", unknown_types, risky=True),
    Rule(51, MUST, f"{HEADER}, DLTensor", impossible_tensors, risky=True),
    Rule(52, MUST, f"{HEADER}, DLPACK_FLAG_BITMASK_READ_ONLY", read_only_flag),
    Rule(53, SHOULD, f"{HEADER}, flags", unknown_flags),
    Rule(54, MUST, f"{API}, __dlpack_device__", device_of_capsule_decides, risky=True),
    Rule(59, SHOULD, f"{HEADER}, data", misaligned, risky=True),
)
