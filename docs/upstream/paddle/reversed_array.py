"""A reversed array is accepted, and cannot be read.

`from_dlpack` of an array with a negative stride returns a tensor. Reading it tries to
allocate 2**64 - 16 bytes: MemoryError. Negative strides may be refused, with
BufferError, or copied.

Rule: 48
Says: DLPack 1.3 header, strides; array API 2025.12, from_dlpack, raises
Reported: no report found
Needs: paddlepaddle, NumPy
"""

import sys

import numpy as np
import paddle

try:
    t = paddle.utils.dlpack.from_dlpack(np.arange(4.0)[::-1])
except Exception as error:
    print("refused:", type(error).__name__)
    sys.exit()
print("accepted, with strides", t.strides)
try:
    print(t.tolist())
except MemoryError:
    print("reading it: MemoryError")
    sys.exit(1)
sys.exit(t.tolist() != [3.0, 2.0, 1.0, 0.0])
