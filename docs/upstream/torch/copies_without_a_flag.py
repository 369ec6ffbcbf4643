"""Copies do not say that they are copies.

`__dlpack__(copy=True)` copies, and leaves IS_COPIED unset. A consumer that must return
memory of its own, and checks the flag, has to copy once more.

Rule: 12
Says: array API 2025.12, __dlpack__, copy: the flag must be set
Reported: no report found
Needs: torch
"""

import ctypes
import sys

import torch

api = ctypes.pythonapi
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]

capsule = torch.ones(3).__dlpack__(max_version=(1, 3), copy=True)
managed = api.PyCapsule_GetPointer(capsule, b"dltensor_versioned")
flags = ctypes.c_uint64.from_address(managed + 24).value
print(f"flags {flags:#x}; IS_COPIED is 0x2")
sys.exit(not flags & 2)
