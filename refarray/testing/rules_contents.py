"""Rules 46-54 and 59: what `from_dlpack` makes of the tensor in the capsule.

Next: exchange.py.
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
from refarray.testing.forge import NEWEST
from refarray.testing.odd import Odd, of_rule
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
    adapter: Adapter, case: Odd, values: list[Any], level: Level | None = None
) -> list[Problem]:
    """Import a forged tensor; a problem unless shape and values arrive."""
    how = f"from_dlpack(x), {case.name}"
    note(case.name)
    x = Producer(case.tensor, legacy_only=case.tensor.version is None)
    got = take(adapter, x)
    if case.may_refuse and isinstance(got.error, BufferError):
        return []
    if got.error:
        return [Problem(describe(got), how, level)]
    if adapter.shape(got.value) != case.shape:
        seen = f"shape {adapter.shape(got.value)}, not {case.shape}"
        return [Problem(seen, how, level)]
    if adapter.read(got.value) != values:
        return [Problem(f"values {adapter.read(got.value)}, not {values}", how, level)]
    return []


def accepted(adapter: Adapter, case: Odd) -> list[Problem]:
    """Import a forged tensor that nobody can read; a problem unless that raises."""
    how = f"from_dlpack(x), {case.name}"
    note(case.name)
    x = Producer(case.tensor, announce=case.announce)
    got = take(adapter, x)
    problems = []
    if got.error is None or isinstance(got.error, SystemError):
        problems.append(Problem(describe(got), how))
    del got
    settle(x)
    if any(calls > 1 for calls in x.deleter_calls):
        problems.append(Problem(f"deleter calls: {x.deleter_calls}", how))
    return problems


def imported(adapter: Adapter, rule: int) -> list[Problem]:
    """Import each odd tensor that a rule is about."""
    problems = []
    for case in of_rule(rule, tensor(adapter)):
        if case.values is None:
            problems += accepted(adapter, case)
        else:
            problems += misread(adapter, case, case.values)
    return problems


def byte_offset(adapter: Adapter) -> list[Problem]:
    """The first element lies at data + byte_offset."""
    return imported(adapter, 46)


def strides_may_be_null(adapter: Adapter) -> list[Problem]:
    """Strides that are NULL mean row-major, in the legacy form and before DLPack 1.2.

    Later they are not allowed, and should be tolerated.
    """
    problems = []
    for case in of_rule(47, tensor(adapter)):
        level = SHOULD if case.tensor.version == NEWEST else None
        problems += misread(adapter, case, VALUES, level)
    return problems


def strides_are_honoured(adapter: Adapter) -> list[Problem]:
    """Any strides are honoured, or refused with BufferError."""
    return imported(adapter, 48)


def null_pointers(adapter: Adapter) -> list[Problem]:
    """Without axes, shape and strides may be NULL; without elements, data may be."""
    return imported(adapter, 49)


def unknown_types(adapter: Adapter) -> list[Problem]:
    """Unknown type codes, bits, lanes and devices raise an exception; never a guess."""
    return imported(adapter, 50)


def impossible_tensors(adapter: Adapter) -> list[Problem]:
    """Negative ndim or extents, overflow, NULL data with elements: an exception."""
    return imported(adapter, 51)


def read_only_flag(adapter: Adapter) -> list[Problem]:
    """READ_ONLY makes the array read-only; a library without that notion ignores it."""
    (case,) = of_rule(52, tensor(adapter))
    x = Producer(case.tensor)
    got = take(adapter, x)
    need_flags(x)
    how = f"from_dlpack(x), {case.name}"
    if got.error:
        return [Problem(describe(got), how)]
    if adapter.is_read_only(got.value) is False:
        return [Problem("the array is writable", how)]
    return []


def unknown_flags(adapter: Adapter) -> list[Problem]:
    """Flag bits that nobody has defined yet are ignored."""
    (case,) = of_rule(53, tensor(adapter))
    x = Producer(case.tensor)
    got = take(adapter, x)
    need_flags(x)
    if got.error is None and adapter.read(got.value) == VALUES:
        return []
    return [Problem(describe(got), f"from_dlpack(x), {case.name}")]


def device_of_capsule_decides(adapter: Adapter) -> list[Problem]:
    """The capsule's device counts; if another was announced, an exception."""
    return imported(adapter, 54)


def misaligned(adapter: Adapter) -> list[Problem]:
    """Memory that is not aligned for its type is handled or copied."""
    return imported(adapter, 59)


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
