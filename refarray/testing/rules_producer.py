"""Rules 4-15 and 21-28: what `__dlpack__` returns. Next: rules_stream.py."""

from __future__ import annotations

import gc
import inspect
from typing import Any

from refarray.testing.adapters import Adapter
from refarray.testing.findings import (
    API,
    HEADER,
    MUST,
    SHOULD,
    NotApplicable,
    Problem,
    Rule,
    attempt,
    note,
    optional,
)
from refarray.testing.forge import CPU, DTYPES, IS_COPIED, NEWEST, READ_ONLY, Raw
from refarray.testing.samples import (
    VALUES,
    describe,
    dtype_of,
    exported,
    need_device,
    on_host,
    raw,
    sample,
    samples,
    try_export,
    versioned,
)


def keywords_only(adapter: Adapter) -> list[Problem]:
    """`stream`, `max_version`, `dl_device`, `copy` are keyword-only, default None."""
    x = sample(adapter)
    nothing = dict.fromkeys(("stream", "max_version", "dl_device", "copy"))
    problems = []
    got = attempt(raw, x, **nothing)
    if got.error is not None and not isinstance(got.error, BufferError):
        problems.append(Problem(describe(got), "x.__dlpack__(stream=None, ...)"))
    if attempt(x.__dlpack__, None).error is None:
        problems.append(Problem("a positional argument is taken", "x.__dlpack__(None)"))
    signature = attempt(inspect.signature, x.__dlpack__)
    if signature.error is None:
        for name in nothing:
            parameter = signature.value.parameters.get(name)
            # A private object for "not given" is as good as None; a number is not.
            if parameter is not None and isinstance(parameter.default, int):
                problems.append(Problem(str(parameter), "inspect.signature"))
    return problems


def legacy_by_default(adapter: Adapter) -> list[Problem]:
    """Without `max_version`: a legacy capsule, or BufferError."""
    x = sample(adapter)
    problems = []
    for keywords in ({}, {"max_version": None}):
        got = attempt(raw, x, **keywords)
        refused = isinstance(got.error, BufferError)
        if not refused and (got.error or not got.value.legacy):
            problems.append(Problem(describe(got), f"x.__dlpack__(**{keywords})"))
    return problems


def versioned_if_asked(adapter: Adapter) -> list[Problem]:
    """`max_version=(1, any)`: a versioned capsule of major version 1."""
    x = sample(adapter)
    problems = []
    for version in ((1, 0), (1, 3), (1, 99)):
        got = attempt(raw, x, max_version=version)
        if got.error or got.value.legacy or got.value.version[0] != 1:
            seen = describe(got)
            problems.append(Problem(seen, f"x.__dlpack__(max_version={version})"))
    return problems


def own_version_if_asked_for_more(adapter: Adapter) -> list[Problem]:
    """`max_version` above the producer's: the producer's own highest version."""
    x = sample(adapter)
    own = versioned(x).version
    problems = []
    for version in ((2, 0), (99, 7)):
        got = attempt(raw, x, max_version=version)
        how = f"x.__dlpack__(max_version={version})"
        if got.error or got.value.legacy:
            problems.append(Problem(describe(got), how))
        elif got.value.version != own:
            problems.append(Problem(f"{got.value.version}, but own is {own}", how))
    return problems


def too_old_version(adapter: Adapter) -> list[Problem]:
    """`max_version` of major 0: nothing newer than legacy, or BufferError."""
    got = attempt(raw, sample(adapter), max_version=(0, 8))
    if isinstance(got.error, BufferError) or (not got.error and got.value.legacy):
        return []
    return [Problem(describe(got), "x.__dlpack__(max_version=(0, 8))")]


def malformed_version(adapter: Adapter) -> list[Problem]:
    """A malformed `max_version` raises TypeError."""
    x = sample(adapter)
    problems = []
    for version in ("1.0", 1, (1,), ("1", "0")):
        got = attempt(raw, x, max_version=version)
        if not isinstance(got.error, TypeError):
            seen = describe(got)
            problems.append(Problem(seen, f"x.__dlpack__(max_version={version!r})"))
    return problems


