"""Exporting a tensor of strings ends the process.

`tf.constant(["a"]).__dlpack__()` calls `abort`. BufferError is the answer for what
cannot be exported.

Rule: 21
Says: array API 2025.12, __dlpack__, raises
Reported: no report found
Needs: tensorflow-cpu
"""

import os
import signal
import subprocess
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

if "child" in sys.argv:
    try:
        tf.constant(["a"]).__dlpack__()
    except Exception as error:
        print("refused:", type(error).__name__)
    sys.exit()

child = [sys.executable, __file__, "child"]
ended = subprocess.run(child, capture_output=True, text=True)
if ended.returncode < 0:
    print("died of", signal.Signals(-ended.returncode).name)
    sys.exit(1)
print(ended.stdout.strip())
