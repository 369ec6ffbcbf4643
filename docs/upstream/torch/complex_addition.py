"""Adding complex numbers with an infinite part makes NaN of the other part.

The sum is computed as a + alpha * b with a complex alpha of 1, so that an infinite
imaginary part meets the zero of alpha: 1 + (554 + infinity j) has the real part NaN.
The standard adds the parts on their own. Subtraction has the same fault.

Rule: none
Says: array API 2025.12, add: real and imaginary parts are added separately
Reported: https://github.com/pytorch/pytorch/issues/82510
Needs: torch
"""

import sys

import torch

a = torch.tensor([complex(1.0, 0.25)])
b = torch.tensor([complex(554.0, float("inf"))])
came = complex((a + b)[0])
print(came, "instead of (555+infj)")
sys.exit(came != complex(555.0, float("inf")))