def device_as_asked(adapter: Adapter) -> list[Problem]:
    """`dl_device`: the own device by default and on request; others, or BufferError.

    A capsule lies on the device that was asked for.
    """
    x = sample(adapter)
    problems = []
    if exported(x).device != adapter.device:
        seen = f"device {exported(x).device}, not {adapter.device}"
        problems.append(Problem(seen, "x.__dlpack__()"))
    own = adapter.device
    for device in (own, (own[0], 77), (2, 0), (9, 0), (16, 0)):
        got = attempt(raw, x, max_version=NEWEST, dl_device=device)
        how = f"x.__dlpack__(dl_device={device})"
        if isinstance(got.error, BufferError) and device != own:
            continue
        if got.error:
            problems.append(Problem(describe(got), how))
        elif got.value.device != device:
            problems.append(Problem(f"capsule on device {got.value.device}", how))
    return problems


def way_to_host(adapter: Adapter) -> list[Problem]:
    """`dl_device=(kDLCPU, 0)` gives CPU memory; BufferError if copy=False forbids it.

    The values there are those of the array.
    """
    x = sample(adapter)
    got = attempt(raw, x, max_version=NEWEST, dl_device=CPU)
    if got.error:
        return [Problem(describe(got), "x.__dlpack__(dl_device=(1, 0))")]
    problems = []
    if got.value.device != CPU:
        seen = f"capsule on device {got.value.device}"
        problems.append(Problem(seen, "x.__dlpack__(dl_device=(1, 0))"))
    elif got.value.values() != VALUES:
        seen = f"values {got.value.values()}, not {VALUES}"
        problems.append(Problem(seen, "x.__dlpack__(dl_device=(1, 0))"))
    got = attempt(raw, x, max_version=NEWEST, dl_device=CPU, copy=False)
    if got.error and not isinstance(got.error, BufferError):
        seen = describe(got)
        problems.append(Problem(seen, "x.__dlpack__(dl_device=(1, 0), copy=False)"))
    return problems


def aliases(adapter: Adapter, x: Any, found: Raw) -> bool:
    """Whether an export shares the array's memory: seen by writing, or by address."""
    mark = 8.0 if 9.0 in found.values() else 9.0
    try:
        adapter.write(x, mark)
    except NotApplicable:
        return found.first == exported(x).first
    return set(found.values()) == {mark}


def copy_true(adapter: Adapter) -> list[Problem]:
    """`copy=True` always gives new memory and sets IS_COPIED in the versioned form."""
    on_host(adapter)
    x = sample(adapter)
    problems = []
    for keywords in ({"max_version": NEWEST, "copy": True}, {"copy": True}):
        got = attempt(raw, x, **keywords)
        how = f"x.__dlpack__(**{keywords})"
        if got.error:
            if not (
                isinstance(got.error, BufferError) and "max_version" not in keywords
            ):
                problems.append(Problem(describe(got), how))
            continue
        if aliases(adapter, x, got.value):
            problems.append(Problem("the memory is that of the array", how))
        if not got.value.legacy and not got.value.flags & IS_COPIED:
            problems.append(Problem(f"flags {got.value.flags:#x}: no IS_COPIED", how))
    return problems


def copy_false(adapter: Adapter) -> list[Problem]:
    """`copy=False` never copies: the array's own memory, or BufferError."""
    on_host(adapter)
    x = sample(adapter)
    got = attempt(raw, x, max_version=NEWEST, copy=False)
    how = "x.__dlpack__(max_version=(1, 3), copy=False)"
    if isinstance(got.error, BufferError):
        return []
    if got.error:
        return [Problem(describe(got), how)]
    again = attempt(raw, x, max_version=NEWEST, copy=False)
    if not aliases(adapter, x, got.value) or again.value.first != got.value.first:
        return [Problem("the memory is not that of the array", how)]
    return []


