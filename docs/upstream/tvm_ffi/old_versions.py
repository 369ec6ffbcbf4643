"""`max_version=(0, 8)` is an AttributeError.

A consumer that knows DLPack before 1.0 may say so, and gets a legacy capsule or
BufferError. The method that makes one has another name than the one that is called:
`_Tensor__ctypes_handle__to_dlpack` is what Python makes of two leading underscores.

Rule: 8
Says: array API 2025.12, __dlpack__, max_version
Reported: no report found
Needs: apache-tvm-ffi, NumPy
"""

import sys

import numpy as np
import tvm_ffi

x = tvm_ffi.from_dlpack(np.arange(3.0))
try:
    print(repr(x.__dlpack__(max_version=(0, 8))).partition(" at ")[0])
except BufferError:
    print("refused")
except AttributeError as error:
    print("AttributeError:", error)
    sys.exit(1)
