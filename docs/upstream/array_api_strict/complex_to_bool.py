"""Complex numbers cannot be cast to bool.

The message says that the standard stipulates that this should not be permitted. It
does so of complex to real numbers; for bool it says what the values are.

Rule: none
Says: array API 2025.12, astype: 0 + 0j must cast to False, other values to True
Reported: no report found
Needs: array-api-strict
"""

import sys

import array_api_strict as xp

try:
    y = xp.astype(xp.asarray([0j, 1j]), xp.bool)
    print([bool(v) for v in y])
except TypeError as error:
    print("TypeError:", str(error)[:75])
    sys.exit(1)
