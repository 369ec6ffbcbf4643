"""The C exchange API exports tensors that require gradients.

`__dlpack__` refuses them, because gradients would be lost. The table behind
`__dlpack_c_exchange_api__` exports them without a word.

Rule: 70
Says: DLPack 1.3 header, DLPackExchangeAPI: BufferError if the data cannot be described
Reported: no report found
Needs: paddlepaddle
"""

import ctypes
import sys

import paddle

api = ctypes.pythonapi
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]

tensor = paddle.ones([2])
tensor.stop_gradient = False
table = api.PyCapsule_GetPointer(
    type(tensor).__dlpack_c_exchange_api__, b"dlpack_exchange_api"
)
# managed_tensor_from_py_object_no_sync: after the header and the allocator
function = ctypes.c_void_p.from_address(table + 24).value
export = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)(function)

try:
    tensor.__dlpack__()
    print("__dlpack__ exports it")
    sys.exit(0)
except BufferError as error:
    print("__dlpack__:", str(error).partition(".")[0])
managed = ctypes.c_void_p()
try:
    failed = export(tensor, ctypes.addressof(managed))
except BufferError:
    failed = -1
print("the table:", "refuses" if failed else "exports")
sys.exit(not failed)
