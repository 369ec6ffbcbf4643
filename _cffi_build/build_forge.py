"""Build refarray.testing._forge, the C part of the conformance checks.

As build_native.py: `ffi` shows the structs to Python, `lib.forge_install` adds the fast
functions of forge.c to the module. Reading order: dlpack.h, forge.h, forge.c; then
forge_exchange.h, forge_exchange.c.
"""

import sysconfig
from pathlib import Path

from cffi import FFI

HERE = Path(__file__).parent
HEADERS = ["dlpack.h", "forge.h", "forge_exchange.h"]

# As in build_native.py.
LIMITED = not sysconfig.get_config_var("Py_GIL_DISABLED")
if sysconfig.get_platform().startswith("win"):
    FLAGS = ["/std:c11", "/experimental:c11atomics"]
else:
    FLAGS = ["-std=c11", "-Wall", "-Wextra", "-fvisibility=hidden"]
    FLAGS += ["-Wno-unused-parameter"]  # `module`, in every function for Python

ffibuilder = FFI()
for header in HEADERS:
    ffibuilder.cdef((HERE / header).read_text())
ffibuilder.set_source(
    "refarray.testing._forge",
    "#include <stdint.h>\n" + "".join(f'#include "{header}"\n' for header in HEADERS),
    sources=["_cffi_build/forge.c", "_cffi_build/forge_exchange.c"],
    depends=[f"_cffi_build/{header}" for header in [*HEADERS, "system.h"]],
    include_dirs=["_cffi_build"],
    define_macros=[("Py_LIMITED_API", "0x030b0000")] if LIMITED else [],
    py_limited_api=LIMITED,
    extra_compile_args=FLAGS,
)

if __name__ == "__main__":
    ffibuilder.compile(verbose=True)
