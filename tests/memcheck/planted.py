"""Two faults on purpose, which the memory checker must report: see run.py.

With REFARRAY_CACHE=0 each block goes straight back to the system, so that the checker
knows it is free. A pointer read from a managed tensor, and a deleter, are the ways in
which a fault of refarray would do the same.
"""

import refarray as xp
from refarray.memory import statistics
from refarray.testing.forge import Raw, load

assert statistics().cache_limit == 0


def use_after_free() -> None:
    """Read an element of an array that is gone."""
    x = xp.ones((100,))
    address = Raw(x.__dlpack__()).first
    del x
    load(address, "float64")


def double_free() -> None:
    """Call the deleter of one managed tensor twice."""
    x = xp.ones((100,))
    raw = Raw(x.__dlpack__())
    raw.take()
    raw.delete()
    raw.delete()


use_after_free()
double_free()
