"""The device id of the CPU is None.

`__dlpack_device__` returns (kDLCPU, None). A device id is an integer, 0 for the CPU;
consumers that pass the pair on to C fail.

Rule: 2
Says: array API 2025.12, __dlpack_device__: a tuple of two integers
Reported: seen in the review of https://github.com/PaddlePaddle/Paddle/pull/69632
Needs: paddlepaddle
"""

import sys

import paddle

device = paddle.ones([2]).__dlpack_device__()
print(tuple(device))
sys.exit(device[1] != 0)
