"""A used capsule that is dropped while an exception is raised loses it, or the process.

The destructor of a capsule that was taken clears the error indicator, and with it the
exception that is on its way. The interpreter then has none where it needs one: a
segmentation fault.

Rule: 32
Says: CPython, PyCapsule_Destructor: it must not disturb a pending exception
Reported: https://github.com/pytorch/pytorch/issues/84056 tells of the same elsewhere
Needs: onnxruntime, NumPy
"""

import subprocess
import sys

import numpy as np
from onnxruntime import OrtValue


class Holds:
    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **keywords):
        return self.__dict__.pop("capsule")


def used():
    capsule = OrtValue.ortvalue_from_numpy(np.ones(2)).__dlpack__()
    np.from_dlpack(Holds(capsule))
    return capsule


if "child" in sys.argv:
    try:
        # The capsule is on Python's stack when the subscription raises KeyError.
        print(used(), {}["missing"])
    except BaseException as error:
        print(type(error).__name__, "arrives")
    sys.exit()

child = [sys.executable, __file__, "child"]
ended = subprocess.run(child, capture_output=True, text=True)
kept = ended.stdout.strip() == "KeyError arrives"
print("KeyError arrives" if kept else "KeyError is lost")
sys.exit(not kept)
