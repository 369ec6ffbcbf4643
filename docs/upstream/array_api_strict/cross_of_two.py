"""`linalg.cross` takes vectors of two elements.

The standard has vectors of three only; a strict library should find the program that
relies on two.

Rule: none
Says: array API 2025.12, linalg.cross: the axis must have size 3
Reported: no report found
Needs: array-api-strict
"""

import sys

import array_api_strict as xp

try:
    y = xp.linalg.cross(xp.asarray([2.0, -1.0, 3.0]), xp.asarray([2.0, -1.0]))
except Exception as error:
    print("refused:", type(error).__name__)
else:
    print("accepted:", [float(v) for v in y])
    sys.exit(1)
