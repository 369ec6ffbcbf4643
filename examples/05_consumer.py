"""A minimal consumer: NumPy reads any producer's numbers in place, and gives them back.

Written against the specification alone, without refarray, and in Python alone: nobody
calls a consumer. `python -m refarray check` has no objections. Next: 06_test_double.py.
"""

from ctypes import c_char_p, c_void_p, py_object, pythonapi
from math import prod
from pathlib import Path

import cffi
import numpy as np
from numpy.lib.stride_tricks import as_strided

ffi = cffi.FFI()
ffi.cdef(Path(__file__).with_name("dlpack_structs.h").read_text())
FORMS = {b"dltensor": "", b"dltensor_versioned": "Versioned"}
USED = {name: b"used_" + name for name in FORMS}
TYPES = {(0, 64, 1): "i8", (2, 32, 1): "f4", (2, 64, 1): "f8"}  # code, bits, lanes
pythonapi.PyCapsule_GetName.restype = c_char_p
pythonapi.PyCapsule_GetPointer.restype = c_void_p


def from_dlpack(x, /, *, device=None, copy=None):
    """Return an array of NumPy over the memory of `x`, or over a copy."""
    announced = device or x.__dlpack_device__()
    try:
        capsule = x.__dlpack__(max_version=(1, 0), dl_device=device, copy=copy)
    except TypeError as error:
        if "keyword" not in str(error):
            raise
        capsule = x.__dlpack__()  # the producer is older than these keywords
    name = pythonapi.PyCapsule_GetName(py_object(capsule))
    if name not in FORMS:
        raise ValueError(f"{name} is not the name of a fresh capsule")
    address = pythonapi.PyCapsule_GetPointer(py_object(capsule), name)
    managed = ffi.cast(f"DLManagedTensor{FORMS[name]} *", address)
    if FORMS[name] and managed.version.major != 1:
        raise BufferError(f"DLPack {managed.version.major} is not supported")
    t, flags = managed.dl_tensor, getattr(managed, "flags", 0)
    found = t.device.device_type, t.device.device_id
    kind, size = (t.dtype.code, t.dtype.bits, t.dtype.lanes), t.dtype.bits // 8
    shape = ffi.unpack(t.shape, t.ndim) if t.ndim > 0 else []
    readable = kind in TYPES and t.ndim >= 0 and (t.data or 0 in shape)
    if not readable or found != announced or found[0] != 1:
        raise BufferError(f"cannot read {kind} of shape {shape} on device {found}")
    strides = t.ndim and t.strides and ffi.unpack(t.strides, t.ndim)
    strides = strides or [prod(shape[axis + 1 :]) for axis in range(t.ndim)]
    pythonapi.PyCapsule_SetName(py_object(capsule), USED[name])  # ours from here on
    data = ffi.cast("char *", t.data or managed) + t.byte_offset
    data = ffi.gc(data, lambda _: managed.deleter and managed.deleter(managed))
    base = np.ndarray((1,), TYPES[kind], ffi.buffer(data, size))  # keeps `data`
    base.flags.writeable = not flags & 1  # READ_ONLY
    y = as_strided(base, shape, [n * size for n in strides])
    return y.copy() if copy else y  # not every producer can be asked to copy


if __name__ == "__main__":
    print("read in place:", from_dlpack(np.arange(6.0)[::2]))
