"""The product with a tensor of the device `meta` is read from memory of nobody.

A tensor of the device `meta` has a shape and no memory. `matmul` of a tensor on the CPU
with one of these returns a tensor on the CPU, filled with whatever lay there. An
addition of the two raises, as it should.

Rule: none
Says: array API 2025.12, device support: arrays on different devices should raise
Reported: no report found
Needs: torch
"""

import sys

import torch

a = torch.ones(2, 2)
b = torch.ones(2, 2, device="meta")
try:
    product = a @ b
except Exception as error:
    print("refused:", type(error).__name__)
else:
    print("the product lies on", product.device, "and is not known")
    sys.exit(product.device.type == "cpu")
