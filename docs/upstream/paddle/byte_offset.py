"""The byte offset of a capsule is ignored: other elements are read.

The first element lies at data + byte_offset; `paddle.utils.dlpack.from_dlpack` reads
from data on.

Rule: 46
Says: DLPack 1.3 header, DLTensor.byte_offset
Reported: no report found
Needs: paddlepaddle, refarray (it forges the capsule)
"""

import sys

import paddle

from refarray.testing import doubles

double = doubles.producer("byte_offset=16")
read = paddle.utils.dlpack.from_dlpack(double.array).flatten().tolist()
print("the capsule holds", double.values, " read:", read)
sys.exit(read != double.values)
