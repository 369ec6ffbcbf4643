"""How an array is shown: `Array([1., 2.], dtype=refarray.float64)`.

Next: `operators.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from refarray._base import dtypes, profile
from refarray._base.devices import CPU
from refarray._memory.host import copy, numpy_view, widen_bfloat16
from refarray._memory.native import ArrayBase

_THRESHOLD = 1000  # elements; a larger array is abbreviated to its corners


def elements(x: ArrayBase, prefix: str = "") -> str:
    """Return the elements in brackets, abbreviated when there are many.

    Where values are out of reach, `...` stands for them all.
    """
    if _is_hidden():
        return "[...]"
    view = numpy_view(x if x.device.memory != "device" else copy(x, CPU))
    if x.dtype is dtypes.bfloat16:
        view = widen_bfloat16(_corners(view))
    # Spelled out, so that the caller's print options change nothing here.
    with np.printoptions(
        precision=8, suppress=False, nanstr="nan", infstr="inf", sign="-", legacy=False
    ):
        return np.array2string(
            view,
            max_line_width=88,
            separator=", ",
            prefix=prefix,
            threshold=_THRESHOLD,
            edgeitems=3,
            floatmode="maxprec",
        )


def representation(x: ArrayBase) -> str:
    """Return the text of `repr(x)`: elements, dtype, and what they do not show."""
    details = f"dtype={x.dtype!r}"
    if (not x._size and x._shape != (0,)) or _is_hidden():
        details = f"shape={x._shape}, {details}"
    if x.device is not CPU:
        details += f", device={x.device!r}"
    text = elements(x, prefix="Array(")
    last = text.rsplit("\n", 1)[-1]
    # A comma and a space, unless the line would pass the 88 columns of the elements.
    room = len("Array(") if "\n" not in text else 0
    gap = " " if room + len(last) + len(details) + 3 <= 88 else "\n      "
    return f"Array({text},{gap}{details})"


def _is_hidden() -> bool:
    return profile.guarded and profile.active().values == "raise"


def _corners(view: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    # Values that are not shown need no conversion: keep enough to be abbreviated alike.
    if view.size <= _THRESHOLD:
        return view
    for axis, extent in enumerate(view.shape):
        if extent > 2 * _THRESHOLD:
            ends = np.r_[0:_THRESHOLD, extent - _THRESHOLD : extent]
            view = view.take(ends, axis=axis)
    return view
