"""How the error of sums, means and deviations grows with the number of terms.

The standard sets no limit and expects a best effort to be numerically robust, so a
large error is a note on quality. With n additions one after another, the error may
reach n * eps and reaches a good part of it where the terms are equal. With pairwise
additions, or blocks of blocks, it is a small multiple of eps * log2(n). The limit here
is 8 * eps * log2(n), about 130 * eps. It is relative to the sum of the magnitudes.

Each array has many rows and few columns, or the reverse: some libraries sum well along
the contiguous axis alone.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from refarray.testing.standard import arrays
from refarray.testing.standard.runner import Check, Report

Values = np.ndarray[Any, Any]

TERMS = 100_003
LIMIT = 8 * math.log2(TERMS)
CLAUSE = "accuracy, statistical functions: a best effort to be numerically robust"


def check_totals(function: str, xp: Any, report: Report) -> None:
    """The sum or mean of equal terms, of which the right value is a product."""
    terms = float(TERMS) if function == "sum" else 1.0
    for dtype in arrays.FLOATS:
        columns = np.asarray([0.1, -0.7], dtype)
        total = columns * terms
        _check(function, xp, report, columns, wanted=total, scale=np.abs(total))


def check_spreads(function: str, xp: Any, report: Report) -> None:
    """The deviation of equal terms, which is 0: what comes is the error of the mean."""
    for dtype in arrays.REALS:
        columns = np.asarray([100.1, -100.1], dtype)
        scale = np.abs(columns)
        if function == "var":  # the square of a deviation at the limit
            scale = scale**2 * np.finfo(dtype).eps * LIMIT
        _check(function, xp, report, columns, wanted=columns * 0, scale=scale)


def _check(
    function: str,
    xp: Any,
    report: Report,
    columns: Values,
    wanted: Values,
    scale: Values,
) -> None:
    """Call the function on TERMS rows, and on their transpose along the other axis."""
    dtype = columns.dtype
    rows = np.broadcast_to(columns, (TERMS, *columns.shape))
    for axis, x in ((0, rows), (1, rows.T)):
        given = f"{function}(array of shape {x.shape}, axis={axis})"
        with report.case(
            function, dtype=dtype.name, given=given, clause=CLAUSE
        ) as case:
            came = getattr(xp, function)(arrays.make(xp, x), axis=axis)
            if case.is_array(came, dtype.name, wanted.shape):
                report.values += wanted.size
                error = np.abs(arrays.read(came) - wanted) / scale
                worst = float(np.max(error) / np.finfo(dtype).eps)
                case.better(
                    worst <= LIMIT, f"an error of {worst:.0f} eps", f"{LIMIT:.0f} eps"
                )


CHECKS = (
    *(Check(name, partial(check_totals, name)) for name in ("sum", "mean")),
    *(Check(name, partial(check_spreads, name)) for name in ("var", "std")),
)
