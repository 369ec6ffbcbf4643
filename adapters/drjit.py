"""Dr.Jit, its scalar backend on the CPU.

Install: drjit==1.5.0
"""

import drjit
import numpy as np
from drjit import scalar

from refarray.testing.adapters import Adapter

TYPES = {
    "bool": scalar.TensorXb,
    "int8": scalar.TensorXi8,
    "int32": scalar.TensorXi,
    "int64": scalar.TensorXi64,
    "uint8": scalar.TensorXu8,
    "uint32": scalar.TensorXu,
    "uint64": scalar.TensorXu64,
    "float32": scalar.TensorXf,
    "float64": scalar.TensorXf64,
}


class DrJit(Adapter):
    name = "drjit"
    version = drjit.__version__
    dtypes = tuple(TYPES)

    @staticmethod
    def from_dlpack(x, /):
        return scalar.TensorXf64(x)

    def make(self, values, shape, dtype):
        return TYPES[dtype](np.asarray(values, dtype=dtype).reshape(shape))

    def read(self, array):
        return array.numpy().ravel().tolist()
