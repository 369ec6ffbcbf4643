"""What the producer has to say is hidden.

A producer raises BufferError with the reason why it cannot export. A function that
takes `nb::ndarray` raises TypeError, "incompatible function arguments", instead: the
reason is lost, and so is the kind.

Rule: 39
Says: array API 2025.12, from_dlpack, raises: BufferError
Reported: no report found
Needs: nanobind, a C++ compiler
"""

import importlib.util
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import nanobind

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


class Refuses:
    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **keywords):
        raise BufferError("on fire")


try:
    taker.size(Refuses())
except Exception as error:
    print(type(error).__name__ + ":", str(error).splitlines()[0])
    sys.exit(not isinstance(error, BufferError))
