"""The exchange table does not write the stream of the CPU.

`current_work_stream` returns 0, which is success, and leaves what it was to fill in
as it was: for a caller in C, an uninitialised pointer that it takes for a stream.

Rule: 68
Says: DLPack 1.3 header, DLPackExchangeAPI: for kDLCPU the stream is NULL
Reported: no report found
Needs: paddlepaddle
"""

import ctypes
import sys

import paddle

api = ctypes.pythonapi
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
table = api.PyCapsule_GetPointer(
    type(paddle.ones([1])).__dlpack_c_exchange_api__, b"dlpack_exchange_api"
)
function = ctypes.c_void_p.from_address(table + 48).value  # current_work_stream
signature = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_int, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p)
)
stream = ctypes.c_void_p(0xBAD)
status = signature(function)(1, 0, ctypes.byref(stream))
print("status", status, " stream", hex(stream.value or 0), " before: 0xbad")
sys.exit(status == 0 and stream.value == 0xBAD)