def copy_none(adapter: Adapter) -> list[Problem]:
    """`copy=None` gives a view where one is possible."""
    on_host(adapter)
    x = sample(adapter)
    first, second = exported(x), exported(x)
    if not aliases(adapter, x, first) or first.first != second.first:
        return [Problem("the memory is not that of the array", "x.__dlpack__()")]
    return []


def copy_on_stream(adapter: Adapter) -> list[Problem]:
    """A copy is made on the stream that was given, if it is understood."""
    need_device(adapter, 2, 10)
    x, stream = sample(adapter), adapter.stream()
    exported(x, stream=stream, copy=True)
    waited = adapter.waited(x)
    if waited and waited[-1] == stream:
        return []
    return [
        Problem(
            f"ordered before {waited[-1:]}", f"x.__dlpack__(stream={stream}, copy=True)"
        )
    ]


def refusal_is_buffer_error(adapter: Adapter) -> list[Problem]:
    """Data that cannot be exported raises BufferError; no other values are exported."""
    problems = []
    for label, x in adapter.special().items():
        how = f"{label}.__dlpack__()"
        note(how)
        got = try_export(x)
        if got.error is None and adapter.device == CPU:
            exported, held = got.value.values(), adapter.read(x)
            if exported != held:
                seen = f"exported {exported}, the array holds {held}"
                problems.append(Problem(seen, how, MUST))
        elif not isinstance(got.error, BufferError | None):
            problems.append(Problem(describe(got), how))
    x = optional(adapter.unexportable)
    if x is None and not adapter.special():
        raise NotApplicable("the adapter knows no array that cannot be exported")
    if x is not None:
        how = "unexportable.__dlpack__()"
        note(how)
        got = attempt(raw, x, max_version=NEWEST)
        if not isinstance(got.error, BufferError):
            problems.append(Problem(describe(got), how))
    return problems


def wrong_arguments(adapter: Adapter) -> list[Problem]:
    """Unknown keywords and a malformed `dl_device` raise, and not BufferError."""
    x = sample(adapter)
    problems = []
    for keywords in ({"no_such_keyword": 1}, {"dl_device": "cpu"}, {"dl_device": (1,)}):
        got = attempt(raw, x, **keywords)
        if got.error is None or isinstance(got.error, BufferError):
            problems.append(Problem(describe(got), f"x.__dlpack__(**{keywords})"))
    return problems


def read_only_data(adapter: Adapter) -> list[Problem]:
    """Read-only data has READ_ONLY in the versioned form.

    The legacy form cannot say it: there, BufferError or a copy.
    """
    x = adapter.read_only(sample(adapter))
    found = exported(x)
    problems = []
    if not found.legacy and not found.flags & (READ_ONLY | IS_COPIED):
        seen = f"flags {found.flags:#x}: no READ_ONLY"
        problems.append(Problem(seen, "read_only.__dlpack__(max_version=(1, 3))"))
    got = attempt(raw, x)
    how = "read_only.__dlpack__()"
    if got.error is None and got.value.legacy and got.value.first == found.first:
        problems.append(Problem("a writable alias", how, SHOULD))
    elif got.error and not isinstance(got.error, BufferError):
        problems.append(Problem(describe(got), how, SHOULD))
    return problems


def layout(adapter: Adapter) -> list[Problem]:
    """Shape and strides (in elements, not NULL) lead to the elements.

    Without elements, data should be NULL.
    """
    problems = []
    for label, x, shape, values in samples(adapter):
        got = try_export(x)
        if got.error:
            continue
        found, how = got.value, f"{label}.__dlpack__(max_version=(1, 3))"
        if found.shape != shape:
            problems.append(Problem(f"shape {found.shape}", how))
        elif found.strides is None and shape and not found.legacy:
            problems.append(Problem("strides are NULL", how))
        elif adapter.device == CPU and found.values() != values:
            problems.append(Problem(f"values {found.values()}", how))
    empty = try_export(adapter.make([], (0, 3), dtype_of(adapter)))
    if empty.error is None and empty.value.data:
        seen = f"data {empty.value.data:#x}"
        problems.append(Problem(seen, "shape (0, 3).__dlpack__()", SHOULD))
    return problems


