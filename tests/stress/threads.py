"""Sixteen threads exchange, allocate and free for a minute.

They are those of tests/dlpack/test_lifetime_elsewhere.py, which leave what they got
where others find it; here for longer, and another thread watches the cache's bound.

Next: signals.py.
"""

from __future__ import annotations

import gc
import sys
import threading
import time
from pathlib import Path

from refarray import memory

sys.path.append(str(Path(__file__).parents[1] / "dlpack"))

from test_lifetime_elsewhere import Crowd

SECONDS = float(sys.argv[1]) if sys.argv[1:] else 60.0
THREADS = 16
LIMIT = 8 << 20


def in_use() -> tuple[int, ...]:
    """Return bytes, buffers and tensors that are not given back."""
    gc.collect()
    now = memory.statistics()
    exported = now.exported - now.exports_deleted
    return (
        now.live_bytes,
        now.live_buffers,
        exported,
        now.imported - now.imports_deleted,
    )


def main() -> int:
    """Let them work; 1 if something was lost, raised, or kept beyond the bound."""
    memory.set_cache_limit(LIMIT)
    sys.setswitchinterval(1e-5)
    before = in_use()
    until = time.monotonic() + SECONDS
    crowd = Crowd(lambda rounds: time.monotonic() < until)
    threads = [
        threading.Thread(target=crowd.work, args=(seed,)) for seed in range(THREADS)
    ]
    for thread in threads:
        thread.start()
    most = 0
    while any(thread.is_alive() for thread in threads):
        most = max(most, memory.statistics().cached_bytes)
        time.sleep(0.001)
    crowd.shelf.clear()
    after = in_use()
    failures = [f"{type(error).__name__}: {error}" for error in crowd.failures]
    if before != after:
        failures.append(f"in use before {before}, after {after}")
    if most > LIMIT:
        failures.append(f"the cache held {most} bytes, {LIMIT} are allowed")
    for line in failures:
        print(line)
    print(
        f"{sum(crowd.rounds)} exchanges by {THREADS} threads; the cache held at most "
        f"{most} of {LIMIT} bytes"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
