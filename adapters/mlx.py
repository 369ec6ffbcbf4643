"""MLX on the CPU.

Install: mlx[cpu]==0.32.4
"""

import mlx.core as mx

from refarray.testing.adapters import Adapter
from refarray.testing.findings import NotApplicable

mx.set_default_device(mx.cpu)


class Mlx(Adapter):
    name = "mlx"
    version = mx.__version__
    dtypes = (
        *("bool", "int8", "int16", "int32", "int64"),
        *("uint8", "uint16", "uint32", "uint64", "float32", "float64", "complex64"),
    )
    from_dlpack = staticmethod(mx.from_dlpack)

    def make(self, values, shape, dtype):
        kind = mx.bool_ if dtype == "bool" else getattr(mx, dtype)
        array = mx.array(values, dtype=kind).reshape(shape)
        mx.eval(array)
        return array

    def write(self, array, value):
        raise NotApplicable("an assignment gives the array new memory")

    def read(self, array):
        return array.flatten().tolist()
