"""The consumer of dpnp for memory of the CPU, of which it makes NumPy arrays.

OCL_ICD_FILENAMES: see dpnp.py.

Install: dpnp intel-opencl-rt
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
