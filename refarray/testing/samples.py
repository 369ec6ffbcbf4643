"""Arrays and exports that the checks start from. Next: odd.py."""

from __future__ import annotations

from typing import Any

from refarray.testing.adapters import Adapter
from refarray.testing.findings import NotApplicable, Outcome, attempt
from refarray.testing.forge import NEWEST, Raw

VALUES = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]

#: Device types whose memory the CPU can read: CPU, pinned and managed memory.
HOST_TYPES = frozenset({1, 3, 11, 13})


def dtype_of(adapter: Adapter) -> str:
    """Return float64, or float32 for a library without it."""
    return "float64" if "float64" in adapter.dtypes else "float32"


def sample(adapter: Adapter) -> Any:
    """Return a small array, shape (2, 3), with the values 1 to 6."""
    return adapter.make(VALUES, (2, 3), dtype_of(adapter))


def samples(adapter: Adapter) -> list[tuple[str, Any, tuple[int, ...], list[float]]]:
    """Return arrays of several layouts: label, array, shape, values."""
    dtype, whole = dtype_of(adapter), sample(adapter)
    found = [
        ("shape (2, 3)", whole, (2, 3), VALUES),
        ("shape (3,)", adapter.make(VALUES[:3], (3,), dtype), (3,), VALUES[:3]),
        ("shape ()", adapter.make(VALUES[:1], (), dtype), (), VALUES[:1]),
    ]
    part = attempt(adapter.view, whole, (slice(None), slice(0, 3, 2)))
    if part.error is None:
        found.append(("x[:, 0:3:2]", part.value, (2, 2), [1.0, 3.0, 4.0, 6.0]))
    return found


def raw(x: Any, **keywords: Any) -> Raw:
    """Export an array and read the capsule."""
    return Raw(x.__dlpack__(**keywords))


def versioned(x: Any, **keywords: Any) -> Raw:
    """Export in the versioned form; not applicable if the library has none."""
    got = attempt(raw, x, max_version=NEWEST, **keywords)
    if got.error is None and not got.value.legacy:
        found: Raw = got.value
        return found
    raise NotApplicable(f"no versioned capsule to look at: __dlpack__ {describe(got)}")


def try_export(x: Any, **keywords: Any) -> Outcome:
    """Export in the versioned form, or else in the legacy form; hand back what came."""
    got = attempt(raw, x, max_version=NEWEST, **keywords)
    if isinstance(got.error, TypeError):
        got = attempt(raw, x, **keywords)
    return got


def exported(x: Any, **keywords: Any) -> Raw:
    """Export in either form; not applicable if that is refused."""
    got = try_export(x, **keywords)
    if got.error is not None:
        raise NotApplicable(f"nothing to look at: __dlpack__ {describe(got)}")
    found: Raw = got.value
    return found


def describe(got: Outcome) -> str:
    """Say what an export gave: the capsule's name, or the exception."""
    if isinstance(got.value, Raw):
        return f"returned a capsule named {got.value.name!r}"
    return str(got)


def on_host(adapter: Adapter) -> None:
    """Stop here if the CPU cannot read the library's memory."""
    if adapter.device[0] not in HOST_TYPES:
        raise NotApplicable(f"memory of device {adapter.device} cannot be read here")


def need_device(adapter: Adapter, *types: int) -> None:
    """Stop here unless the library's arrays lie on one of these types of device."""
    if adapter.device[0] not in types:
        names = {2: "kDLCUDA", 10: "kDLROCM"}
        wanted = " or ".join(names[t] for t in types)
        raise NotApplicable(
            f"the rule is about {wanted}; these arrays lie on device {adapter.device}"
        )
