"""A capsule with impossible sizes ends the process.

A number of dimensions of -1 is a segmentation fault, and sizes whose product overflows
call `abort`. A consumer cannot know what it will be handed; an exception would do.

Rule: 51
Says: DLPack 1.3 header, DLTensor: ndim and shape
Reported: sizes that overflow abort as in https://github.com/pytorch/pytorch/issues/188023
Needs: torch, refarray (it forges the capsules)
"""

import signal
import subprocess
import sys

import torch

from refarray.testing import doubles

if "child" in sys.argv:
    try:
        torch.from_dlpack(doubles.producer(sys.argv[2]).array)
    except Exception as error:
        print("refused:", type(error).__name__)
    sys.exit()

died = False
for fault in ("ndim -1", "shape (2**40, 2**40)", "shape (2**61,)"):
    child = [sys.executable, __file__, "child", fault]
    ended = subprocess.run(child, capture_output=True, text=True)
    if ended.returncode < 0:
        died = True
        print(f"{fault}: died of {signal.Signals(-ended.returncode).name}")
    else:
        print(f"{fault}: {ended.stdout.strip() or 'accepted'}")
sys.exit(died)
