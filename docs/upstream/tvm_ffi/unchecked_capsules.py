"""Nothing in a capsule is checked.

Impossible sizes, data that is NULL, vectors and unknown types of elements: everything
becomes a tensor. What is wrong shows where the tensor is used, if it does.

Rule: 51
Says: DLPack 1.3 header, DLTensor: data, ndim and shape
Reported: no report found
Needs: apache-tvm-ffi, refarray (it forges the capsules)
"""

import signal
import subprocess
import sys

import tvm_ffi

from refarray.testing import doubles

if "child" in sys.argv:
    array = doubles.producer(sys.argv[2]).array
    try:
        x = tvm_ffi.from_dlpack(array)
    except Exception as error:
        print("refused:", type(error).__name__)
    else:
        print("accepted")
    sys.exit()

wrong = False
for fault in (
    "ndim -1",
    "shape (-1, 3)",
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
