"""`-inf ** 0.5` is NaN, and `-0.0 ** 0.5` is -0.0.

A power of 0.5 is handed to `sqrt`, which has other special cases: by C99 and the
standard, the results are infinity and 0.0. `np.power` with an exponent a little beside
0.5, or an array of them, is right.

Rule: none
Says: array API 2025.12, pow, special cases
Reported: https://github.com/numpy/numpy/issues/21213 (open)
Needs: NumPy
"""

import math
import sys

import numpy as np

x = np.array([-np.inf, -0.0])
with np.errstate(all="ignore"):
    came = x**0.5
print("NumPy:", came.tolist(), " C:", [math.pow(v, 0.5) for v in x])
sys.exit(not (came[0] == np.inf and not np.signbit(came[1])))
