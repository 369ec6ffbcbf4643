"""Capsules with impossible sizes are accepted.

Negative extents, and sizes whose product overflows, become tensors; the first
computation with them reads memory of others. An exception would do.

Rule: 51
Says: DLPack 1.3 header, DLTensor: data, ndim and shape
Reported: no report found
Needs: open3d-cpu, refarray (it forges the capsules)
"""

import signal
import subprocess
import sys

import open3d

from refarray.testing import doubles

if "child" in sys.argv:
    array = doubles.producer(sys.argv[2]).array
    try:
        x = open3d.core.Tensor.from_dlpack(array.__dlpack__())
    except Exception as error:
        print("refused:", type(error).__name__)
    else:
        print("accepted")
    sys.exit()

wrong = False
for fault in ("shape (-1, 3)", "shape (2**40, 2**40)"):
    child = [sys.executable, __file__, "child", fault]
    ended = subprocess.run(child, capture_output=True, text=True)
    answer = ended.stdout.strip()
    if ended.returncode < 0:
        answer = f"died of {signal.Signals(-ended.returncode).name}"
    print(f"{fault}: {answer}")
    wrong |= not answer.startswith("refused")
sys.exit(wrong)
