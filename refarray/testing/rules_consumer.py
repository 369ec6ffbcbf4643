"""Rules 37-45 and 55-60: what `from_dlpack` asks, and what it does with the capsule.

Next: rules_contents.py, what is in the capsule.
"""

from __future__ import annotations

import gc
import weakref
from typing import Any

from refarray.testing.adapters import Adapter
from refarray.testing.findings import (
    API,
    MUST,
    SHOULD,
    SPEC,
    NotApplicable,
    Outcome,
    Problem,
    Rule,
    attempt,
    note,
)
from refarray.testing.forge import CUDA, NAMES, Case, Raw, Tensor, store
from refarray.testing.odd import of_rule
from refarray.testing.producers import Failing, Old, Producer, Returning
from refarray.testing.samples import VALUES, dtype_of, need_device, on_host


def tensor(adapter: Adapter) -> Tensor:
    """Return a well-formed tensor, shape (2, 3), with the values 1 to 6."""
    on_host(adapter)
    return Tensor.of(VALUES, (2, 3), dtype_of(adapter))


def take(adapter: Adapter, x: Any, **keywords: Any) -> Outcome:
    """Import, and hand back what came of it."""
    return attempt(adapter.from_dlpack, x, **keywords)


def settle(x: Producer) -> None:
    """Collect garbage, if a deleter has yet to be called."""
    if 0 in x.deleter_calls:
        gc.collect()


def need_flags(x: Producer) -> None:
    """Stop here if the consumer asked for the legacy form, which has no flags."""
    if not any(x.asked("max_version")):
        raise NotApplicable("from_dlpack asks for legacy capsules only: rule 41")


def describe(got: Outcome) -> str:
    """Say what an import gave, without printing the array."""
    return "returned an array" if got.error is None else str(got)


def aliases(adapter: Adapter, y: Any, source: Tensor) -> bool:
    """Whether an array sees what is written to the forged memory (and restore that)."""
    before = adapter.read(y)
    address, dtype = (source.data or 0) + source.byte_offset, NAMES[source.dtype]
    store(address, dtype, 77.0)
    changed = adapter.read(y) != before
    store(address, dtype, VALUES[0])
    return bool(changed)


class SampleError(Exception):
    """An exception that no library knows."""


def signature(adapter: Adapter) -> list[Problem]:
    """The signature is from_dlpack(x, /, *, device=None, copy=None)."""
    problems = []
    got = take(adapter, Producer(tensor(adapter)), device=None, copy=None)
    if got.error:
        seen = describe(got)
        problems.append(Problem(seen, "from_dlpack(x, device=None, copy=None)"))
    if attempt(adapter.from_dlpack, x=Producer(tensor(adapter))).error is None:
        problems.append(Problem("x is taken as a keyword", "from_dlpack(x=x)"))
    if attempt(adapter.from_dlpack, Producer(tensor(adapter)), None).error is None:
        problems.append(Problem("device is positional", "from_dlpack(x, None)"))
    return problems


def missing_methods(adapter: Adapter) -> list[Problem]:
    """An object without the two methods raises AttributeError."""
    on_host(adapter)
    got = take(adapter, object())
    if isinstance(got.error, AttributeError):
        return []
    return [Problem(describe(got), "from_dlpack(object())")]


def exceptions_arrive(adapter: Adapter) -> list[Problem]:
    """Exceptions of the producer's methods arrive unchanged, above all BufferError."""
    on_host(adapter)
    problems = []
    for in_device in (False, True):
        for error in (BufferError("sample"), SampleError("sample")):
            x = Failing(error, in_device)
            got = take(adapter, x)
            if got.error is not error and (x.asked or not in_device):
                method = "__dlpack_device__" if in_device else "__dlpack__"
                how = f"from_dlpack(x), {method} raising {type(error).__name__}"
                problems.append(Problem(describe(got), how))
    return problems


def device_is_asked_first(adapter: Adapter) -> list[Problem]:
    """`__dlpack_device__` is called before `__dlpack__`."""
    x = Producer(tensor(adapter))
    take(adapter, x)
    called = [name for name, _ in x.calls]
    if called[:1] == ["__dlpack_device__"]:
        return []
    return [Problem(f"called {called}", "from_dlpack(x)")]


def version_is_offered(adapter: Adapter) -> list[Problem]:
    """`max_version` is passed; if the producer knows no such keyword, asked without.

    A TypeError that is about something else arrives.
    """
    x = Producer(tensor(adapter))
    take(adapter, x)
    problems = []
    offered = x.asked("max_version")
    if not offered or offered[0] is None or offered[0][0] < 1:
        problems.append(Problem(f"max_version: {offered}", "from_dlpack(x)"))
    got = take(adapter, Old(Producer(tensor(adapter))))
    if got.error or adapter.read(got.value) != VALUES:
        how = "from_dlpack(x), x.__dlpack__(*, stream=None)"
        problems.append(Problem(describe(got), how))
    error = TypeError("sample: this element type has no name")
    got = take(adapter, Failing(error))
    if got.error is not error:
        how = "from_dlpack(x), __dlpack__ raising TypeError"
        problems.append(Problem(describe(got), how))
    return problems


