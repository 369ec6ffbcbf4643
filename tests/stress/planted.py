"""A fault on purpose in the native module, which the sanitizers must report.

Run by run.py with its name.
"""

from __future__ import annotations

import sys
from contextlib import suppress

from faults import Faults
from scenarios import forged_tensor

import refarray as xp
from refarray.dlpack import from_capsule


def main() -> None:
    """Do a little of everything while the fault is there."""
    if sys.argv[1] != "nothing":
        Faults().plant(sys.argv[1])
    # Filled by C code: the kernels of NumPy are not watched.
    x = xp.zeros((128,))
    y = from_capsule(x.__dlpack__(max_version=(1, 0)))
    del x, y
    with suppress(BufferError):
        xp.from_dlpack(forged_tensor(strides=(1 << 62, 1 << 62)))


main()
