"""Data that is NULL ends the process, and a negative extent is accepted.

Six elements at the address NULL are a segmentation fault at once, a negative extent
when something is computed from it. An exception would do.

Rule: 51
Says: DLPack 1.3 header, DLTensor: data, ndim and shape
Reported: no report found
Needs: mlx, refarray (it forges the capsules)
"""

import signal
import subprocess
import sys

import mlx.core as mx

from refarray.testing import doubles

if "child" in sys.argv:
    array = doubles.producer(sys.argv[2]).array
    try:
        x = mx.from_dlpack(array)
    except Exception as error:
        print("refused:", type(error).__name__)
    else:
        print("accepted")
    sys.exit()

wrong = False
for fault in ("data NULL with 6 elements", "shape (-1, 3)"):
    child = [sys.executable, __file__, "child", fault]
    ended = subprocess.run(child, capture_output=True, text=True)
    answer = ended.stdout.strip()
    if ended.returncode < 0:
        answer = f"died of {signal.Signals(-ended.returncode).name}"
    print(f"{fault}: {answer}")
    wrong |= not answer.startswith("refused")
sys.exit(wrong)
