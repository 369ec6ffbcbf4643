"""Host memory as users see it: counters, and control of the cache.

What is behind it: `_memory/host.py` and `_cffi_build/memory.c`.
"""

from __future__ import annotations

from typing import NamedTuple

from refarray._memory.host import empty_cache, set_cache_limit
from refarray._memory.native import ffi, lib

__all__ = ["Statistics", "empty_cache", "set_cache_limit", "statistics"]


class Statistics(NamedTuple):
    """Counters of host memory and of the exchange, read at one moment.

    Bytes for `live_bytes` (in use by arrays and exports), `cached_bytes` (kept for
    reuse) and `cache_limit`; the rest are counts. `exported - exports_deleted` managed
    tensors are in the hands of consumers, `imported - imports_deleted` in ours.
    """

    live_bytes: int
    live_buffers: int
    cached_bytes: int
    cache_limit: int
    cache_hits: int
    cache_misses: int
    exported: int
    exports_deleted: int
    imported: int
    imports_deleted: int


def statistics() -> Statistics:
    """Return the counters of host memory and of the exchange."""
    out = ffi.new("ra_statistics *")
    lib.ra_memory_statistics(out)
    return Statistics(*(getattr(out, name) for name in Statistics._fields))
