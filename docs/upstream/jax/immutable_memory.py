"""A legacy capsule does not say that the array is immutable, and so it changes.

Legacy capsules have no read-only flag. JAX gives its memory to them all the same, so a
consumer that asks for one, as TVM FFI, MLX and others still do, may write to an array
that JAX takes for constant. NumPy raises BufferError here; a copy would do as well.

Rule: 23
Says: array API 2025.12, data interchange: read-only arrays and legacy capsules
Reported: https://github.com/jax-ml/jax/issues/19123 (closed, by a warning in the docs)
Needs: jax, refarray (it takes the legacy capsule, and writes)
"""

import sys

import jax
import jax.numpy as jnp

import refarray

jax.config.update("jax_enable_x64", True)
j = jnp.zeros(3) + 1.0


class Legacy:
    def __dlpack_device__(self):
        return j.__dlpack_device__()

    def __dlpack__(self):
        return j.__dlpack__()


try:
    x = refarray.from_dlpack(Legacy())
    x[0] = 99.0
except Exception as error:
    print("refused:", type(error).__name__)
else:
    print("the JAX array is now", j.tolist())
    sys.exit(float(j[0]) != 1.0)
