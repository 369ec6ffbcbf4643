"""What MXNet exports and takes in its own interpreter, with ctypes alone.

Runs in Python 3.8 beside NumPy 1, without refarray, and prints what it saw as JSON;
test_mxnet_alone.py compares.
"""

import ctypes
import gc
import json
import sys

import mxnet as mx
import numpy as np

POINTERS = ctypes.POINTER(ctypes.c_int64)


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", POINTERS),
        ("strides", POINTERS),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    pass


DELETER = ctypes.CFUNCTYPE(None, ctypes.POINTER(Managed))
Managed._fields_ = [
    ("tensor", Tensor),
    ("context", ctypes.c_void_p),
    ("deleter", DELETER),
]

api = ctypes.PyDLL(None)
new = api.PyCapsule_New
new.restype = ctypes.py_object
new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
name_of = api.PyCapsule_GetName
name_of.restype = ctypes.c_char_p
name_of.argtypes = [ctypes.py_object]
pointer_of = api.PyCapsule_GetPointer
pointer_of.restype = ctypes.c_void_p
pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]


def exported(name):
    """Export an array of that type, and read the capsule."""
    array = mx.nd.array(np.arange(6).reshape(2, 3), dtype=name)
    capsule = array.to_dlpack_for_read()
    tensor = Managed.from_address(pointer_of(capsule, name_of(capsule))).tensor
    kind = ctypes.c_char * (6 * (tensor.bits // 8))
    return {
        "name": name_of(capsule).decode(),
        "device": [tensor.device_type, tensor.device_id],
        "type": [tensor.code, tensor.bits, tensor.lanes],
        "shape": [tensor.shape[i] for i in range(tensor.ndim)],
        "strides": bool(tensor.strides),
        "offset": tensor.byte_offset,
        "values": np.frombuffer(kind.from_address(tensor.data), name).tolist()
        if tensor.bits >= 8
        else None,
    }


def taken(code, bits, values, strides=None, offset=0):
    """Have MXNet take a tensor of shape (2, 3), and count its deleter's calls."""
    calls = []
    shape = (ctypes.c_int64 * 2)(2, 3)
    steps = None if strides is None else (ctypes.c_int64 * 2)(*strides)
    deleter = DELETER(lambda managed: calls.append(1))
    tensor = Tensor(
        *(values.ctypes.data, 1, 0, 2, code, bits, 1, shape),
        *(ctypes.cast(steps, POINTERS), offset),
    )
    managed = Managed(tensor, None, deleter)
    capsule = new(ctypes.addressof(managed), b"dltensor", None)
    seen = {}
    try:
        array = mx.nd.from_dlpack(capsule)
        seen["values"] = array.asnumpy().ravel().tolist()
        values[0] = 50
        seen["shared"] = array.asnumpy().ravel()[0].item() == 50
        seen["early"] = len(calls)
        del array
    except (mx.base.MXNetError, UnicodeDecodeError) as error:
        seen["error"] = type(error).__name__
    seen["name"] = name_of(capsule).decode()
    gc.collect()
    mx.nd.waitall()
    seen["calls"] = len(calls)
    return seen


CODES = {"int": 0, "uint": 1, "float": 2}


def main():
    report = {"version": mx.__version__, "numpy": np.__version__}
    report["exported"], report["taken"] = {}, {}
    for name in ("int8", "int32", "int64", "uint8", "float16", "float32", "float64"):
        report["exported"][name] = exported(name)
        bits = np.dtype(name).itemsize * 8
        code = CODES[name.rstrip("0123456789")]
        report["taken"][name] = taken(code, bits, np.arange(1, 8).astype(name))
    report["exported"]["bool"] = exported("bool")
    floats = np.arange(1.0, 9.0)
    report["taken"]["complex128"] = taken(5, 128, np.arange(8).astype("complex128"))
    report["taken"]["columns"] = taken(2, 64, floats.copy(), strides=(1, 2))
    report["taken"]["rows"] = taken(2, 64, floats.copy(), strides=(3, 1))
    report["taken"]["offset"] = taken(2, 64, floats.copy(), offset=8)
    json.dump(report, sys.stdout)


main()
