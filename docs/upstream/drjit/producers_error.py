"""What the producer has to say is hidden.

A producer raises BufferError with the reason why it cannot export. Dr.Jit raises
TypeError, "Unable to initialize from an array of type ...", instead: the reason is
lost, and so is the kind.

Rule: 39
Says: array API 2025.12, from_dlpack, raises: BufferError
Reported: no report found
Needs: drjit
"""

import sys

from drjit import scalar


class Refuses:
    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **keywords):
        raise BufferError("on fire")


try:
    scalar.TensorXf64(Refuses())
except Exception as error:
    print(type(error).__name__ + ":", str(error)[:75])
    sys.exit("on fire" not in f"{error} {error.__cause__} {error.__context__}")
