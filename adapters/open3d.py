"""Open3D's tensor, whose consumer takes capsules only (needs libusb-1.0).

Install: open3d-cpu==0.20.0
System: libusb-1.0-0
"""

import numpy as np
import open3d

from refarray.testing.adapters import Adapter


class Open3D(Adapter):
    name = "open3d"
    version = open3d.__version__
    dtypes = (
        *("bool", "int8", "int16", "int32", "int64"),
        *("uint8", "uint16", "uint32", "uint64", "float32", "float64"),
    )

    @staticmethod
    def from_dlpack(x, /):
        return open3d.core.Tensor.from_dlpack(x.__dlpack__())

    def make(self, values, shape, dtype):
        return open3d.core.Tensor(np.asarray(values, dtype=dtype).reshape(shape))

    def read(self, array):
        return array.numpy().ravel().tolist()
