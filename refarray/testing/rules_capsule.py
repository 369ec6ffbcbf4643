"""Rules 29-36: the capsule, its destructor and the deleter. Next: rules_consumer.py."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
from pathlib import Path
from typing import Any

from refarray.testing import _forge, isolation
from refarray.testing.adapters import Adapter
from refarray.testing.findings import (
    HEADER,
    MUST,
    SHOULD,
    SPEC,
    NotApplicable,
    Problem,
    Rule,
    attempt,
    note,
)
from refarray.testing.forge import NEWEST, Raw, ffi, itemsize
from refarray.testing.samples import dtype_of, exported, raw, sample


def both_forms(adapter: Adapter) -> list[tuple[str, dict[str, Any]]]:
    """Return the keywords under which the library exports, with a label."""
    forms = [("versioned", {"max_version": NEWEST}), ("legacy", {})]
    x = sample(adapter)
    usable = [form for form in forms if attempt(raw, x, **form[1]).error is None]
    if not usable:
        raise NotApplicable("nothing to look at: __dlpack__ refuses both forms")
    return usable


def name_is_exact_and_static(adapter: Adapter) -> list[Problem]:
    """The capsule's name is exact and lies in memory that is never freed."""
    x = sample(adapter)
    problems = []
    for label, keywords in both_forms(adapter):
        first, second = raw(x, **keywords), raw(x, **keywords)
        how = f"{label} x.__dlpack__()"
        if first.name not in ("dltensor", "dltensor_versioned"):
            problems.append(Problem(f"name {first.name!r}", how))
        elif first.name_address != second.name_address:
            problems.append(Problem("each capsule has its own copy of the name", how))
    return problems


def destructor_looks_at_name(adapter: Adapter) -> list[Problem]:
    """The capsule has a destructor, which leaves a tensor alone once it was taken."""
    problems = []
    for label, keywords in both_forms(adapter):
        how = f"{label} x.__dlpack__(), renamed to used_*, dropped"
        note(how)
        found = raw(sample(adapter), **keywords)
        if not found.has_destructor:
            problems.append(Problem("there is no destructor", how))
            continue
        watch = _watched(found)
        found.take()
        if watch is not None and _forge.watched_calls(watch):
            problems.append(Problem("the destructor called the deleter", how))
        else:
            found.delete()
    return problems


def unconsumed_capsule_is_freed(adapter: Adapter) -> list[Problem]:
    """Dropping a capsule that nobody took frees everything."""
    problems = []
    for label, keywords in both_forms(adapter):
        how = f"{label} x.__dlpack__(), dropped"
        note(how)
        found = raw(sample(adapter), **keywords)
        watch = _watched(found)
        found.capsule = None
        if watch is None or _forge.watched_calls(watch):
            continue  # a NULL deleter has nothing to free
        # A destructor may free without the deleter; then memory tells.
        if _leaks(adapter, keywords):
            problems.append(Problem("the memory was not given back", how))
    return problems


def pending_exception_is_kept(adapter: Adapter) -> list[Problem]:
    """Destructor and deleter leave a pending exception as it is."""
    problems = []
    for label, keywords in both_forms(adapter):
        for state in ("unused", "used", "deleter"):
            how = f"{label} capsule, {state}, while a KeyError is pending"
            note(how)
            found = raw(sample(adapter), **keywords)
            capsule, found.capsule = found.capsule, None
            if state != "unused":
                used = "used_dltensor" if found.legacy else "used_dltensor_versioned"
                _forge.rename_capsule(capsule, used)
            if state == "deleter":
                address, legacy = found.address, found.legacy
                kept = _forge.call_deleter_with_pending_error(address, legacy)
            else:
                items = [capsule]
                del capsule
                kept = _forge.drop_with_pending_error(items)
                if state == "used":
                    found.delete()
            if not kept:
                problems.append(Problem("the exception was lost", how))
    return problems


def deleter_from_foreign_thread(adapter: Adapter) -> list[Problem]:
    """The deleter works on any thread, without the GIL."""
    for label, keywords in both_forms(adapter):
        note(f"{label} deleter on a thread that Python does not know")
        found = raw(sample(adapter), **keywords)
        found.take()
        _forge.call_deleter_on_foreign_thread(found.address, found.legacy)
    return []  # a wrong deleter ends the process