def version_is_verified(adapter: Adapter) -> list[Problem]:
    """A higher major version is refused and freed once; a higher minor one is used."""
    problems = []
    for case in of_rule(42, tensor(adapter)):
        x = Producer(case.tensor, versioned_always=case.always_versioned)
        got = take(adapter, x)
        how = f"from_dlpack(x), {case.name}"
        if case.values is not None:
            if got.error or adapter.read(got.value) != case.values:
                problems.append(Problem(describe(got), how))
            continue
        if got.error is None:
            problems.append(Problem("it was accepted", how))
        del got
        settle(x)
        if set(x.deleter_calls) != {1}:  # some consumers ask more than once
            problems.append(Problem(f"deleter calls: {x.deleter_calls}", how))
    return problems


def either_form(adapter: Adapter) -> list[Problem]:
    """Both forms of capsule are taken, whichever was asked for."""
    good = tensor(adapter)
    cases: list[tuple[str, Any]] = [
        ("legacy, though versioned was asked for", Producer(good, legacy_only=True)),
        (
            "versioned, from an old method",
            Old(Producer(good, versioned_always=True)),
        ),
    ]
    problems = []
    for label, x in cases:
        got = take(adapter, x)
        if got.error or adapter.read(got.value) != VALUES:
            problems.append(Problem(describe(got), f"from_dlpack(x), {label}"))
    return problems


def capsule_is_renamed(adapter: Adapter) -> list[Problem]:
    """A taken capsule is renamed to used_*; used or foreign ones raise, untouched."""
    good = tensor(adapter)
    problems = []
    for legacy in (False, True):
        x = Producer(good, legacy_only=legacy, keep_capsules=True)
        got = take(adapter, x)
        was_legacy = x.cases[-1].tensor.version is None
        name = "used_dltensor" if was_legacy else "used_dltensor_versioned"
        if got.error is None and Raw(x.capsules[-1]).name != name:
            seen = f"its name is {Raw(x.capsules[-1]).name!r} now"
            problems.append(Problem(seen, "from_dlpack(x)"))
        del got
        x.capsules.clear()
    for wrong in ("used_dltensor_versioned", "used_dltensor", "another_name", None):
        note(f"a capsule named {wrong!r}")
        legacy = wrong == "used_dltensor"
        case = Case(good.but(name=wrong, version=None if legacy else good.version))
        capsule = case.capsule()
        got = take(adapter, Returning(capsule))
        how = f"from_dlpack(x), capsule named {wrong!r}"
        if got.error is None or isinstance(got.error, SystemError):
            problems.append(Problem(describe(got), how))
        if case.deleter_calls:
            problems.append(Problem(f"deleter calls: {case.deleter_calls}", how))
        del got
    got = take(adapter, Returning(42))
    if got.error is None or isinstance(got.error, SystemError):
        problems.append(Problem(describe(got), "from_dlpack(x), 42 for a capsule"))
    return problems


def deleted_once(adapter: Adapter) -> list[Problem]:
    """The deleter runs exactly once: the last view has died, or the import failed.

    If it is NULL, there is nothing to call.
    """
    good = tensor(adapter)
    problems = []
    for label, source in (
        ("versioned", good),
        ("legacy", good.but(version=None)),
        ("unknown dtype", good.but(dtype=(200, 64, 1))),
    ):
        note(label)
        x = Producer(source, legacy_only=source.version is None)
        got = take(adapter, x)
        how = f"from_dlpack(x), {label}"
        if label != "unknown dtype" and got.error is None:
            view = attempt(adapter.view, got.value, slice(0, 1)).value
            first = got.value if view is None else view
            got = Outcome(None, None)
            if 0 not in x.deleter_calls and aliases(adapter, first, source):
                seen = "the deleter ran while the memory is in use"
                problems.append(Problem(seen, how))
            del view, first
        del got
        settle(x)
        if set(x.deleter_calls) != {1}:
            problems.append(Problem(f"deleter calls: {x.deleter_calls}", how))
    note("deleter NULL")
    (case,) = of_rule(45, good)
    got = take(adapter, Producer(case.tensor))
    if got.error or adapter.read(got.value) != VALUES:
        problems.append(Problem(describe(got), "from_dlpack(x), deleter NULL"))
    del got
    return problems


