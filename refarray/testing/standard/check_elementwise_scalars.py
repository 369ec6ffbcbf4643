"""Functions of two arrays where one operand is a Python number, on either side.

Since 2024.12 at least one operand must be an array; the number becomes an array of the
dtype that the rules for mixing arrays with Python scalars give.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from refarray.testing.standard import arrays, scalars
from refarray.testing.standard.check_elementwise_exact import samples
from refarray.testing.standard.check_operators import compare, defined, tame
from refarray.testing.standard.functions import FUNCTIONS
from refarray.testing.standard.runner import Check, Report

CLAUSE = "at least one operand must be an array; mixing arrays with Python scalars"


def check_scalars(function: str, xp: Any, report: Report) -> None:
    """f(x, number) and f(number, x) are f(x, y) and f(y, x) for y full of it."""
    call = getattr(xp, function)
    dtypes = FUNCTIONS[function].dtypes
    for dtype in dtypes:
        numbers = scalars.beside(dtype)
        if dtype in arrays.REALS and "complex64" in dtypes:
            numbers.append(1 + 2j)
        for number in numbers:
            for left in (False, True):
                _check(call, function, dtype, number, left, xp, report)


def _check(
    call: Any,
    function: str,
    dtype: str,
    number: Any,
    left: bool,
    xp: Any,
    report: Report,
) -> None:
    x = samples(dtype)
    together = scalars.dtype_beside(dtype, number)
    if together in arrays.COMPLEX:
        x = tame(function, x)
        if function in ("divide", "pow") and number in (0, 2**70):
            return
    full = np.full(x.shape, number, together)
    given = defined(function, dtype, *((full, x) if left else (x, full)))
    if not given[0].size:
        return
    operand = given[1] if left else given[0]
    text = f"{function}({number!r}, x)" if left else f"{function}(x, {number!r})"
    with report.case(function, dtype=dtype, given=text, clause=CLAUSE) as case:
        made = [arrays.make(xp, g.astype(together)) for g in given]
        wanted = arrays.read(call(*made))
        a = arrays.make(xp, operand)
        came = call(number, a) if left else call(a, number)
        compare(case, function, came, wanted, given)


CHECKS = tuple(
    Check(name, partial(check_scalars, name))
    for name, about in FUNCTIONS.items()
    if about.operands == 2
)
