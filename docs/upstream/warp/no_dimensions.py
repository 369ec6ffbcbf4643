"""An array without dimensions cannot be imported.

`wp.from_dlpack` of a NumPy array without dimensions raises IndexError.

Rule: 49
Says: DLPack 1.3 header, DLTensor.ndim: 0 is allowed
Reported: no report found
Needs: warp-lang, NumPy
"""

import sys

import numpy as np
import warp as wp

wp.config.quiet = True
wp.init()
try:
    print("shape", wp.from_dlpack(np.asarray(1.5)).shape)
except BufferError:
    print("refused")
except Exception as error:
    print(type(error).__name__ + ":", error)
    sys.exit(1)
