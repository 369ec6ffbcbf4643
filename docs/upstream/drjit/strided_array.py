"""An array that is not row-major cannot be imported.

A tensor can be made of a NumPy array, and not of its transpose by DLPack: TypeError,
"Unable to initialize". A copy or BufferError would be right.

Rule: 48
Says: DLPack 1.3 header, strides; array API 2025.12, from_dlpack, raises
Reported: no report found
Needs: drjit, refarray
"""

import sys

from drjit import scalar

import refarray

x = refarray.permute_dims(refarray.reshape(refarray.arange(6.0), (2, 3)), (1, 0))
try:
    t = scalar.TensorXf64(x)
except BufferError:
    print("refused")
except Exception as error:
    print(type(error).__name__ + ":", str(error)[:75])
    sys.exit(1)
else:
    print(t.numpy().tolist())
    sys.exit(t.numpy().tolist() != [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]])
