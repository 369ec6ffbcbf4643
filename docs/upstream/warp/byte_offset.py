"""The byte offset of a capsule is ignored: other elements are read.

The first element lies at data + byte_offset; `wp.from_dlpack` reads from data on.

Rule: 46
Says: DLPack 1.3 header, DLTensor.byte_offset
Reported: https://github.com/NVIDIA/warp/pull/1573 (open)
Needs: warp-lang, refarray (it forges the capsule)
"""

import sys

import warp as wp

from refarray.testing import doubles

wp.config.quiet = True
wp.init()
double = doubles.producer("byte_offset=16")
read = wp.from_dlpack(double.array).numpy().ravel().tolist()
print("the capsule holds", double.values, " read:", read)
sys.exit(read != double.values)
