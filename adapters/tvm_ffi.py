"""TVM FFI, over memory of NumPy.

Install: apache-tvm-ffi==0.1.15.post2
"""

import numpy as np
import tvm_ffi

from refarray.testing.adapters import Adapter
from refarray.testing.forge import DTYPES


class TvmFfi(Adapter):
    name = "tvm_ffi"
    version = tvm_ffi.__version__
    dtypes = tuple(name for name in DTYPES if not name.startswith("complex"))
    from_dlpack = staticmethod(tvm_ffi.from_dlpack)

    def make(self, values, shape, dtype):
        return tvm_ffi.from_dlpack(np.asarray(values, dtype=dtype).reshape(shape))

    def read(self, array):
        return np.from_dlpack(array).ravel().tolist()

    def write(self, array, value):
        np.from_dlpack(array)[...] = value
