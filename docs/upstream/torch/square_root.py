"""The square root of float32 is not correctly rounded.

IEEE 754 has the square root correctly rounded, and the processor has an instruction
for it. torch is off by one unit in the last place for some numbers.

Rule: none
Says: array API 2025.12, accuracy: sqrt is a correctly rounded operation of IEEE 754
Reported: no report found; https://github.com/pytorch/pytorch/issues/188792 is akin
Needs: torch, NumPy
"""

import sys

import numpy as np
import torch

x = np.random.default_rng(0).uniform(1e24, 2e24, 1000).astype(np.float32)
came = torch.sqrt(torch.asarray(x)).numpy()
wanted = np.sqrt(x.astype(np.float64)).astype(np.float32)
wrong = int((came != wanted).sum())
print(f"{wrong} of {x.size} square roots are not correctly rounded")
sys.exit(bool(wrong))
