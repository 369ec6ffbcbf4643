"""A producer on a GPU ends the process of a build for CPUs.

`from_dlpack` of an object whose device is CUDA is a segmentation fault. An exception
would do.

Rule: 55
Says: array API 2025.12, from_dlpack, raises
Reported: no report found
Needs: paddlepaddle, refarray (it forges the capsule, over memory of the host)
"""

import signal
import subprocess
import sys

import paddle

from refarray.testing import doubles

if "child" in sys.argv:
    array = doubles.producer("keeps every rule, on CUDA").array
    try:
        paddle.utils.dlpack.from_dlpack(array)
    except Exception as error:
        print("refused:", type(error).__name__)
    sys.exit()

child = [sys.executable, __file__, "child"]
ended = subprocess.run(child, capture_output=True, text=True)
if ended.returncode < 0:
    print("died of", signal.Signals(-ended.returncode).name)
    sys.exit(1)
print(ended.stdout.strip())
