"""The inspection functions: capabilities, devices, dtypes and defaults.

What they say is held against what the namespace does.
"""

from __future__ import annotations

from typing import Any

from refarray.testing.standard.arrays import DTYPES
from refarray.testing.standard.check_data_types import KINDS
from refarray.testing.standard.runner import Check, Report

INFO = "__array_namespace_info__"


def _info(xp: Any) -> Any:
    return xp.__array_namespace_info__()


def capabilities(xp: Any, report: Report) -> None:
    """Three keys, and a number of axes that works."""
    clause = "capabilities: boolean indexing, data-dependent shapes, max dimensions"
    with report.case(INFO, given="capabilities()", clause=clause) as case:
        found = _info(xp).capabilities()
        for name in ("boolean indexing", "data-dependent shapes"):
            case.true(type(found[name]) is bool, found[name], "a bool")
        most = found["max dimensions"]
        case.true(most is None or type(most) is int, most, "an int or None")
        deep = xp.ones((1,) * min(most or 20, 64))
        case.true(deep.ndim == min(most or 20, 64), deep.ndim, most)


def defaults(xp: Any, report: Report) -> None:
    """The default dtypes are those that creation functions give."""
    clause = "default_dtypes: the dtypes of arrays made without dtype="
    with report.case(INFO, given="default_dtypes()", clause=clause) as case:
        found = _info(xp).default_dtypes()
        for name, made in (
            ("real floating", xp.asarray(1.0)),
            ("complex floating", xp.asarray(1j)),
            ("integral", xp.asarray(1)),
            ("indexing", xp.argmax(xp.asarray([1.0, 2.0]))),
        ):
            case.true(bool(found[name] == made.dtype), found[name], made.dtype)
    clause = "default_device: the device of arrays made without device=, or None"
    with report.case(INFO, given="default_device()", clause=clause) as case:
        device = _info(xp).default_device()
        made = xp.zeros(1).device
        case.true(device is None or bool(device == made), device, made)


def dtypes(xp: Any, report: Report) -> None:
    """The dtypes of each kind by their canonical names."""
    clause = "dtypes: the dtypes of a kind, or of several, by canonical name"
    kinds: list[Any] = [
        None,
        *KINDS,
        ("bool", "integral"),
        ("real floating", "numeric"),
    ]
    for kind in kinds:
        with report.case(INFO, given=f"dtypes(kind={kind!r})", clause=clause) as case:
            found = _info(xp).dtypes(kind=kind)
            several = kind if isinstance(kind, tuple) else (kind,)
            wanted = set(DTYPES)
            if kind is not None:
                wanted = {name for k in several for name in KINDS[k]}
            # A library need not list what its default device cannot do.
            known = bool(found) and set(found) <= wanted
            case.true(known, sorted(found), sorted(wanted))
            for name, dtype in found.items():
                case.true(bool(dtype == getattr(xp, name)), dtype, name)


def devices(xp: Any, report: Report) -> None:
    """A tuple of devices, each of which creation functions take."""
    clause = "devices: a tuple (2025.12) of values for device="
    with report.case(INFO, given="devices()", clause=clause) as case:
        found = _info(xp).devices()
        case.true(type(found) is tuple, type(found).__name__, "tuple")
        for device in found:
            made = xp.ones((2,), dtype=xp.float32, device=device)
            case.true(bool(made.device == device), made.device, device)
            case.is_array(made, "float32", (2,))
    clause = "devices: default_dtypes and dtypes take a device"
    with report.case(INFO, given="default_dtypes(device=)", clause=clause) as case:
        device = xp.zeros(1).device
        case.true(bool(_info(xp).default_dtypes(device=device)), "nothing", "dtypes")
        found = _info(xp).dtypes(device=device, kind="bool")
        case.true(set(found) == {"bool"}, sorted(found), "bool")


def unchanged(xp: Any, report: Report) -> None:
    """Changing what came back changes nothing in the library."""
    clause = "the returned dictionaries belong to the caller"
    with report.case(INFO, given="dtypes() changed", clause=clause) as case:
        first = _info(xp).dtypes()
        count = len(first)
        try:
            first.clear()
        except Exception:  # read-only is as good
            return
        again = _info(xp).dtypes()
        case.true(len(again) == count, len(again), count)


CHECKS = tuple(
    Check(INFO, check) for check in (capabilities, defaults, dtypes, devices, unchanged)
)
