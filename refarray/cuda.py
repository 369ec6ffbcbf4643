"""CUDA as users see it: streams, events, and the driver.

Nothing here needs CUDA to be imported. The driver is opened by the first thing that
uses it; `why_not()` says in words why it cannot be, or returns None.
"""

from refarray._cuda_driver import ffi
from refarray._memory.cuda_driver import CudaError, use_driver, why_not
from refarray._memory.cuda_memory import free_and_total
from refarray._memory.cuda_streams import Event, Stream

__all__ = [
    "CudaError",
    "Event",
    "Stream",
    "ffi",
    "free_and_total",
    "use_driver",
    "why_not",
]
