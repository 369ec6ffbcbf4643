"""The major version of a capsule is not looked at.

A managed tensor of version 2.0 may have any layout behind its first fields; a consumer
that does not know it calls the deleter and touches nothing else. `StridedMemoryView`
reads it as one of version 1.

Rule: 42
Says: DLPack 1.3 header, DLManagedTensorVersioned.version
Reported: no report found
Needs: cuda-core, cuda-bindings, refarray (it forges the capsule)
"""

import sys

from cuda.core.utils import StridedMemoryView

from refarray.testing import doubles

array = doubles.producer("version (2, 0), ndim 2").array
try:
    view = StridedMemoryView.from_dlpack(array, stream_ptr=-1)
except Exception as error:
    print("refused:", type(error).__name__)
else:
    print("version 2.0 was accepted, shape", view.shape)
    sys.exit(1)
