"""A build for CPUs takes memory of a GPU for its own.

The capsule says CUDA. `OrtValue.from_dlpack` accepts it, and `numpy()` reads the
address as one of the host: with a real GPU, a segmentation fault.

Rule: 54
Says: DLPack 1.3 header, DLTensor.device
Reported: no report found
Needs: onnxruntime, refarray (it forges the capsule, over memory of the host)
"""

import sys

from onnxruntime import OrtValue

from refarray.testing import doubles

try:
    x = OrtValue.from_dlpack(doubles.producer("keeps every rule, on CUDA").array)
except Exception as error:
    print("refused:", type(error).__name__)
else:
    print("accepted, on", x.device_name())
    sys.exit(1)
