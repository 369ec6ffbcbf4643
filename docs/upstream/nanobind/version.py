"""The major version of a capsule is not looked at.

A managed tensor of version 2.0 may have any layout behind its first fields; a consumer
that does not know it calls the deleter and touches nothing else. nanobind reads it as
one of version 1.

Rule: 42
Says: DLPack 1.3 header, DLManagedTensorVersioned.version
Reported: no report found
Needs: nanobind, a C++ compiler, refarray (it forges the capsule)
"""

import importlib.util
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import nanobind

from refarray.testing import doubles

SOURCE = """
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
NB_MODULE(taker, m) { m.def("size", [](nanobind::ndarray<> x) { return x.size(); }); }
"""


def compiled():
    """Return the module: its `size` takes any array."""
    folder = Path(tempfile.mkdtemp())
    (folder / "taker.cpp").write_text(SOURCE)
    package = Path(nanobind.__file__).parent
    subprocess.run(
        [
            *("g++", "-std=c++17", "-shared", "-fPIC", "-fvisibility=hidden"),
            *(f"-I{package / 'include'}", f"-I{package / 'ext/robin_map/include'}"),
            f"-I{sysconfig.get_path('include')}",
            *(folder / "taker.cpp", package / "src/nb_combined.cpp"),
            *("-o", folder / "taker.so"),
        ],
        check=True,
    )
    spec = importlib.util.spec_from_file_location("taker", folder / "taker.so")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


taker = compiled()
array = doubles.producer("version (2, 0), ndim 2").array


class Versioned:
    def __dlpack_device__(self):
        return array.__dlpack_device__()

    def __dlpack__(self, **keywords):
        return array.__dlpack__(max_version=(1, 1))


try:
    print("version 2.0 was accepted:", taker.size(Versioned()), "elements")
except Exception as error:
    print("refused:", type(error).__name__)
else:
    sys.exit(1)
