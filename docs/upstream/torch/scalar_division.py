"""A Python number divided by a tensor is not correctly rounded.

`3.5 / x` is computed as 3.5 * (1 / x), which rounds twice; `torch.divide` with a tensor
of 3.5 rounds once. They differ in about one case of five.

Rule: none
Says: array API 2025.12, mixing arrays with Python scalars; divide is correctly rounded
Reported: https://github.com/pytorch/pytorch/issues/84194 (open) shows the code
Needs: torch
"""

import sys

import torch

x = torch.tensor([1.5, 3.0, 7.0, 10.0])
came, wanted = 3.5 / x, torch.full_like(x, 3.5) / x
print("3.5 / x:           ", came.tolist())
print("tensor of 3.5 / x: ", wanted.tolist())
sys.exit(came.tolist() != wanted.tolist())
