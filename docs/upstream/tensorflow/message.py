"""The error for a wrong capsule prints `%s`.

The message has a place for the capsule's name, and nothing is put there.

Rule: none
Says: -
Reported: no report found
Needs: tensorflow-cpu, NumPy
"""

import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

try:
    tf.experimental.dlpack.from_dlpack(np.ones(3).__dlpack__(max_version=(1, 0)))
except Exception as error:
    print(str(error)[:75])
    sys.exit("%s" in str(error))