def stride_of_single_element(adapter: Adapter) -> list[Problem]:
    """The stride of an axis of extent 1 is that of a compact array, or 1."""
    part = attempt(adapter.view, sample(adapter), (slice(0, 1), slice(0, 2)))
    if part.error is not None:
        raise NotApplicable(f"the adapter has no views: {part}")
    found = exported(part.value)
    if found.strides is None or found.strides[0] in (1, 2):
        return []
    seen = f"shape {found.shape}, strides {found.strides}"
    return [Problem(seen, "x[0:1, 0:2].__dlpack__()")]


def dtypes_as_specified(adapter: Adapter) -> list[Problem]:
    """A data type has its (code, bits, lanes): bool (6, 8, 1), complex64 (5, 64, 1)."""
    problems = []
    for name in adapter.dtypes:
        got = try_export(adapter.make([0, 1], (2,), name))
        if got.error is None and got.value.dtype != DTYPES[name][0]:
            seen = f"{got.value.dtype}, not {DTYPES[name][0]}"
            problems.append(Problem(seen, f"{name}.__dlpack__()"))
    return problems


def memory_outlives_array(adapter: Adapter) -> list[Problem]:
    """Exported memory stays valid and in place after the array itself has died."""
    on_host(adapter)
    x = sample(adapter)
    found = exported(x)
    del x
    gc.collect()
    others = [adapter.make([0.0] * 6, (2, 3), dtype_of(adapter)) for _ in range(32)]
    values = found.values()
    del others
    if values == VALUES:
        return []
    return [Problem(f"values became {values}", "c = x.__dlpack__(); del x; read c")]


def version_as_built(adapter: Adapter) -> list[Problem]:
    """The version in the struct is a released one: that of the header in use."""
    version = versioned(sample(adapter)).version
    if version is not None and (1, 0) <= version <= NEWEST:
        return []
    seen = f"version {version}; the newest known is {NEWEST}"
    return [Problem(seen, "x.__dlpack__(max_version=(1, 3))")]


RULES = (
    Rule(4, MUST, f"{API}, __dlpack__", keywords_only),
    Rule(5, MUST, f"{API}, __dlpack__, max_version", legacy_by_default),
    Rule(6, MUST, f"{API}, __dlpack__, max_version", versioned_if_asked),
    Rule(7, MUST, f"{API}, __dlpack__, max_version", own_version_if_asked_for_more),
    Rule(8, MUST, f"{API}, __dlpack__, max_version", too_old_version),
    Rule(9, SHOULD, f"{API}, __dlpack__, max_version", malformed_version),
    Rule(10, MUST, f"{API}, __dlpack__, dl_device", device_as_asked),
    Rule(11, MUST, f"{API}, __dlpack__, dl_device", way_to_host),
    Rule(12, MUST, f"{API}, __dlpack__, copy", copy_true),
    Rule(13, MUST, f"{API}, __dlpack__, copy", copy_false),
    Rule(14, MUST, f"{API}, __dlpack__, copy", copy_none),
    Rule(15, SHOULD, f"{API}, __dlpack__, copy", copy_on_stream),
    Rule(21, SHOULD, f"{API}, __dlpack__, raises", refusal_is_buffer_error),
    Rule(22, SHOULD, f"{API}, __dlpack__, raises", wrong_arguments),
    Rule(23, MUST, f"{HEADER}, DLPACK_FLAG_BITMASK_READ_ONLY", read_only_data),
    Rule(24, MUST, f"{HEADER}, DLTensor", layout),
    Rule(25, SHOULD, "practice: numpy#20336, pytorch#83069", stride_of_single_element),
    Rule(26, MUST, f"{HEADER}, DLDataType", dtypes_as_specified),
    Rule(27, MUST, f"{HEADER}, DLManagedTensor", memory_outlives_array),
    Rule(28, MUST, f"{HEADER}, DLPackVersion", version_as_built),
)
