"""The consumer of dpnp for memory of the CPU, of which it makes NumPy arrays.

It needs a device even so: see dpnp.py.

Install: dpnp==0.20.0 intel-opencl-rt==2026.2.0
Environment: OCL_ICD_FILENAMES={folder}/lib/libintelocl.so
"""

import dpnp

from refarray.testing.adapters import Adapter


class DpnpCpu(Adapter):
    name = "dpnp_cpu"
    version = dpnp.__version__
    cpu = (1, 0)
    from_dlpack = staticmethod(dpnp.from_dlpack)

    def read(self, array):
        return dpnp.asnumpy(array).ravel().tolist()

    def is_read_only(self, array):
        return not array.flags.writeable
