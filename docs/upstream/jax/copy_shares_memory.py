"""`copy=True` shares the producer's memory.

If the memory is aligned to 64 bytes, `jax.dlpack.from_dlpack(x, copy=True)` returns an
array over it, so an array that nobody can change changes when `x` is written to. JAX
hands `copy` neither to the producer nor, it seems, to the runtime.

Rule: 56
Says: array API 2025.12, from_dlpack, copy: True must always copy
Reported: no report found; https://github.com/jax-ml/jax/pull/29963 was about copy=False
Needs: jax, NumPy
"""

import sys

import jax
import numpy as np

memory = np.zeros(1024 + 64, dtype=np.uint8)
start = -memory.ctypes.data % 64  # JAX copies what is not aligned to 64 bytes
x = memory[start : start + 1024].view(np.float32)

y = jax.dlpack.from_dlpack(x, copy=True)
before = float(y[0])
x[0] = 99.0
print("before:", before, " after writing to x:", float(y[0]))
sys.exit(float(y[0]) != before)
