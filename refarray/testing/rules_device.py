"""Rules 1-3: `__dlpack_device__`. Next: rules_producer.py."""

from __future__ import annotations

from enum import Enum

from refarray.testing.adapters import Adapter
from refarray.testing.findings import API, MAY, MUST, Problem, Rule, attempt
from refarray.testing.forge import DEVICE_TYPES
from refarray.testing.samples import sample


def device_method_exists(adapter: Adapter) -> list[Problem]:
    """`__dlpack_device__` exists and needs no argument."""
    x = sample(adapter)
    if not hasattr(x, "__dlpack_device__"):
        return [Problem("there is no such method", "x.__dlpack_device__")]
    got = attempt(x.__dlpack_device__)
    return [Problem(str(got), "x.__dlpack_device__()")] if got.error else []


def device_is_a_pair(adapter: Adapter) -> list[Problem]:
    """`__dlpack_device__` returns a tuple of a known device type and an int id."""
    pair = attempt(sample(adapter).__dlpack_device__).value
    how = "x.__dlpack_device__()"
    if pair is None:
        return []  # rule 1 says so
    if not isinstance(pair, tuple) or len(pair) != 2:
        return [Problem(f"returned {pair!r}, not a pair", how)]
    problems = []
    # The standard has an Enum, and does not ask that it equals its number.
    kind = pair[0].value if isinstance(pair[0], Enum) else pair[0]
    if not isinstance(kind, int) or kind not in DEVICE_TYPES:
        problems.append(Problem(f"device type {pair[0]!r} is not in the enum", how))
    if not isinstance(pair[1], int):
        problems.append(Problem(f"device id {pair[1]!r} is not an int", how))
    return problems


def device_may_be_refused(adapter: Adapter) -> list[Problem]:
    """What can never be exported may refuse `__dlpack_device__` with BufferError.

    A type none of whose arrays can be exported may lack both methods, not one.
    """
    x = adapter.unexportable()
    methods = [hasattr(x, name) for name in ("__dlpack__", "__dlpack_device__")]
    if methods == [False, False]:
        return []
    if not all(methods):
        return [Problem("only one of the two methods exists", "dir(x)")]
    got = attempt(x.__dlpack_device__)
    if got.error is None or isinstance(got.error, BufferError):
        return []
    return [Problem(f"{got}; BufferError is for that", "x.__dlpack_device__()")]


RULES = (
    Rule(1, MUST, f"{API}, __dlpack_device__", device_method_exists),
    Rule(2, MUST, f"{API}, __dlpack_device__", device_is_a_pair),
    Rule(3, MAY, f"{API}, __dlpack_device__", device_may_be_refused),
)
