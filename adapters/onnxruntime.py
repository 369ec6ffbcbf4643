"""ONNX Runtime on the CPU.

Install: onnxruntime
"""

import numpy as np
import onnxruntime
from onnxruntime.capi.onnxruntime_pybind11_state import OrtValue

from refarray.testing.adapters import Adapter
from refarray.testing.forge import DTYPES


class OnnxRuntime(Adapter):
    name = "onnxruntime"
    version = onnxruntime.__version__
    dtypes = tuple(name for name in DTYPES if not name.startswith("complex"))
    from_dlpack = staticmethod(OrtValue.from_dlpack)

    def make(self, values, shape, dtype):
        data = np.asarray(values, dtype=dtype).reshape(shape)
        return onnxruntime.OrtValue.ortvalue_from_numpy(data)._ortvalue

    def read(self, array):
        return array.numpy().ravel().tolist()

    def shape(self, array):
        return tuple(array.shape())
