"""A second export of one object is a KeyError.

The object that `asdlpack` returns gives a capsule once. If that capsule is dropped,
even unused, the next call of `__dlpack__` raises KeyError.

Rule: 36
Says: DLPack, Python specification: each call of __dlpack__ gives a new capsule
Reported: no report found
Needs: pydlpack, NumPy
"""

import sys

import dlpack
import numpy as np

producer = dlpack.asdlpack(np.arange(3.0))
producer.__dlpack__()
try:
    print(np.from_dlpack(producer))
except KeyError:
    print("KeyError")
    sys.exit(1)
