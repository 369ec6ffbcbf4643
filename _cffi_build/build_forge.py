"""Build refarray.testing._forge, the C part of the conformance checks.

Listed in setup.py; by hand, `python _cffi_build/build_forge.py` builds it in place.
Next: forge.h and forge.c.
"""

from __future__ import annotations

import sysconfig
from pathlib import Path

from cffi import FFI

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

# Free-threaded builds have no limited API before Python 3.15.
LIMITED = not sysconfig.get_config_var("Py_GIL_DISABLED")

ffibuilder = FFI()
ffibuilder.cdef((HERE / "dlpack.h").read_text() + (HERE / "forge.h").read_text())
ffibuilder.set_source(
    "refarray.testing._forge",
    '#include "forge.c"',
    include_dirs=[str(HERE)],
    depends=[str(HERE / name) for name in ("dlpack.h", "forge.h", "forge.c")],
    define_macros=[("Py_LIMITED_API", "0x030b0000")] if LIMITED else [],
    py_limited_api=LIMITED,
)

if __name__ == "__main__":
    ffibuilder.compile(tmpdir=str(ROOT), verbose=True)
