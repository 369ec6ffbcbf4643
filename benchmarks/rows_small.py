"""Small arrays: what a call costs before the work begins.

Next: rows_large.py.
"""

from __future__ import annotations

import sys

import numpy as np

from benchmarks.harness import Row, Summary, Target, at_most, geometric_mean
from benchmarks.libraries import measures

# The interpreter of 3.11 is slower beside NumPy's C than its successors.
OVER_NUMPY = 3.3 if sys.version_info >= (3, 12) else 4.0

ELEMENTWISE = {
    "array-api-strict": Target(1 / 7, aim=1 / 10),
    "numpy": Target(OVER_NUMPY),
    "torch": Target(0.9),
}

INDEXING = at_most(array_api_strict=1 / 30, torch=1 / 4)

# The function of the standard and, where it has another name, torch's.
WRAPPED = {
    "sum(x)": "",
    "max(x)": "",
    "any(x)": "",
    "mean(x)": "",
    "cumulative_sum(x)": "cumsum(x, 0)",
    "clip(x, 0.5, 1.5)": "",
    "expand_dims(x, axis=0)": "unsqueeze(x, 0)",
    "moveaxis(m, 0, 1)": "",
    "broadcast_to(x, (3, 3))": "",
    "reshape(x, (3, 1))": "",
    "linalg.vector_norm(x)": "",
}


def rows() -> list[Row | Summary]:
    """Return the rows on arrays of 3 elements, elementwise also of 100."""
    x, m = np.arange(3.0), np.ones((3, 3))
    elementwise = [
        Row(f"{code}, {n} elements", measures(code, _pair(n)), ELEMENTWISE)
        for n in (3, 100)
        for code in ("xp.add(a, b)", "a + b", "xp.less(a, b)", "xp.sqrt(a)")
    ]
    indexing = [
        Row(
            code,
            measures(code, {"x": x}),
            at_most(array_api_strict=1 / 30, torch=1 / 4),
        )
        for code in ("x[1]", "x[1:3]")
    ]
    beside_torch = [
        Row(work, measures(code, {"x": x, "m": m, "c": x > 1.0}), at_most(torch=1.0))
        for work, code in {
            "(3, 3) + (3,)": "m + x",
            "x + 1.0": "x + 1.0",
            "asarray([1.0, 2.0, 3.0])": "xp.asarray([1.0, 2.0, 3.0])",
            "where(c, x, x)": "xp.where(c, x, x)",
            "concat([x, x])": "xp.concat([x, x])",
            "clip(x, 0.5, 1.5)": "xp.clip(x, 0.5, 1.5)",
        }.items()
    ]
    wrapped = [
        Row(
            code,
            measures(f"xp.{code}", {"x": x, "m": m}, torch=f"xp.{in_torch or code}"),
        )
        for code, in_torch in WRAPPED.items()
    ]
    summary = Summary(
        "the eleven above, geometric mean",
        wrapped,
        geometric_mean,
        {"numpy": Target(0.7, aim=0.6)},
    )
    return [*elementwise, *indexing, *beside_torch, *wrapped, summary]


def _pair(n: int) -> dict[str, np.ndarray]:
    return {"a": np.linspace(1.0, 2.0, n), "b": np.linspace(2.0, 3.0, n)}
