"""A capsule with impossible sizes ends the process.

A negative extent, and sizes whose product overflows, call `abort`. An exception would
do.

Rule: 51
Says: DLPack 1.3 header, DLTensor: ndim and shape
Reported: no report found
Needs: tensorflow-cpu, refarray (it forges the capsules)
"""

import os
import signal
import subprocess
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

from refarray.testing import doubles

if "child" in sys.argv:
    try:
        array = doubles.producer(sys.argv[2]).array
        tf.experimental.dlpack.from_dlpack(array.__dlpack__())
    except Exception as error:
        print("refused:", type(error).__name__)
    sys.exit()

died = False
for fault in ("shape (-1, 3)", "shape (2**40, 2**40)"):
    child = [sys.executable, __file__, "child", fault]
    ended = subprocess.run(child, capture_output=True, text=True)
    if ended.returncode < 0:
        died = True
        print(f"{fault}: died of {signal.Signals(-ended.returncode).name}")
    else:
        print(f"{fault}: {ended.stdout.strip() or 'accepted'}")
sys.exit(died)
