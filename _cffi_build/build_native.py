"""Build refarray._native: the DLPack structs, the memory, and the array type in C.

cffi in API mode: `ffi` shows the structs of dlpack.h to Python, `lib` calls the
functions of interface.h and trace.h, and `lib.ra_install` adds the types and fast
functions of native.c. Reading order of the C code: dlpack.h, interface.h, system.h,
memory.h, memory.c, tensor.h, tensor.c, deferred.h, deferred.c (no Python up to here),
objects.h, registry.c, buffer.c, objects.c, spare.c, make.c, index.c, compute.c,
operators.c, devices.c, export.c, import.c, consumer.c, exchange.c, trace.h, trace.c,
native.c.
"""

import sysconfig
from pathlib import Path

from cffi import FFI

HERE = Path(__file__).parent
SOURCES = ["memory", "tensor", "deferred", "registry", "buffer"]
SOURCES += ["objects", "spare", "make", "index", "compute", "operators", "devices"]
SOURCES += ["export", "import", "consumer", "exchange", "trace", "native"]
HEADERS = ["dlpack.h", "interface.h", "trace.h"]

# Free-threaded builds have no limited API before Python 3.15.
LIMITED = not sysconfig.get_config_var("Py_GIL_DISABLED")

# MSVC has C11's atomics from Visual Studio 2022 17.5 on, if it is asked for them.
if sysconfig.get_platform().startswith("win"):
    FLAGS = ["/std:c11", "/experimental:c11atomics"]
else:
    FLAGS = ["-std=c11", "-Wall", "-Wextra", "-fvisibility=hidden"]

ffibuilder = FFI()
for header in HEADERS:
    ffibuilder.cdef((HERE / header).read_text())
ffibuilder.set_source(
    "refarray._native",
    "#include <stdint.h>\n#include <stddef.h>\n"
    + "".join(f'#include "{header}"\n' for header in HEADERS),
    sources=[f"_cffi_build/{name}.c" for name in SOURCES],
    depends=[str(path.relative_to(HERE.parent)) for path in sorted(HERE.glob("*.h"))],
    include_dirs=["_cffi_build"],
    # 3.11: the first limited API with the buffer protocol. cffi alone asks for 3.2.
    define_macros=[("Py_LIMITED_API", "0x030b0000")] if LIMITED else [],
    py_limited_api=LIMITED,
    extra_compile_args=FLAGS,
)

if __name__ == "__main__":
    ffibuilder.compile(verbose=True)
