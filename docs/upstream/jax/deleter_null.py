"""A tensor without a deleter ends the process.

A deleter may be NULL if there is nothing to free, as for static memory. JAX calls it
without looking: abort.

Rule: 45
Says: DLPack 1.3 header, deleter: "can be NULL if there is no way" to destroy it
Reported: no report found
Needs: jax, refarray (it forges the capsule)
"""

import signal
import subprocess
import sys

import jax

from refarray.testing import doubles

if "child" in sys.argv:
    y = jax.dlpack.from_dlpack(doubles.producer("deleter NULL").array)
    del y
    sys.exit()

child = [sys.executable, __file__, "child"]
ended = subprocess.run(child, capture_output=True, text=True)
if ended.returncode < 0:
    print("died of", signal.Signals(-ended.returncode).name)
    sys.exit(1)
