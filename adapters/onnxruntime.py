"""ONNX Runtime on the CPU.

Install: onnxruntime==1.32.0
"""

import numpy as np
import onnxruntime
from onnxruntime import OrtValue

from refarray.testing.adapters import Adapter
from refarray.testing.forge import DTYPES


class OnnxRuntime(Adapter):
    name = "onnxruntime"
    version = onnxruntime.__version__
    dtypes = tuple(name for name in DTYPES if not name.startswith("complex"))
    from_dlpack = staticmethod(OrtValue.from_dlpack)

    def make(self, values, shape, dtype):
        # ortvalue_from_numpy would lend NumPy's memory.
        array = OrtValue.ortvalue_from_shape_and_type(shape, np.dtype(dtype).type)
        array.update_inplace(np.asarray(values, dtype=dtype).reshape(shape))
        return array

    def read(self, array):
        return array.numpy().ravel().tolist()

    def shape(self, array):
        return tuple(array.shape())
