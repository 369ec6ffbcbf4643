"""`reshape(copy=False)` that needs a copy raises AttributeError.

The standard names ValueError.

Rule: none
Says: array API 2025.12, reshape, copy
Reported: no report found
Needs: array-api-strict
"""

import sys

import array_api_strict as xp

x = xp.permute_dims(xp.reshape(xp.arange(6), (2, 3)), (1, 0))
try:
    xp.reshape(x, (6,), copy=False)
    print("accepted")
    sys.exit(1)
except ValueError:
    print("ValueError")
except AttributeError as error:
    print("AttributeError:", error)
    sys.exit(1)
