"""An empty array cannot be sliced backwards to its end.

`x[:-1:-1]` is refused for an axis of size 0: "contains stop=-1, but should be 0 (or
None)". For a negative step the standard lets a stop lie between -n - 1 and
max(0, n - 1): for n = 0, -1 is one of two.

Rule: none
Says: array API 2025.12, indexing, single-axis indexing: bounds of j for a negative step
Reported: no report found
Needs: array-api-strict
"""

import sys

import array_api_strict as xp

try:
    print(xp.empty((0,))[:-1:-1].shape)
except IndexError as error:
    print("IndexError:", str(error)[:64])
    sys.exit(1)
