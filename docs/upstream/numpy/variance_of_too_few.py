"""The variance of too few numbers is infinite.

With a correction of as many as there are numbers, the sum of squares is divided by
zero; by the standard the variance is not known: NaN. For one number and a correction of
1, 0 / 0, NumPy says so too.

Rule: none
Says: array API 2025.12, var and std, special cases: NaN if N - correction <= 0
Reported: no report found
Needs: NumPy
"""

import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")
came = [float(np.var(np.arange(3.0), correction=c)) for c in (3, 4)]
print("correction 3 and 4 of three numbers:", came)
sys.exit(not np.isnan(came).all())
