"""Build refarray.testing._forge, the C part of the conformance checks.

As build_native.py: `ffi` shows the structs to Python, `lib.forge_install` adds the fast
functions of forge.c to the module. Reading order: dlpack.h, forge.h, forge.c.
"""

from pathlib import Path

from cffi import FFI

HERE = Path(__file__).parent

ffibuilder = FFI()
ffibuilder.cdef((HERE / "dlpack.h").read_text())
ffibuilder.cdef((HERE / "forge.h").read_text())
ffibuilder.set_source(
    "refarray.testing._forge",
    '#include <stdint.h>\n#include "dlpack.h"\n#include "forge.h"',
    sources=["_cffi_build/forge.c"],
    depends=["_cffi_build/dlpack.h", "_cffi_build/forge.h"],
    include_dirs=["_cffi_build"],
    define_macros=[("Py_LIMITED_API", "0x030b0000")],
    py_limited_api=True,
    extra_compile_args=[
        *("-std=c11", "-Wall", "-Wextra", "-fvisibility=hidden"),
        "-Wno-unused-parameter",  # `module`, in every function for Python
    ],
)

if __name__ == "__main__":
    ffibuilder.compile(verbose=True)
