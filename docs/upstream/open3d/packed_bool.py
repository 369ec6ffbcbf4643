"""Bits are taken for bytes.

Elements with the code of bool and one bit each are packed, eight to a byte. Open3D
takes them for bool of eight bits, and reads eight times the memory.

Rule: 50
Says: DLPack 1.3 header, DLDataType: bool has 8 bits; smaller types are packed
Reported: no report found
Needs: open3d-cpu, refarray (it forges the capsule)
"""

import sys

import open3d

from refarray.testing import doubles

double = doubles.producer("(code, bits, lanes) = (6, 1, 1)")
try:
    t = open3d.core.Tensor.from_dlpack(double.array.__dlpack__())
except Exception as error:
    print("refused:", type(error).__name__)
else:
    print("one bit was taken for", t.dtype, "of", t.dtype.byte_size(), "byte")
    sys.exit(1)
