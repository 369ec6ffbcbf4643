"""Memory that must not be written is exported as writable.

A legacy capsule has no read-only flag, so a producer refuses read-only memory, or
copies it. pydlpack exports even the memory of a `bytes` object, which may then change.

Rule: 23
Says: array API 2025.12, data interchange: read-only arrays and legacy capsules
Reported: no report found
Needs: pydlpack, refarray (it takes the capsule, and writes)
"""

import sys

import dlpack

import refarray

text = bytes([97, 98, 99])
try:
    x = refarray.from_dlpack(dlpack.asdlpack(text))
    x[0] = 120
except Exception as error:
    print("refused:", type(error).__name__)
print("the bytes are", text)
sys.exit(text[0] != 97)
