"""`isin` ignores `invert=True`.

Rule: none
Says: array API 2025.12, isin, invert: whether each element is not in x2
Reported: no report found; the function came with
    https://github.com/data-apis/array-api-strict/pull/185
Needs: array-api-strict
"""

import sys

import array_api_strict as xp

x1, x2 = xp.asarray([1, 2, 3]), xp.asarray([1, 5])
found = xp.isin(x1, x2)
inverted = xp.isin(x1, x2, invert=True)
print("isin:", [bool(v) for v in found], " inverted:", [bool(v) for v in inverted])
sys.exit(bool(xp.any(found == inverted)))
