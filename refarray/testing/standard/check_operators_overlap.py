"""In-place operators whose operands share memory: x[1:] += x[:-1] and its like.

The result must be that of the operation on separate arrays. A library without mutable
views is free to return a new array, so the checks look at what the operator returns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from refarray.testing.standard import arrays
from refarray.testing.standard.functions import FUNCTIONS, OPERATORS
from refarray.testing.standard.runner import Check, Report

CLAUSE = "in-place operators: x1[...] = x1 op x2, and views share memory or not"

# name, the target, the other operand; each of a one- or two-dimensional array
Slice = Callable[[Any], Any]
OVERLAPS: tuple[tuple[str, tuple[int, ...], Slice, Slice], ...] = (
    ("x[1:] op= x[:-1]", (65,), lambda x: x[1:], lambda x: x[:-1]),
    ("x[:-1] op= x[1:]", (65,), lambda x: x[:-1], lambda x: x[1:]),
    ("x op= x[::-1]", (65,), lambda x: x, lambda x: x[::-1]),
    ("x[::2] op= x[1::2]", (64,), lambda x: x[::2], lambda x: x[1::2]),
    ("x op= x", (65,), lambda x: x, lambda x: x),
    ("x op= x[0, :]", (9, 7), lambda x: x, lambda x: x[0, :]),
    ("x op= x.T", (8, 8), lambda x: x, lambda x: x.T),
)


def check_overlap(method: str, xp: Any, report: Report) -> None:
    """The operator on overlapping views of one array."""
    function, out_of_place, call = OPERATORS[method]
    assert call is not None
    title = method.replace("__", "__i", 1)
    for dtype in FUNCTIONS[function].dtypes:
        for text, shape, target, other in OVERLAPS:
            size = int(np.prod(shape))
            steps = np.arange(size) % 3 + 1  # small: no power overflows an int8
            values = (steps % 2 == 0) if dtype == "bool" else steps
            x = values.astype(dtype).reshape(shape)
            with report.case(title, dtype=dtype, given=text, clause=CLAUSE) as case:
                a = arrays.make(xp, target(x).copy())
                b = arrays.make(xp, other(x).copy())
                wanted = arrays.read(out_of_place(a, b))
                shared = arrays.make(xp, x)
                try:
                    operands = target(shared), other(shared)
                except Exception:  # such a view is the business of indexing
                    continue
                case.near(call(*operands), wanted, ulps=4)


CHECKS = tuple(
    Check(name.replace("__", "__i", 1), partial(check_overlap, name))
    for name, each in OPERATORS.items()
    if each.in_place
)
