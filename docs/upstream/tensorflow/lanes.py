"""Vectors are taken for numbers.

Elements of four lanes of float64 are 32 bytes each. TensorFlow looks at the code and
the bits only, takes them for single numbers, and reads a quarter of the memory.

Rule: 50
Says: DLPack 1.3 header, DLDataType.lanes
Reported: no report found
Needs: tensorflow-cpu, refarray (it forges the capsule)
"""

import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

from refarray.testing import doubles

double = doubles.producer("(code, bits, lanes) = (2, 64, 4)")
try:
    t = tf.experimental.dlpack.from_dlpack(double.array.__dlpack__())
except Exception as error:
    print("refused:", type(error).__name__)
else:
    print("four lanes were taken for", t.dtype)
    sys.exit(1)
