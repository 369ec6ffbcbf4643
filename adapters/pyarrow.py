"""Apache Arrow's Tensor.

Install: pyarrow==26.0.1
"""

import numpy as np
import pyarrow as pa

from refarray.testing.adapters import Adapter
from refarray.testing.forge import DTYPES


class Arrow(Adapter):
    name = "pyarrow"
    version = pa.__version__
    dtypes = tuple(name for name in DTYPES if not name.startswith("complex"))
    from_dlpack = staticmethod(pa.Tensor.from_dlpack)

    def make(self, values, shape, dtype):
        return pa.Tensor.from_numpy(np.asarray(values, dtype=dtype).reshape(shape))

    def read(self, array):
        return array.to_numpy().ravel().tolist()

    def write(self, array, value):
        array.to_numpy()[...] = value

    def read_only(self, array):
        view = array.to_numpy().view()
        view.flags.writeable = False
        return pa.Tensor.from_numpy(view)

    def is_read_only(self, array):
        return not array.is_mutable
