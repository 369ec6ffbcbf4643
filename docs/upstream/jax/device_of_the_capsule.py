"""The device in the capsule is not looked at.

The producer says CPU in `__dlpack_device__`, and its capsule says CUDA. JAX takes the
address for one of the host, and reads it: with a real GPU, garbage or a crash. The
capsule says where the memory is; if it says otherwise, an exception is right.

Rule: 54
Says: DLPack 1.3 header, DLTensor.device
Reported: no report found
Needs: jax, refarray (it forges the capsule, over memory of the host)
"""

import sys

import jax

from refarray.testing import doubles

double = doubles.producer("announced (1, 0), capsule on (2, 0)")
try:
    y = jax.dlpack.from_dlpack(double.array)
except Exception as error:
    print("refused:", type(error).__name__)
else:
    print("a capsule of CUDA memory was read on", y.device, y.tolist())
    sys.exit(1)