def deleter_after_exit(adapter: Adapter) -> list[Problem]:
    """The deleter may run after the interpreter has gone: a leak, but no crash."""
    if not exported(sample(adapter)).has_deleter:
        return []
    how = "take a tensor, exit Python, call its deleter"
    try:
        ended = isolation.run_late(adapter)
    except subprocess.TimeoutExpired as error:
        # From 3.14 on, who asks for the GIL after the end of Python may wait for ever.
        return [Problem(f"the process had not ended after {error.timeout:g} s", how)]
    if ended.returncode == 0 and "late deleter returned" in ended.stderr:
        return []
    seen = f"the process ended with {ended.returncode}: {ended.stderr[-200:]!r}"
    return [Problem(seen, how)]


def park_for_exit(adapter: Adapter) -> None:
    """Take a tensor whose deleter is called when Python has gone: the child's part."""
    found = exported(sample(adapter))
    found.take()
    _forge.call_deleter_after_exit(found.address, found.legacy)


def null_deleter_is_accepted(adapter: Adapter) -> list[Problem]:
    """The destructor copes with a deleter that is NULL."""
    for label, keywords in both_forms(adapter):
        note(f"{label} capsule whose deleter is NULL, dropped")
        found = raw(sample(adapter), **keywords)
        found.managed.deleter = ffi.NULL
        found.capsule = None
    return []  # a wrong destructor ends the process


def capsules_are_fresh(adapter: Adapter) -> list[Problem]:
    """Each call gives a new capsule over a new managed tensor."""
    x = sample(adapter)
    problems = []
    for label, keywords in both_forms(adapter):
        first, second = raw(x, **keywords), raw(x, **keywords)
        how = f"{label} x.__dlpack__() twice"
        if first.capsule is second.capsule:
            problems.append(Problem("two calls gave the same capsule", how))
        elif first.address == second.address:
            # It may count its users; but a deleter should end its tensor.
            seen = "two capsules share one managed tensor"
            problems.append(Problem(seen, how, SHOULD))
    return problems


def _watched(found: Raw) -> int | None:
    """Start counting the deleter's calls; None if there is no deleter."""
    if not found.has_deleter:
        return None
    return _forge.watch_deleter(found.address, found.legacy)


def _leaks(adapter: Adapter, keywords: dict[str, Any]) -> bool:
    """Whether exporting and dropping 20 large arrays leaves most of them behind."""
    dtype, size, rounds = dtype_of(adapter), 1 << 17, 20
    values = [1.0] * size

    def once() -> None:
        raw(adapter.make(values, (size,), dtype), **keywords)
        gc.collect()

    for _ in range(3):
        once()
    before = resident()
    for _ in range(rounds):
        once()
    return resident() - before > rounds * size * itemsize(dtype) // 2


def resident() -> int:
    """Resident memory in bytes: now, or where that is not told, the most so far."""
    if sys.platform == "win32":
        # PROCESS_MEMORY_COUNTERS of 64 bits: its own size, the peak, then what we want.
        counters = (ctypes.c_size_t * 9)(72)
        kernel = ctypes.WinDLL("kernel32")
        kernel.K32GetProcessMemoryInfo(ctypes.c_void_p(-1), counters, 72)
        return counters[2]
    import resource

    statm = Path("/proc/self/statm")
    if not statm.exists():
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
    # What the C library has kept of freed memory would hide what is not freed.
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    return int(statm.read_text().split()[1]) * resource.getpagesize()


RULES = (
    Rule(29, MUST, f"{SPEC}, capsule names", name_is_exact_and_static),
    Rule(30, MUST, f"{SPEC}, destructor", destructor_looks_at_name, risky=True),
    Rule(31, MUST, f"{SPEC}, destructor", unconsumed_capsule_is_freed, risky=True),
    Rule(32, MUST, "CPython, PyCapsule", pending_exception_is_kept, risky=True),
    Rule(33, MUST, f"{HEADER}, deleter", deleter_from_foreign_thread, risky=True),
    Rule(34, MUST, f"{SPEC}, deleter", deleter_after_exit),
    Rule(35, MUST, f"{HEADER}, deleter", null_deleter_is_accepted, risky=True),
    Rule(36, MUST, f"{SPEC}, __dlpack__", capsules_are_fresh),
)
