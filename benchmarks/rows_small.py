"""Small arrays: what a call costs before the work begins.

Next: rows_large.py.
"""

from __future__ import annotations

import sys

import numpy as np

from benchmarks.harness import Row, Summary, Target, at_most, geometric_mean
from benchmarks.libraries import measures, operands

ELEMENTWISE = {
    "add(a, b)": "xp.add(a, b)",
    "a + b": "a + b",
    "less(a, b)": "xp.less(a, b)",
    "sqrt(a)": "xp.sqrt(a)",
}

ELEMENTWISE_TARGETS = {
    # From 3.12 on, the interpreter is faster beside NumPy's C.
    "numpy": Target(3.3 if sys.version_info >= (3, 12) else 4.0),
    "torch": Target(0.9),
}

INDEXING_TARGETS = at_most(array_api_strict=1 / 30, torch=1 / 4)

AS_FAST_AS_TORCH = {
    "(3, 3) + (3,)": "m + x",
    "x + 1.0": "x + 1.0",
    "asarray([1.0, 2.0, 3.0])": "xp.asarray([1.0, 2.0, 3.0])",
    "where(c, x, x)": "xp.where(c, x, x)",
    "concat([x, x])": "xp.concat([x, x])",
    "clip(x, 0.5, 1.5)": "xp.clip(x, 0.5, 1.5)",
}

# NumPy has these as Python around its C. With torch's own where it lacks the function.
WRAPPED = {
    "sum(x)": None,
    "max(x)": None,
    "any(x)": None,
    "mean(x)": None,
    "cumulative_sum(x)": "xp.cumsum(x, 0)",
    "expand_dims(x, axis=0)": "xp.unsqueeze(x, 0)",
    "moveaxis(m, 0, 1)": None,
    "broadcast_to(x, (3, 3))": None,
    "reshape(x, (3, 1))": None,
    "linalg.vector_norm(x)": None,
}


def rows() -> list[Row | Summary]:
    """Return the rows on arrays of 3 elements, elementwise also of 100."""
    elementwise: list[Row] = []
    for n in (3, 100):
        pair = operands(a=np.linspace(1.0, 2.0, n), b=np.linspace(2.0, 3.0, n))
        elementwise += [
            Row(f"{work}, {n} elements", measures(code, pair), ELEMENTWISE_TARGETS)
            for work, code in ELEMENTWISE.items()
        ]
    # In array-api-strict one operand costs half as much as two: the ratio to that is
    # judged over all of them.
    over_all = Summary(
        "the above, geometric mean",
        elementwise,
        geometric_mean,
        {"array-api-strict": Target(1 / 7, aim=1 / 10)},
    )
    few = operands(x=np.arange(3.0), m=np.ones((3, 3)), c=np.arange(3) > 1)
    indexing = [
        Row(code, measures(code, few), INDEXING_TARGETS) for code in ("x[1]", "x[1:3]")
    ]
    beside_torch = [
        Row(work, measures(code, few), at_most(torch=1.0))
        for work, code in AS_FAST_AS_TORCH.items()
    ]
    wrapped = [
        Row(code, measures(f"xp.{code}", few, in_torch))
        for code, in_torch in WRAPPED.items()
    ]
    clip = beside_torch[-1]
    summary = Summary(
        "clip and the above, geometric mean",
        [clip, *wrapped],
        geometric_mean,
        {"numpy": Target(0.7, aim=0.6)},
    )
    return [*elementwise, over_all, *indexing, *beside_torch, *wrapped, summary]
