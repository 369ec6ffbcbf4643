"""array-api-strict.

Install: array-api-strict==2.6.1
"""

import array_api_strict as xp

from refarray.testing.adapters import Adapter


class Strict(Adapter):
    name = "array-api-strict"
    version = xp.__version__
    cpu = xp.Device("CPU_DEVICE")
    from_dlpack = staticmethod(xp.from_dlpack)

    def make(self, values, shape, dtype):
        return xp.reshape(xp.asarray(values, dtype=getattr(xp, dtype)), shape)

    def read(self, array):
        flat = xp.reshape(array, (-1,))
        kinds = {"bool": bool, "integral": int, "complex floating": complex}
        kind = next((k for k in kinds if xp.isdtype(array.dtype, k)), None)
        return [kinds.get(kind, float)(flat[i]) for i in range(flat.shape[0])]
