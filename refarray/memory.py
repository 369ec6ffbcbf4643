"""Host memory as users see it: counters, and control of the cache."""

from refarray._memory.host import (
    Statistics,
    empty_cache,
    set_cache_limit,
    statistics,
)

__all__ = ["Statistics", "empty_cache", "set_cache_limit", "statistics"]
