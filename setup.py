"""What pyproject.toml cannot say about the build: cffi modules and the wheel tag."""

import sys
import sysconfig

from setuptools import setup

if sys.implementation.name != "cpython":
    sys.exit(
        "refarray builds on CPython only: its native module uses CPython's limited "
        "API (heap types, capsules, the buffer protocol). This interpreter is "
        f"{sys.implementation.name} ({sys.executable})."
    )

# One binary serves every CPython from 3.11 on. Free-threaded builds have no limited
# API before 3.15, and there bdist_wheel refuses the option, so they get their own.
limited_api = not sysconfig.get_config_var("Py_GIL_DISABLED")

setup(
    cffi_modules=[
        "_cffi_build/build_native.py:ffibuilder",
        "_cffi_build/build_forge.py:ffibuilder",
        "_cffi_build/build_cuda_driver.py:ffibuilder",
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if limited_api else {},
)
