"""refarray.

Install:
"""

import refarray as xp
from refarray.testing.adapters import Adapter

KINDS = {"bool": bool, "integral": int, "real floating": float}


class Refarray(Adapter):
    name = "refarray"
    version = xp.__version__
    cpu = xp.Device("cpu")
    from_dlpack = staticmethod(xp.from_dlpack)

    def make(self, values, shape, dtype):
        return xp.reshape(xp.asarray(values, dtype=getattr(xp, dtype)), shape)

    def read(self, array):
        flat = xp.reshape(array, (-1,))
        kind = next((k for k in KINDS if xp.isdtype(array.dtype, k)), None)
        return [KINDS.get(kind, complex)(flat[i]) for i in range(flat.shape[0])]

    def read_only(self, array):
        return xp.broadcast_to(array, array.shape)

    def is_read_only(self, array):
        return memoryview(array).readonly
