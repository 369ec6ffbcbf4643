"""Asked for a legacy capsule with a copy, or on the host, it exports its own memory.

Without `max_version`, `__dlpack__` ignores `copy` and `dl_device`: the capsule that was
asked for with `dl_device=(1, 0)` lies on the SYCL device, and the "copy" at the address
of the original.

Rule: 12
Says: array API 2025.12, __dlpack__, dl_device and copy
Reported: no report found
Needs: dpnp, a SYCL device
"""

import ctypes
import sys

import dpnp

api = ctypes.pythonapi
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]

x = dpnp.arange(3.0)
wrong = False
for question in ({"copy": True}, {"dl_device": (1, 0)}):
    try:
        capsule = x.__dlpack__(**question)
    except BufferError as error:
        print(f"{question}: refused, {error}")
        continue
    managed = api.PyCapsule_GetPointer(capsule, b"dltensor")
    same = ctypes.c_void_p.from_address(managed).value == x.data.ptr
    device = ctypes.c_int32.from_address(managed + 8).value
    print(f"{question}: device type {device}, memory shared: {same}")
    wrong |= same
sys.exit(wrong)
