"""Constants. Source: array API 2025.12, constants.

Next: `creation_functions.py`.
"""

from __future__ import annotations

import math

e = math.e
inf = math.inf
nan = math.nan
newaxis = None
pi = math.pi
