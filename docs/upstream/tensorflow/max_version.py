"""`max_version` is ignored: the capsule is always a legacy one.

`__dlpack__(max_version=(1, 0))` asks for a versioned capsule. A legacy one cannot say
that a tensor is immutable, so a consumer may write to a `tf.constant`.

Rule: 6
Says: array API 2025.12, __dlpack__, max_version
Reported: no report found
Needs: tensorflow-cpu
"""

import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

capsule = tf.constant([1.0, 2.0]).__dlpack__(max_version=(1, 0))
print(repr(capsule).partition(" at ")[0])
sys.exit('"dltensor_versioned"' not in repr(capsule))
