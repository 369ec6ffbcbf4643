"""Six elements at the address NULL are accepted.

Data that is NULL is for tensors without elements. Arrow takes a tensor of shape (2, 3)
with it, and reading it crashes.

Rule: 51
Says: DLPack 1.3 header, DLTensor: data, ndim and shape
Reported: no report found
Needs: pyarrow, refarray (it forges the capsules)
"""

import signal
import subprocess
import sys

import pyarrow as pa

from refarray.testing import doubles

if "child" in sys.argv:
    array = doubles.producer(sys.argv[2]).array
    try:
        x = pa.Tensor.from_dlpack(array)
    except Exception as error:
        print("refused:", type(error).__name__)
    else:
        print("accepted")
    sys.exit()

wrong = False
for fault in ("data NULL with 6 elements",):
    child = [sys.executable, __file__, "child", fault]
    ended = subprocess.run(child, capture_output=True, text=True)
    answer = ended.stdout.strip()
    if ended.returncode < 0:
        answer = f"died of {signal.Signals(-ended.returncode).name}"
    print(f"{fault}: {answer}")
    wrong |= not answer.startswith("refused")
sys.exit(wrong)
