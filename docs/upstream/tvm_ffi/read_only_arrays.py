"""A read-only array cannot be imported.

`tvm_ffi.from_dlpack` calls `__dlpack__` without `max_version`, which asks for a legacy
capsule. That cannot say read-only, so NumPy refuses; a versioned one it would give.

Rule: 41
Says: array API 2025.12, __dlpack__, max_version: consumers should pass it
Reported: https://github.com/jax-ml/jax/issues/40789 tells of the same elsewhere
Needs: apache-tvm-ffi, NumPy
"""

import sys

import numpy as np
import tvm_ffi

x = np.arange(3.0)
x.flags.writeable = False
x.__dlpack__(max_version=(1, 0))  # NumPy has an answer
try:
    tvm_ffi.from_dlpack(x)
except Exception as error:
    print(type(error).__name__ + ":", error)
    sys.exit(1)
