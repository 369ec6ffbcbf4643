"""A negative number of dimensions ends the process.

A number of dimensions of -1 calls `abort`. An exception would do.

Rule: 51
Says: DLPack 1.3 header, DLTensor: data, ndim and shape
Reported: no report found
Needs: onnxruntime, refarray (it forges the capsules)
"""

import signal
import subprocess
import sys

from onnxruntime import OrtValue

from refarray.testing import doubles

if "child" in sys.argv:
    array = doubles.producer(sys.argv[2]).array
    try:
        x = OrtValue.from_dlpack(array)
    except Exception as error:
        print("refused:", type(error).__name__)
    else:
        print("accepted")
    sys.exit()

wrong = False
for fault in ("ndim -1",):
    child = [sys.executable, __file__, "child", fault]
    ended = subprocess.run(child, capture_output=True, text=True)
    answer = ended.stdout.strip()
    if ended.returncode < 0:
        answer = f"died of {signal.Signals(-ended.returncode).name}"
    print(f"{fault}: {answer}")
    wrong |= not answer.startswith("refused")
sys.exit(wrong)
