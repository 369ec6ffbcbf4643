"""A capsule that is dropped while an exception is raised loses it, or the process.

The destructor of the capsule is a Python function, called by ctypes. If an exception is
on its way, the function fails, the memory is not freed, and the interpreter goes on
without an exception where it needs one: a segmentation fault.

Rule: 32
Says: CPython, PyCapsule_Destructor: it must not disturb a pending exception
Reported: https://github.com/numpy/numpy/issues/32697 tells of the same elsewhere
Needs: pydlpack, NumPy
"""

import subprocess
import sys

import dlpack
import numpy as np

if "child" in sys.argv:
    x = dlpack.asdlpack(np.ones(2))
    try:
        # The capsule is on Python's stack when the subscription raises KeyError.
        print(x.__dlpack__(), {}["missing"])
    except BaseException as error:
        print(type(error).__name__, "arrives")
    sys.exit()

child = [sys.executable, __file__, "child"]
ended = subprocess.run(child, capture_output=True, text=True)
kept = ended.stdout.strip() == "KeyError arrives"
print("KeyError arrives" if kept else "KeyError is lost")
sys.exit(not kept)
