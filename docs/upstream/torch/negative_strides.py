"""An array with a negative stride ends the process.

`torch.from_dlpack` of a reversed NumPy array calls `abort`: a C++ exception leaves a
function that is declared noexcept. torch has no negative strides, and may refuse them;
then BufferError is the answer.

Rule: 48
Says: DLPack 1.3 header, strides; array API 2025.12, from_dlpack, raises
Reported: https://github.com/pytorch/pytorch/issues/188023 (closed: gone from trunk)
Needs: torch, NumPy
"""

import signal
import subprocess
import sys

import numpy as np
import torch

if "child" in sys.argv:
    torch.from_dlpack(np.arange(3.0)[::-1])
    sys.exit()

child = [sys.executable, __file__, "child"]
ended = subprocess.run(child, capture_output=True, text=True)
if ended.returncode < 0:
    print("from_dlpack died of", signal.Signals(-ended.returncode).name)
    sys.exit(1)
