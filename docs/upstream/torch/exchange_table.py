"""The C exchange API exports what `__dlpack__` refuses, with wrong values.

`__dlpack__` raises BufferError for a lazy conjugate, and for a tensor that requires
gradients. The table behind `torch.Tensor.__dlpack_c_exchange_api__` exports both
without a word: for the conjugate the numbers are those before conjugation, and every
consumer that prefers the table, like TVM FFI, computes with them.

Rule: 70
Says: DLPack 1.3 header, DLPackExchangeAPI: BufferError if the data cannot be described
Reported: no report found
Needs: torch
"""

import ctypes
import sys

import torch

api = ctypes.pythonapi
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
table = api.PyCapsule_GetPointer(
    torch.Tensor.__dlpack_c_exchange_api__, b"dlpack_exchange_api"
)
# managed_tensor_from_py_object_no_sync: after the header and the allocator
function = ctypes.c_void_p.from_address(table + 24).value
export = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)(function)

tensors = {
    "lazy conjugate": torch.tensor([1 + 2j]).conj(),
    "requires_grad": torch.ones(1, requires_grad=True),
}
wrong = False
for name, tensor in tensors.items():
    try:
        tensor.__dlpack__()
    except BufferError as error:
        print(f"{name}: __dlpack__ says {error}")
    managed = ctypes.c_void_p()
    try:
        failed = export(tensor, ctypes.addressof(managed))
    except BufferError:
        continue
    if failed == 0:
        wrong = True
        # version 0, manager_ctx 8, deleter 16, flags 24, dl_tensor 32: data first
        data = ctypes.c_void_p.from_address(managed.value + 32).value
        size = 2 if tensor.is_complex() else 1
        print(f"{name}: {tensor.tolist()} exported as", end=" ")
        print(list((ctypes.c_float * size).from_address(data)))
sys.exit(wrong)
