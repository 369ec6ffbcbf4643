"""`max_version` is ignored: the capsule is always a legacy one.

`__dlpack__(max_version=(1, 0))` asks for a versioned capsule.

Rule: 6
Says: array API 2025.12, __dlpack__, max_version
Reported: no report found
Needs: mlx
"""

import sys

import mlx.core as mx

capsule = mx.array([1.0, 2.0]).__dlpack__(max_version=(1, 0))
print(repr(capsule).partition(" at ")[0])
sys.exit('"dltensor_versioned"' not in repr(capsule))
