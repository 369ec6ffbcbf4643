"""Test a `from_dlpack` with producers that do one thing wrong, and count.

The consumer under test is a small wrapper as libraries have them, which keeps a list
of all that it ever took. Each double says what was leaked, freed twice or never
consumed, and where. In pytest the fixture `dlpack_doubles` does the same:
docs/howto/test-your-dlpack.md. Next: 07_streams.py, the exchange on a GPU.
"""

import numpy as np

from refarray.testing import doubles

taken = []


def mine(x):
    """Take memory, and forget to let go of it."""
    y = np.from_dlpack(x)
    taken.append(y)
    return y


with doubles.producer() as double:
    print("no fault:", np.from_dlpack(double.array).tolist())

try:
    with doubles.producer("byte_offset=16") as double:
        print("an offset:", mine(double.array).tolist(), "expected", double.values)
except AssertionError as error:
    print(error)

for fault in ("deleter NULL", "shape (-1, 3)", "capsule of version (1, 99)"):
    double = doubles.producer(fault)
    try:
        result = np.from_dlpack(double.array).shape
    except Exception as error:
        result = type(error).__name__
    print(f"{fault}: {result}; a right consumer {double.fault.answer} it")
