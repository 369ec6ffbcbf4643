"""dpnp on its default SYCL device, which may be the CPU by an OpenCL driver.

The driver lies in the environment's own folder, where OpenCL does not look for it.

Install: dpnp==0.20.0 intel-opencl-rt==2026.2.0
Environment: OCL_ICD_FILENAMES={folder}/lib/libintelocl.so
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

    def read_only(self, array):
        view = array[...]
        view.flags["W"] = False
        return view

    def is_read_only(self, array):
        return not array.flags.writable
