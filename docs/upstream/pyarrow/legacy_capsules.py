"""Producers that give legacy capsules cannot be imported.

`pa.Tensor.from_dlpack` asks with `max_version`, and takes nothing but a versioned
capsule. A producer may answer with a legacy one, and an old one does not know the
keyword: then a consumer asks again without it.

Rule: 43
Says: array API 2025.12, __dlpack__, max_version, with an example of both
Reported: no report found
Needs: pyarrow, NumPy
"""

import sys

import numpy as np
import pyarrow as pa

x = np.arange(3.0)


class Legacy:
    def __dlpack_device__(self):
        return x.__dlpack_device__()

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        return x.__dlpack__()


class Old:
    def __dlpack_device__(self):
        return x.__dlpack_device__()

    def __dlpack__(self, stream=None):
        return x.__dlpack__()


wrong = False
for producer in (Legacy(), Old()):
    name = type(producer).__name__
    try:
        print(f"{name}:", pa.Tensor.from_dlpack(producer).to_numpy())
    except Exception as error:
        print(f"{name}: {type(error).__name__}: {error}")
        wrong = True
sys.exit(wrong)
