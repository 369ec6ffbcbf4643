"""`copy=True` without `max_version` shares the memory.

With `max_version`, `__dlpack__(copy=True)` raises BufferError, "copy not yet
supported". Without, it returns a capsule of the same memory, and writing to the copy
writes to the original.

Rule: 12
Says: array API 2025.12, __dlpack__, copy: True must always copy
Reported: no report found
Needs: apache-tvm-ffi, NumPy
"""

import ctypes
import sys

import numpy as np
import tvm_ffi

api = ctypes.pythonapi
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]

x = tvm_ffi.from_dlpack(np.arange(3.0))
try:
    capsule = x.__dlpack__(copy=True)
except BufferError as error:
    print("refused:", error)
    sys.exit()
managed = api.PyCapsule_GetPointer(capsule, b"dltensor")
data = ctypes.c_void_p.from_address(managed).value
print("the copy has the address of the original:", data == x.data_ptr())
sys.exit(data == x.data_ptr())
