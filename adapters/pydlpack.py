"""pydlpack, which exports what NumPy holds; it has no arrays of its own.

Install: pydlpack==0.2.1
"""

import importlib.metadata

import dlpack
import numpy as np

from refarray.testing.adapters import Adapter
from refarray.testing.forge import DTYPES


class Pydlpack(Adapter):
    name = "pydlpack"
    version = importlib.metadata.version("pydlpack")
    dtypes = tuple(DTYPES)

    def make(self, values, shape, dtype):
        return dlpack.asdlpack(np.asarray(values, dtype=dtype).reshape(shape))
