"""What a producer makes for the export alone is freed while it is in use.

`asdlpack` of an object with `__dlpack__` calls the deleter at once, and keeps the
object alive instead. If the capsule held memory of its own, as that of a producer which
copies, the array that is made of it reads freed memory.

Rule: 45
Says: DLPack, Python specification: the deleter is called when the tensor is not used
Reported: no report found
Needs: pydlpack, NumPy, refarray (it makes the capsule and counts)
"""

import sys

import dlpack
import numpy as np

from refarray.testing import doubles

double = doubles.producer()
x = np.from_dlpack(dlpack.asdlpack(double.array))
print("the array is in use, its sum is", x.sum())
print("calls of the deleter:", double.deleter_calls)
sys.exit(double.deleter_calls)
