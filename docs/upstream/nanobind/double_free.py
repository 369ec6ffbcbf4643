"""A capsule that was taken keeps its name, so its tensor can be freed twice.

nanobind takes the tensor out of a capsule and clears the capsule's destructor; the name
stays "dltensor". If the same capsule comes again (from a producer that caches it, or
because the caller kept it) it is taken again, and the deleter is called for each. The
name is how consumers tell each other.

Rule: 44
Says: DLPack, Python specification: a consumer renames the capsule to used_dltensor
Reported: no report found
Needs: nanobind, a C++ compiler, refarray (it forges the capsule and counts)
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
double = doubles.producer("the same capsule again")
for attempt in ("first", "second"):
    try:
        print(attempt, "call: accepted,", taker.size(double.array), "elements")
    except Exception as error:
        print(attempt, "call: refused,", type(error).__name__)
print("calls of the deleter:", double.deleter_calls)
sys.exit(double.deleter_calls > 1)
