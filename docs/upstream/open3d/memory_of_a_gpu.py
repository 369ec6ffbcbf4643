"""A build for CPUs takes memory of a GPU for its own.

The capsule says CUDA. `Tensor.from_dlpack` accepts it, and the first computation reads
an address that the host does not have.

Rule: 54
Says: DLPack 1.3 header, DLTensor.device
Reported: no report found
Needs: open3d-cpu, refarray (it forges the capsule, over memory of the host)
"""

import sys

import open3d

from refarray.testing import doubles

capsule = doubles.producer("keeps every rule, on CUDA").array.__dlpack__(stream=-1)
try:
    t = open3d.core.Tensor.from_dlpack(capsule)
except Exception as error:
    print("refused:", type(error).__name__)
else:
    print("accepted, on", t.device)
    sys.exit(1)
