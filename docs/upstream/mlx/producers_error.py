"""What the producer has to say is hidden.

A producer raises BufferError with the reason why it cannot export. `mx.from_dlpack`
raises TypeError, "incompatible function arguments", instead: the reason is lost, and so
is the kind. nanobind does that.

Rule: 39
Says: array API 2025.12, from_dlpack, raises: BufferError
Reported: no report found
Needs: mlx
"""

import sys

import mlx.core as mx


class Refuses:
    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **keywords):
        raise BufferError("on fire")


try:
    mx.from_dlpack(Refuses())
except Exception as error:
    print(type(error).__name__ + ":", str(error).splitlines()[0])
    sys.exit(not isinstance(error, BufferError))
