"""The complex `expm1` of infinite numbers is NaN.

`np.exp(z) - 1` has no trouble with them, `np.expm1(z)` gives NaN where the standard,
like C99 for `exp`, has a number: infinity for infinity + 0j, and -1 for -infinity +
infinity j.

Rule: none
Says: array API 2025.12, expm1, special cases for complex numbers
Reported: https://github.com/numpy/numpy/issues/21746 (open)
Needs: NumPy
"""

import sys

import numpy as np

z = np.array([complex(np.inf, 0), complex(-np.inf, np.inf), complex(np.nan, 0)])
with np.errstate(all="ignore"):
    came, wanted = np.expm1(z), np.exp(z) - 1
print("expm1(z):  ", came.tolist())
print("exp(z) - 1:", wanted.tolist())
sys.exit(not np.array_equal(came, wanted, equal_nan=True) or np.isnan(came[0].imag))
