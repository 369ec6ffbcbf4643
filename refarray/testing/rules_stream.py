"""Rules 16-20: the `stream` argument of `__dlpack__`. Next: rules_capsule.py."""

from __future__ import annotations

from typing import Any

from refarray.testing.adapters import Adapter
from refarray.testing.findings import (
    API,
    MUST,
    NotApplicable,
    Problem,
    Rule,
    attempt,
    optional,
)
from refarray.testing.forge import CPU, NEWEST
from refarray.testing.samples import HOST_TYPES, describe, need_device, raw, sample

LEGACY_DEFAULT = 1
HOST = 0


def no_stream_on_cpu(adapter: Adapter) -> list[Problem]:
    """A device without streams, like the CPU, takes no stream but None."""
    if adapter.device[0] not in HOST_TYPES:
        raise NotApplicable(f"arrays lie on device {adapter.device}, with streams")
    return _refused(sample(adapter), (-1, 0, 1, 2))


def cuda_streams(adapter: Adapter) -> list[Problem]:
    """On CUDA: None and 1 legacy default, 2 per thread, handle, -1 no wait; not 0."""
    need_device(adapter, 2)
    x = sample(adapter)
    handle = optional(adapter.stream)
    meanings = [(None, LEGACY_DEFAULT), (1, LEGACY_DEFAULT), (2, 2), (-1, None)]
    if handle is not None:
        meanings.append((handle, handle))
    return _understood(adapter, x, meanings) + _refused(x, (0,))


def rocm_streams(adapter: Adapter) -> list[Problem]:
    """On ROCm: None and 0 default stream, handle, -1 no wait; not 1, not 2."""
    need_device(adapter, 10)
    x = sample(adapter)
    handle = optional(adapter.stream)
    meanings = [(None, 0), (0, 0), (-1, None)]
    if handle is not None:
        meanings.append((handle, handle))
    return _understood(adapter, x, meanings) + _refused(x, (1, 2))


def stream_to_host(adapter: Adapter) -> list[Problem]:
    """With `dl_device=(kDLCPU, 0)` stream is None and the producer synchronises."""
    need_device(adapter, 2, 10)
    x = sample(adapter)
    problems = []
    for stream in (2, -1):
        got = attempt(raw, x, stream=stream, dl_device=CPU, max_version=NEWEST)
        if got.error is None:
            how = f"x.__dlpack__(stream={stream}, dl_device=(1, 0))"
            problems.append(Problem(describe(got), how))
    got = attempt(raw, x, dl_device=CPU, max_version=NEWEST)
    how = "x.__dlpack__(dl_device=(1, 0))"
    waited = optional(adapter.waited, x)
    if got.error is None and waited is not None and waited[-1:] != [HOST]:
        problems.append(Problem("the host did not wait", how))
    return problems


def streams_are_integers(adapter: Adapter) -> list[Problem]:
    """A stream is None or an integer of at least -1."""
    return _refused(sample(adapter), (-2, "default", 1.5))


def _refused(x: Any, streams: tuple[Any, ...]) -> list[Problem]:
    problems = []
    for stream in streams:
        got = attempt(raw, x, stream=stream, max_version=NEWEST)
        if got.error is None:
            seen = describe(got)
            problems.append(Problem(seen, f"x.__dlpack__(stream={stream!r})"))
    return problems


def _understood(
    adapter: Adapter, x: Any, meanings: list[tuple[int | None, int | None]]
) -> list[Problem]:
    """Compare what was waited for (if the library can tell) with what is meant."""
    problems = []
    for stream, meant in meanings:
        before = len(optional(adapter.waited, x) or [])
        got = attempt(raw, x, stream=stream, max_version=NEWEST)
        how = f"x.__dlpack__(stream={stream})"
        if got.error:
            problems.append(Problem(describe(got), how))
            continue
        waited = optional(adapter.waited, x)
        if waited is not None and waited[before:] != [meant][: meant is not None]:
            seen = f"waited for {waited[before:]}, meant {meant}"
            problems.append(Problem(seen, how))
    return problems


RULES = (
    Rule(16, MUST, f"{API}, __dlpack__, stream", no_stream_on_cpu),
    Rule(17, MUST, f"{API}, __dlpack__, stream", cuda_streams),
    Rule(18, MUST, f"{API}, __dlpack__, stream", rocm_streams),
    Rule(19, MUST, f"{API}, __dlpack__, dl_device", stream_to_host),
    Rule(20, MUST, f"{API}, __dlpack__, stream", streams_are_integers),
)
