"""A capsule that is dropped while an exception is raised loses it, or the process.

The destructor of Warp's capsules is a Python function, called by ctypes. If an
exception is on its way, the function fails, the memory is not freed, and the
interpreter goes on without an exception where it needs one: a segmentation fault. Where
a consumer in C drops the capsule, its BufferError becomes SystemError.

Rule: 32
Says: CPython, PyCapsule_Destructor: it must not disturb a pending exception
Reported: https://github.com/numpy/numpy/issues/32697 tells of the same elsewhere
Needs: warp-lang
"""

import subprocess
import sys

import warp as wp

wp.config.quiet = True
if "child" in sys.argv:
    x = wp.array([1.0, 2.0], device="cpu")
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
