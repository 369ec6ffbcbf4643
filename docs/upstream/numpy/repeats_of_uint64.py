"""`repeat` refuses counts of the type uint64.

They cannot be cast to int64 "safely". Counts of every other integer type are taken.

Rule: none
Says: array API 2025.12, repeat, repeats: an integer data type
Reported: https://github.com/numpy/numpy/issues/15965 (open)
Needs: NumPy
"""

import sys

import numpy as np

try:
    print(np.repeat([0, 1, 2], np.array([2, 0, 1], dtype=np.uint64)))
except TypeError as error:
    print("TypeError:", error)
    sys.exit(1)
