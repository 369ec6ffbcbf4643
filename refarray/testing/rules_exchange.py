"""Rules 61-70: the C exchange API, a table of functions on the type of an array.

A library without the table is not checked: it is optional. Next: loading.py.
"""

from __future__ import annotations

import gc
import math
from typing import Any

from refarray.testing import _forge
from refarray.testing.adapters import Adapter
from refarray.testing.exchange import (
    ATTRIBUTE,
    NAME,
    OPTIONAL,
    RIGHT,
    Table,
    headers,
)
from refarray.testing.findings import (
    HEADER,
    MUST,
    NotApplicable,
    Problem,
    Rule,
    attempt,
    note,
    optional,
)
from refarray.testing.forge import DTYPES, READ_ONLY, Case, Raw, Tensor, ffi, row_major
from refarray.testing.samples import (
    HOST_TYPES,
    VALUES,
    dtype_of,
    on_host,
    sample,
    samples,
    try_export,
)

LONGEST_CHAIN = 16
UNTOUCHED = 0x5EED
FROM = "managed_tensor_from_py_object_no_sync"


def capsule_on_type(x: Any) -> Any:
    """Return what the type of an array has under the name of the table."""
    missing = object()
    found = getattr(type(x), ATTRIBUTE, missing)
    if found is missing and not hasattr(x, ATTRIBUTE):
        raise NotApplicable(f"type(x) has no {ATTRIBUTE}, which is optional")
    return None if found is missing else found


def table_of(x: Any) -> Table:
    """Return the table of major version 1; not applicable if there is none."""
    got = attempt(_forge.read_capsule, capsule_on_type(x))
    if got.error or got.value[0] != NAME:
        raise NotApplicable("there is no capsule of the right name on the type: 61")
    for count, header in enumerate(headers(got.value[2])):
        if header.version[0] == 1:
            return Table(header.address)
        if count == LONGEST_CHAIN:
            break
    raise NotApplicable("no table of major version 1: 62")


def faults(
    adapter: Adapter, found: Raw, shape: tuple[int, ...], values: list[float]
) -> list[str]:
    """Say what is wrong with a tensor that should have this shape and these values."""
    if found.ndim != len(shape) or (shape and found.shape != shape):
        return [f"ndim {found.ndim}, not shape {shape}"]
    if found.dtype != DTYPES[dtype_of(adapter)][0]:
        return [f"type {found.dtype}"]
    if shape and found.strides is None:
        return ["strides are NULL"]
    if found.device != adapter.device:
        return [f"device {found.device}, not {adapter.device}"]
    if found.device[0] in HOST_TYPES and found.values() != values:
        return [f"values {found.values()}"]
    return []


def table_on_type(adapter: Adapter) -> list[Problem]:
    """`type(x).__dlpack_c_exchange_api__` is a capsule named dlpack_exchange_api.

    It is the type's, not the instance's, and always the same table.
    """
    x = sample(adapter)
    how = f"type(x).{ATTRIBUTE}"
    got = attempt(_forge.read_capsule, capsule_on_type(x))
    if got.error:
        return [Problem(f"it is no capsule: {got.error}", how)]
    problems = []
    if got.value[0] != NAME:
        problems.append(Problem(f"the capsule is named {got.value[0]!r}", how))
    again = _forge.read_capsule(capsule_on_type(sample(adapter)))
    if again[2] != got.value[2]:
        problems.append(Problem("each look gives another table", how))
    if ATTRIBUTE in getattr(x, "__dict__", {}):
        problems.append(Problem("the instance has it too", f"vars(x)[{ATTRIBUTE!r}]"))
    return problems


def table_version(adapter: Adapter) -> list[Problem]:
    """The table has major version 1, or leads to such a one by `prev_api`.

    Each `prev_api` is older than what names it; the last is NULL.
    """
    got = attempt(_forge.read_capsule, capsule_on_type(sample(adapter)))
    if got.error:
        raise NotApplicable("there is no capsule on the type: 61")
    versions: list[tuple[int, int]] = []
    how = f"type(x).{ATTRIBUTE}, header"
    for header in headers(got.value[2]):
        if versions and header.version >= versions[-1]:
            seen = f"versions {[*versions, header.version]}: prev_api is not older"
            return [Problem(seen, how)]
        versions.append(header.version)
    if any(major == 1 for major, _ in versions):
        return []
    return [Problem(f"versions {versions}", how)]


