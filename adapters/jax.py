"""JAX, with 64-bit types.

Install: jax==0.10.2;python_version<'3.12' jax==0.12.0.1;python_version>='3.12'
Python: 3.12, else any
"""

import jax
import jax.numpy as jnp
import numpy as np

from refarray.testing.adapters import Adapter

jax.config.update("jax_enable_x64", True)


class Jax(Adapter):
    name = "jax"
    version = jax.__version__
    cpu = jax.devices("cpu")[0]
    from_dlpack = staticmethod(jax.dlpack.from_dlpack)

    def make(self, values, shape, dtype):
        return jnp.asarray(values, dtype=dtype).reshape(shape)

    def read(self, array):
        return np.asarray(array).ravel().tolist()

    def read_only(self, array):
        return array  # every array is immutable
