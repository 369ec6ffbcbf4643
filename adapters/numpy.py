"""NumPy.

Install: numpy==2.4.6;python_version<'3.12' numpy==2.5.5;python_version>='3.12'
Python: 3.12, else any
"""

import numpy as np

from refarray.testing.adapters import Adapter


class NumPy(Adapter):
    name = "numpy"
    version = np.__version__
    cpu = "cpu"
    from_dlpack = staticmethod(np.from_dlpack)

    def make(self, values, shape, dtype):
        return np.asarray(values, dtype=dtype).reshape(shape)

    def read(self, array):
        return array.ravel().tolist()

    def read_only(self, array):
        view = array.view()
        view.flags.writeable = False
        return view

    def is_read_only(self, array):
        return not array.flags.writeable

    def unexportable(self):
        return np.asarray(["2026"], dtype="datetime64[Y]")