def functions_are_there(adapter: Adapter) -> list[Problem]:
    """No function is NULL but `dltensor_from_py_object_no_sync`, which may be."""
    table = table_of(sample(adapter))
    return [
        Problem(f"{field} is NULL", f"type(x).{ATTRIBUTE}")
        for field in RIGHT
        if field != OPTIONAL and not table.has(field)
    ]


def export_owns(adapter: Adapter) -> list[Problem]:
    """`managed_tensor_from_py_object_no_sync` gives a versioned tensor that owns.

    It says READ_ONLY where that holds. What cannot be exported raises BufferError.
    """
    table = table_of(sample(adapter))
    problems = []
    for label, x, shape, values in samples(adapter):
        how = f"{FROM}({label})"
        note(how)
        got = table.from_object(x)
        if got.status or not got.result:
            problems.append(Problem(str(got), how))
            continue
        found = Raw.at(got.result)
        del x
        if found.version is None or found.version[0] != 1:
            problems.append(Problem(f"version {found.version}", how))
            continue
        wrong = faults(adapter, found, shape, values)
        problems += [Problem(seen, how) for seen in wrong]
        found.delete()
    problems += _export_survives(adapter, table)
    read_only = optional(adapter.read_only, sample(adapter))
    if read_only is not None:
        got = table.from_object(read_only)
        if got.status == 0 and not Raw.at(got.result).flags & READ_ONLY:
            problems.append(Problem("READ_ONLY is not set", f"{FROM}(read_only)"))
    x = optional(adapter.unexportable)
    if x is not None:
        got = table_of(x).from_object(x)
        if got.error is not None and not isinstance(got.error, BufferError):
            problems.append(Problem(str(got), f"{FROM}(unexportable)"))
    return problems


def _export_survives(adapter: Adapter, table: Table) -> list[Problem]:
    x = sample(adapter)
    got = table.from_object(x)
    if got.status or adapter.device[0] not in HOST_TYPES:
        return []
    del x
    gc.collect()
    others = [sample(adapter) for _ in range(32)]
    found = Raw.at(got.result)
    values = found.values()
    del others
    found.delete()
    if values == VALUES:
        return []
    return [Problem(f"values became {values}", f"t = {FROM}(x); del x; read t")]


def wrong_object(adapter: Adapter) -> list[Problem]:
    """An object of another type gives -1 and a Python exception."""
    table = table_of(sample(adapter))
    problems = []
    for x in (object(), None, 1.5):
        how = f"{FROM}({x!r:.12})"
        note(how)
        got = table.from_object(x)
        if got.status != -1 or got.error is None:
            problems.append(Problem(str(got), how))
        if table.has(OPTIONAL):
            how = f"{OPTIONAL}({x!r:.12})"
            note(how)
            got, _ = table.lend(x)
            if got.status != -1 or got.error is None:
                problems.append(Problem(str(got), how))
    return problems


def import_takes(adapter: Adapter) -> list[Problem]:
    """`managed_tensor_to_py_object_no_sync` takes the tensor: one call of its deleter.

    If it fails, the tensor stays with the caller.
    """
    on_host(adapter)
    table = table_of(sample(adapter))
    case = Case(Tensor.of(VALUES, (2, 3), dtype_of(adapter)))
    how = "managed_tensor_to_py_object_no_sync(t)"
    note(how)
    got = table.to_object(case.address)
    if got.status:
        calls = case.deleter_calls
        return [Problem(f"{got}; deleter calls: {calls}", how)]
    problems = []
    values = adapter.read(got.result)
    if values != VALUES:
        problems.append(Problem(f"values {values}", how))
    del got
    gc.collect()
    if case.deleter_calls != 1:
        seen = f"deleter calls: {case.deleter_calls}"
        problems.append(Problem(seen, f"x = {how}; del x"))
    return problems


def lent_tensor(adapter: Adapter) -> list[Problem]:
    """`dltensor_from_py_object_no_sync` fills in a whole tensor, strides not NULL."""
    table = table_of(sample(adapter))
    problems = []
    for label, x, shape, values in samples(adapter):
        how = f"{OPTIONAL}({label})"
        note(how)
        got, found = table.lend(x)
        wrong = [str(got)] if got.status else faults(adapter, found, shape, values)
        problems += [Problem(seen, how) for seen in wrong]
    return problems


