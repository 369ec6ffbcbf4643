"""nanobind's ndarray, in a module that is compiled at the first use (needs g++).

Install: nanobind==3.1.0
"""

import importlib.util
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import nanobind
import numpy as np

from refarray.testing.adapters import Adapter
from refarray.testing.forge import DTYPES


def compiled():
    """Return the module, built beside nanobind itself."""
    source = Path(__file__).with_name("nanobind_module.cpp")
    package = Path(nanobind.__file__).parent
    target = package.with_name("nanobind_module.so")
    if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
        fresh = target.with_suffix(f".{os.getpid()}")
        subprocess.run(
            [
                *("g++", "-std=c++17", "-shared", "-fPIC", "-fvisibility=hidden"),
                *(f"-I{package / 'include'}", f"-I{package / 'ext/robin_map/include'}"),
                f"-I{sysconfig.get_path('include')}",
                *(str(source), str(package / "src/nb_combined.cpp")),
                *("-o", str(fresh)),
            ],
            check=True,
        )
        fresh.rename(target)
    spec = importlib.util.spec_from_file_location("nanobind_module", target)
    module = importlib.util.module_from_spec(spec)
    sys.modules["nanobind_module"] = module
    spec.loader.exec_module(module)
    return module


class Nanobind(Adapter):
    name = "nanobind"
    version = nanobind.__version__
    dtypes = tuple(DTYPES)
    from_dlpack = staticmethod(compiled().from_dlpack)

    def make(self, values, shape, dtype):
        return self.from_dlpack(np.asarray(values, dtype=dtype).reshape(shape))

    def read(self, array):
        return np.from_dlpack(array).ravel().tolist()

    def write(self, array, value):
        np.from_dlpack(array)[...] = value

    def shape(self, array):
        return np.from_dlpack(array).shape
