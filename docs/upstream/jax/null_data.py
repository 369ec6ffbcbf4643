"""Six elements at the address NULL become an array of garbage, or a crash.

Data that is NULL is for tensors without elements. JAX takes a tensor of shape (2, 3)
with it; what is read then is garbage, and sometimes a segmentation fault.

Rule: 51
Says: DLPack 1.3 header, data: NULL for tensors of size 0
Reported: no report found
Needs: jax, refarray (it forges the capsule)
"""

import subprocess
import sys

import jax

from refarray.testing import doubles

if "child" in sys.argv:
    try:
        jax.dlpack.from_dlpack(doubles.producer("data NULL with 6 elements").array)
    except Exception as error:
        print("refused:", type(error).__name__)
    sys.exit()

child = [sys.executable, __file__, "child"]
ended = subprocess.run(child, capture_output=True, text=True)
refused = ended.stdout.startswith("refused")
print(ended.stdout.strip() if refused else "accepted, or died")
sys.exit(not refused)
