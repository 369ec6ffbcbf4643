"""A lazily negated tensor is exported without the minus.

The imaginary part of a lazy conjugate is a view with the negative bit set: its memory
holds the numbers with the other sign. `__dlpack__` refuses a tensor with the conjugate
bit, which DLPack cannot express, but not this one: every consumer reads wrong values.

Rule: 21
Says: array API 2025.12, __dlpack__, raises: BufferError if the data cannot be exported
Reported: seen in the review of https://github.com/pytorch/pytorch/pull/145000
Needs: torch, NumPy
"""

import sys

import numpy as np
import torch

t = torch.tensor([1 + 2j, 3 - 4j]).conj().imag
given = np.from_dlpack(t)
print("torch:", t.tolist(), " through DLPack:", given.tolist())
sys.exit(given.tolist() != t.tolist())