def stream_of_cpu(adapter: Adapter) -> list[Problem]:
    """`current_work_stream` writes NULL for the CPU."""
    table = table_of(sample(adapter))
    how = "current_work_stream(kDLCPU, 0, &stream)"
    note(how)
    got = table.stream((1, 0), UNTOUCHED)
    if got.status or got.error:
        return [Problem(str(got), how)]
    if got.result == UNTOUCHED:
        return [Problem("stream is left untouched", how)]
    return [Problem(f"stream {got.result:#x}", how)] if got.result else []


def allocator_reports(adapter: Adapter) -> list[Problem]:
    """`managed_tensor_allocator` makes a tensor like the prototype, or says why not.

    `SetError` is called when it fails, and only then; no Python exception is left.
    """
    table = table_of(sample(adapter))
    good = DTYPES[dtype_of(adapter)][0]
    problems = []
    for shape, dtype, device in (
        ((2, 3), good, adapter.device),
        ((), good, adapter.device),
        ((0, 3), good, adapter.device),
        ((2, 3), (200, 64, 1), adapter.device),
        ((2, 3), good, (99, 0)),
        ((1 << 61,), good, adapter.device),
    ):
        how = f"managed_tensor_allocator, shape {shape}, dtype {dtype}, on {device}"
        note(how)
        case = Case(Tensor(None, shape, None, dtype, device))
        got, errors = table.allocate(ffi.addressof(case.struct.versioned, "dl_tensor"))
        if got.error is not None:
            problems.append(Problem(f"it left {got.error!r:.120} behind", how))
        if bool(got.status) != bool(errors):
            problems.append(Problem(f"status {got.status}, SetError: {errors}", how))
        usual = dtype == good and device == adapter.device and len(shape) != 1
        if got.status:
            if usual:
                problems.append(Problem(f"it failed: {errors}", how))
            continue
        found = Raw.at(got.result)
        same = found.dtype == dtype and found.device == device
        if not same or (shape and (found.ndim, *found.shape) != (len(shape), *shape)):
            problems.append(Problem("the tensor is not like the prototype", how))
        elif shape and found.strides != row_major(shape) and 0 not in shape:
            problems.append(Problem(f"strides {found.strides}", how))
        elif usual and device[0] in HOST_TYPES:
            found.write(7.0)
            if found.values().count(7.0) != math.prod(shape):
                problems.append(Problem("the memory does not hold what is put", how))
        found.delete()
    return problems


def same_refusals(adapter: Adapter) -> list[Problem]:
    """The table refuses what `__dlpack__` refuses, and exports what the array holds."""
    table_of(sample(adapter))
    cases = dict(adapter.special())
    unexportable = optional(adapter.unexportable)
    if unexportable is not None:
        cases["unexportable"] = unexportable
    if not cases:
        raise NotApplicable("the adapter knows no array that is refused")
    problems = []
    for label, x in cases.items():
        refused = try_export(x).error
        table = table_of(x)
        answers = [(FROM, table.from_object(x))]
        if table.has(OPTIONAL):
            answers.append((OPTIONAL, table.lend(x)[0]))
        for name, got in answers:
            how = f"{name}({label})"
            if refused is not None and got.status == 0:
                seen = f"exported, although __dlpack__ raises {refused!r:.80}"
                problems.append(Problem(seen, how))
        got = answers[0][1]
        if got.status == 0:
            found = Raw.at(got.result)
            if refused is None and found.device[0] in HOST_TYPES:
                exported, held = found.values(), adapter.read(x)
                if exported != held:
                    seen = f"exported {exported}, the array holds {held}"
                    problems.append(Problem(seen, f"{FROM}({label})"))
            found.delete()
    return problems


SOURCE = f"{HEADER}, DLPackExchangeAPI"
RULES = (
    Rule(61, MUST, SOURCE, table_on_type, risky=True),
    Rule(62, MUST, f"{HEADER}, DLPackExchangeAPIHeader", table_version, risky=True),
    Rule(63, MUST, SOURCE, functions_are_there, risky=True),
    Rule(64, MUST, SOURCE, export_owns, risky=True),
    Rule(65, MUST, SOURCE, wrong_object, risky=True),
    Rule(66, MUST, SOURCE, import_takes, risky=True),
    Rule(67, MUST, SOURCE, lent_tensor, risky=True),
    Rule(68, MUST, SOURCE, stream_of_cpu, risky=True),
    Rule(69, MUST, SOURCE, allocator_reports, risky=True),
    Rule(70, MUST, SOURCE, same_refusals, risky=True),
)
