"""A tensor without a deleter ends the process.

A deleter may be NULL if there is nothing to free, as for static memory. dpnp calls it
without looking: a segmentation fault.

Rule: 45
Says: DLPack 1.3 header, deleter: it may be NULL
Reported: no report found
Needs: dpnp, a SYCL device, refarray (it forges the capsule)
"""

import signal
import subprocess
import sys

import dpnp

from refarray.testing import doubles

if "child" in sys.argv:
    y = dpnp.from_dlpack(doubles.producer("deleter NULL").array)
    del y
    sys.exit()

child = [sys.executable, __file__, "child"]
ended = subprocess.run(child, capture_output=True, text=True)
if ended.returncode < 0:
    print("died of", signal.Signals(-ended.returncode).name)
    sys.exit(1)
