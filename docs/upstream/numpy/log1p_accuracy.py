"""The complex `log1p` is as inaccurate near zero as `log(1 + z)`.

It is there for small numbers, and loses half of their digits: for 1e-9 + 1e-12 j the
real part is wrong from the eighth digit on, for 1e-17 it is 0.

Rule: none
Says: array API 2025.12, log1p, note on accuracy
Reported: https://github.com/numpy/numpy/issues/22609 (open)
Needs: NumPy
"""

import math
import sys

import numpy as np

wrong = False
for x in (1e-9, 1e-17):
    came = np.log1p(complex(x, 1e-12)).real
    wanted = math.log1p(2 * x + x * x + 1e-24) / 2  # log |1 + z|
    print(f"real part {came!r}, wanted {wanted!r}")
    wrong |= not math.isclose(came, wanted, rel_tol=1e-12)
sys.exit(wrong)
