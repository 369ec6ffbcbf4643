"""dpnp on its default SYCL device, which may be the CPU by an OpenCL driver.

For that driver, OCL_ICD_FILENAMES names libintelocl.so.

Install: dpnp intel-opencl-rt
"""

import dpnp

from refarray.testing.adapters import Adapter
from refarray.testing.forge import DTYPES

KIND, NUMBER = dpnp.empty(1).__dlpack_device__()


class Dpnp(Adapter):
    name = "dpnp"
    version = dpnp.__version__
    device = (int(KIND), NUMBER)
    dtypes = tuple(DTYPES)
    cpu = (1, 0)
    from_dlpack = staticmethod(dpnp.from_dlpack)

    def make(self, values, shape, dtype):
        return dpnp.asarray(values, dtype=dtype).reshape(shape)

    def read(self, array):
        return dpnp.asnumpy(array).ravel().tolist()
