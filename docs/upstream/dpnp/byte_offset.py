"""The byte offset of the host's memory is ignored: other elements are read.

The first element lies at data + byte_offset; `dpnp.from_dlpack` of memory of the CPU
reads from data on.

Rule: 46
Says: DLPack 1.3 header, DLTensor.byte_offset
Reported: no report found
Needs: dpnp, a SYCL device, refarray (it forges the capsule)
"""

import sys

import dpnp

from refarray.testing import doubles

double = doubles.producer("byte_offset=16")
read = dpnp.from_dlpack(double.array).ravel().tolist()
print("the capsule holds", double.values, " read:", read)
sys.exit(read != double.values)
