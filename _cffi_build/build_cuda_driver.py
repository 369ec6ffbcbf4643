"""Build refarray._cuda_driver: the CUDA driver's functions, as cuda_driver.h has them.

cffi in ABI mode: the result is one Python file with the types and prototypes in it.
`refarray._cuda_driver.ffi.dlopen("libcuda.so.1")` opens the library when the program
runs, so that neither a compiler nor CUDA is needed to build or install refarray.
"""

from pathlib import Path

from cffi import FFI

ffibuilder = FFI()
ffibuilder.cdef((Path(__file__).parent / "cuda_driver.h").read_text())
ffibuilder.set_source("refarray._cuda_driver", None)

if __name__ == "__main__":
    ffibuilder.compile(verbose=True)
