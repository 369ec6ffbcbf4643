"""The deleter of a tensor on a device that is not there is called twice.

A build for CPUs refuses a capsule of CUDA memory, rightly; but it calls the deleter on
the way, and once more when it cleans up: a double free in the producer.

Rule: 45
Says: DLPack, Python specification: the deleter is called exactly once
Reported: no report found
Needs: tensorflow-cpu, refarray (it forges the capsule and counts)
"""

import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

from refarray.testing import doubles

double = doubles.producer("announced (1, 0), capsule on (2, 0)")
try:
    tf.experimental.dlpack.from_dlpack(double.array.__dlpack__())
except Exception as error:
    print("refused:", type(error).__name__)
print("calls of the deleter:", double.deleter_calls)
sys.exit(double.deleter_calls > 1)
