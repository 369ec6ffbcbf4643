"""Warp on the CPU.

Install: warp-lang==1.19.0
"""

import numpy as np
import warp as wp

from refarray.testing.adapters import Adapter

wp.config.quiet = True


class Warp(Adapter):
    name = "warp"
    version = wp.__version__
    dtypes = (
        *("bool", "int8", "int16", "int32", "int64"),
        *("uint8", "uint16", "uint32", "uint64", "float32", "float64"),
    )
    from_dlpack = staticmethod(wp.from_dlpack)

    def make(self, values, shape, dtype):
        data = np.asarray(values, dtype=dtype).reshape(shape)
        return wp.array(data, dtype=getattr(wp, dtype), device="cpu")

    def read(self, array):
        return array.numpy().ravel().tolist()

    def write(self, array, value):
        array.fill_(value)
