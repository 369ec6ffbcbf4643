"""cuda.core's StridedMemoryView, over memory of NumPy.

Install: cuda-core==1.2.2 cuda-bindings==13.5.0
"""

import cuda.core
import numpy as np
from cuda.core.utils import StridedMemoryView

from refarray.testing.adapters import Adapter
from refarray.testing.forge import DTYPES


class CudaCore(Adapter):
    name = "cuda_core"
    version = cuda.core.__version__
    dtypes = tuple(DTYPES)

    @staticmethod
    def from_dlpack(x, /):
        view = StridedMemoryView.from_dlpack(x, stream_ptr=-1)
        assert view.dtype is not None  # the type is looked at only when asked for
        return view

    def make(self, values, shape, dtype):
        return self.from_dlpack(np.asarray(values, dtype=dtype).reshape(shape))

    def read(self, array):
        return np.from_dlpack(array).ravel().tolist()

    def write(self, array, value):
        np.from_dlpack(array)[...] = value

    def read_only(self, array):
        view = np.from_dlpack(array)
        view.flags.writeable = False
        return self.from_dlpack(view)

    def is_read_only(self, array):
        return array.readonly
