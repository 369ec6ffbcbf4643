"""With `copy` or `device`, producers that do not know these keywords fail.

`np.from_dlpack(x)` asks a producer again that does not know `max_version`. With
`copy=True`, which NumPy could keep by copying itself, the TypeError of the producer
arrives.

Rule: 41
Says: array API 2025.12, from_dlpack, copy: True must always copy
Reported: no report found
Needs: NumPy
"""

import sys

import numpy as np

x = np.arange(3.0)


class Old:
    def __dlpack_device__(self):
        return x.__dlpack_device__()

    def __dlpack__(self, stream=None):
        return x.__dlpack__()


print("without a keyword:", np.from_dlpack(Old()))
try:
    print("copy=True:", np.from_dlpack(Old(), copy=True))
except TypeError as error:
    print("copy=True: TypeError:", error)
    sys.exit(1)