def device_is_passed_on(adapter: Adapter) -> list[Problem]:
    """No device: stay there. The CPU: dl_device=(1, 0). Out of reach: BufferError."""
    good = tensor(adapter)
    problems = []
    x = Producer(good)
    take(adapter, x)
    if set(x.asked("dl_device")) - {None, good.device}:
        seen = f"dl_device: {x.asked('dl_device')}"
        problems.append(Problem(seen, "from_dlpack(x)"))
    got = take(adapter, Producer(good.but(device=CUDA)))
    if not isinstance(got.error, BufferError):
        problems.append(Problem(describe(got), "from_dlpack(x), x on CUDA"))
    if adapter.cpu is not None:
        x = Producer(good.but(device=CUDA))
        got = take(adapter, x, device=adapter.cpu)
        how = f"from_dlpack(x, device={adapter.cpu!r}), x on CUDA"
        if (1, 0) not in x.asked("dl_device"):
            problems.append(Problem(f"dl_device: {x.asked('dl_device')}", how))
        elif got.error or adapter.read(got.value) != VALUES:
            problems.append(Problem(describe(got), how))
    return problems


def copy_true(adapter: Adapter) -> list[Problem]:
    """`copy=True`: never the producer's memory, also if the producer cannot copy."""
    good = tensor(adapter)
    cases: list[tuple[str, Any]] = [
        ("a producer that copies", Producer(good)),
        ("one that ignores copy", Producer(good, ignore_copy=True)),
        ("one without that keyword", Old(Producer(good))),
    ]
    problems = []
    for label, x in cases:
        got = take(adapter, x, copy=True)
        how = f"from_dlpack(x, copy=True), {label}"
        if got.error or adapter.read(got.value) != VALUES:
            problems.append(Problem(describe(got), how))
        elif aliases(adapter, got.value, good):
            problems.append(Problem("the memory is shared", how))
    return problems


def copy_false(adapter: Adapter) -> list[Problem]:
    """`copy=False`: the producer's memory, or BufferError (or ValueError)."""
    good = tensor(adapter)
    problems = []
    got = take(adapter, Producer(good), copy=False)
    how = "from_dlpack(x, copy=False)"
    if got.error is None:
        if not aliases(adapter, got.value, good):
            problems.append(Problem("the values were copied", how))
    elif not isinstance(got.error, BufferError | ValueError):
        problems.append(Problem(describe(got), how))
    got = take(adapter, Failing(BufferError("a copy is needed")), copy=False)
    if not isinstance(got.error, BufferError | ValueError):
        how += ", __dlpack__ raising BufferError"
        problems.append(Problem(describe(got), how))
    return problems


def stream_is_passed(adapter: Adapter) -> list[Problem]:
    """On CUDA and ROCm the producer is told the stream that will be used."""
    need_device(adapter, 2, 10)
    stream = adapter.stream()

    class Listening(Producer):
        def export(self, *arguments: Any, **keywords: Any) -> object:
            raise BufferError("only the arguments matter")

    x = Listening(Tensor.of(VALUES, (2, 3)).but(device=adapter.device))
    take(adapter, x)
    if x.asked("stream")[:1] == [stream]:
        return []
    return [Problem(f"stream: {x.asked('stream')}, not {stream}", "from_dlpack(x)")]


def producer_is_let_go(adapter: Adapter) -> list[Problem]:
    """Only the deleter keeps memory alive: no reference to the producing object."""
    good = tensor(adapter)
    x = Producer(good)
    seen = weakref.ref(x)
    got = take(adapter, x)
    del x
    if seen() is not None:
        gc.collect()
    if got.error is not None or seen() is None:
        return []
    return [Problem("the producer is kept alive", "y = from_dlpack(x); del x")]


RULES = (
    Rule(37, MUST, f"{API}, from_dlpack", signature),
    Rule(38, MUST, f"{API}, from_dlpack, raises", missing_methods),
    Rule(39, MUST, f"{API}, from_dlpack, raises", exceptions_arrive),
    Rule(40, SHOULD, f"{SPEC}, from_dlpack", device_is_asked_first),
    Rule(41, SHOULD, f"{API}, __dlpack__, max_version", version_is_offered),
    Rule(42, MUST, f"{SPEC}, versions", version_is_verified, risky=True),
    Rule(43, MUST, f"{API}, __dlpack__, max_version", either_form, risky=True),
    Rule(44, MUST, f"{SPEC}, capsule names", capsule_is_renamed, risky=True),
    Rule(45, MUST, f"{SPEC}, deleter", deleted_once, risky=True),
    Rule(55, MUST, f"{API}, from_dlpack, device", device_is_passed_on, risky=True),
    Rule(56, MUST, f"{API}, from_dlpack, copy", copy_true),
    Rule(57, MUST, f"{API}, from_dlpack, copy", copy_false),
    Rule(58, MUST, f"{API}, __dlpack__, stream", stream_is_passed),
    Rule(60, SHOULD, f"{SPEC}, deleter", producer_is_let_go),
)
