"""A Tensor of bool is exported as uint8.

`pa.Tensor.from_numpy` takes an array of bool; `__dlpack__` says unsigned integers of
eight bits. DLPack has had a type of its own for bool since 2022.

Rule: 26
Says: DLPack 1.3 header, DLDataTypeCode: kDLBool
Reported: no report found
Needs: pyarrow, NumPy
"""

import sys

import numpy as np
import pyarrow as pa

given = np.from_dlpack(pa.Tensor.from_numpy(np.array([True, False])))
print(given, given.dtype)
sys.exit(given.dtype != np.bool_)
