"""Capsules with impossible sizes are accepted.

A number of dimensions of -1, a size beyond all memory and data that is NULL become
views. An exception would do, as there is for a negative extent once it is looked at.

Rule: 51
Says: DLPack 1.3 header, DLTensor: data, ndim and shape
Reported: no report found
Needs: cuda-core, cuda-bindings, refarray (it forges the capsules)
"""

import signal
import subprocess
import sys

from cuda.core.utils import StridedMemoryView

from refarray.testing import doubles

if "child" in sys.argv:
    array = doubles.producer(sys.argv[2]).array
    try:
        x = StridedMemoryView.from_dlpack(array, stream_ptr=-1)
    except Exception as error:
        print("refused:", type(error).__name__)
    else:
        print("accepted")
    sys.exit()

wrong = False
for fault in (
    "ndim -1",
    "shape (2**61,)",
    "data NULL with 6 elements",
):
    child = [sys.executable, __file__, "child", fault]
    ended = subprocess.run(child, capture_output=True, text=True)
    answer = ended.stdout.strip()
    if ended.returncode < 0:
        answer = f"died of {signal.Signals(-ended.returncode).name}"
    print(f"{fault}: {answer}")
    wrong |= not answer.startswith("refused")
sys.exit(wrong)
