"""The mathematical functions against mpmath, real and complex, within a few ULP.

The standard demands correct rounding of arithmetic, `sqrt` and `reciprocal` for real
numbers and recommends accuracy of the rest; the bounds here are generous for a good
mathematical library and small enough that a wrong formula shows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from refarray.testing.standard import arrays, exact, special_cases
from refarray.testing.standard.functions import FUNCTIONS
from refarray.testing.standard.oracle_elementwise import evaluate
from refarray.testing.standard.runner import Check, Report

Values = np.ndarray[Any, Any]

REAL_ULPS = 4
COMPLEX_ULPS = 16
COMPLEX_POW_ULPS = 256  # the error of x2 * log(x1) is magnified by its size

ROUNDED = "accuracy: correctly rounded"
RECOMMENDED = "accuracy: an approximation as good as a good mathematical library's"
COMPLEX = "accuracy of complex operands: numerically robust"
NEAR_ZERO = "log1p: accurate near zero, not simply log(1 + x)"

DOMAINS: dict[str, Callable[[Values], Values]] = {
    "acos": lambda x: np.abs(x) <= 1,
    "acosh": lambda x: x >= 1,
    "asin": lambda x: np.abs(x) <= 1,
    "asinh": np.isfinite,
    "atan": np.isfinite,
    "atanh": lambda x: np.abs(x) < 1,
    "cos": np.isfinite,
    "cosh": np.isfinite,
    "exp": np.isfinite,
    "expm1": np.isfinite,
    "log": lambda x: x > 0,
    "log1p": lambda x: x > -1,
    "log2": lambda x: x > 0,
    "log10": lambda x: x > 0,
    "sin": np.isfinite,
    "sinh": np.isfinite,
    "sqrt": lambda x: x >= 0,
    "tan": np.isfinite,
    "tanh": np.isfinite,
    "reciprocal": lambda x: x != 0,
    "square": np.isfinite,
}

POLES: dict[str, tuple[complex, ...]] = {
    "atan": (1j, -1j),
    "atanh": (1, -1),
    "log": (0,),
    "log2": (0,),
    "log10": (0,),
    "log1p": (-1,),
    "reciprocal": (0,),
    "sign": (0,),
}

EXACT = {"add": exact.add, "multiply": exact.multiply, "divide": exact.divide}


def _numbers(xp: Any, dtype: str) -> Values:
    subnormals = not arrays.flushes_subnormals(xp, dtype)
    numbers = special_cases.pool(dtype, subnormals=subnormals)
    return numbers[np.isfinite(numbers)]


def _kept(xp: Any, wanted: Values) -> Values:
    """Leave out subnormal results of a library that flushes them to zero."""
    if arrays.flushes_subnormals(xp, wanted.dtype.name):
        size = np.abs(wanted)
        return np.asarray(
            (size >= np.finfo(wanted.dtype).smallest_normal) | (size == 0)
        )
    return np.ones(wanted.shape, bool)


def check_real(function: str, xp: Any, report: Report) -> None:
    """A function of one real operand over its domain."""
    rounded = function in ("sqrt", "reciprocal", "square")
    clause = ROUNDED if rounded else RECOMMENDED
    for dtype in arrays.REALS:
        x = _numbers(xp, dtype)
        x = x[DOMAINS[function](x)]
        wanted = evaluate(function, x)
        kept = _kept(xp, wanted)
        x, wanted = x[kept], wanted[kept]
        with report.case(function, dtype=dtype, clause=clause) as case:
            came = getattr(xp, function)(arrays.make(xp, x))
            case.near(came, wanted, ulps=0 if rounded else REAL_ULPS, given=(x,))


def check_real_pairs(function: str, xp: Any, report: Report) -> None:
    """A function of two real operands, of like and of very different sizes."""
    rng = np.random.default_rng(3)
    for dtype in arrays.REALS:
        x = _numbers(xp, dtype)
        x = x[x != 0]
        near = (1 + rng.uniform(-0.5, 0.5, x.size)).astype(dtype)
        with np.errstate(over="ignore"):
            others = [rng.permutation(x), rng.permutation(x), np.abs(x * near), -x]
        for y in others:
            keep = np.isfinite(y)
            if function == "logaddexp":  # cancels where both are small and negative
                keep &= (np.maximum(x, y) >= 0) | (np.maximum(x, y) < -2)
            a, b = x[keep], y[keep]
            if function == "pow":
                a = np.abs(a)
            rounded = function in EXACT
            wanted = EXACT[function](a, b) if rounded else evaluate(function, a, b)
            kept = _kept(xp, wanted)
            a, b, wanted = a[kept], b[kept], wanted[kept]
            clause = ROUNDED if rounded else RECOMMENDED
            with report.case(function, dtype=dtype, clause=clause) as case:
                came = getattr(xp, function)(arrays.make(xp, a), arrays.make(xp, b))
                ulps = 0 if rounded else REAL_ULPS
                case.near(came, wanted, ulps=ulps, given=(a, b))


def complex_numbers(dtype: str) -> Values:
    """Numbers small to large in every quadrant, on the axes and on branch cuts."""
    rng = np.random.default_rng(7)
    signs = rng.choice([-1, 1], (2, 120))
    sizes = np.exp2(rng.uniform((-8, -24), (7, -1), (2, 60, 2)).reshape(2, 120))
    a = [*rng.uniform(-3, 3, 60), *(sizes[0] * signs[0])]
    b = [*rng.uniform(-3, 3, 60), *(sizes[1] * signs[1])]
    a += np.repeat([0.0, -0.0, 0.5, -0.5, 2.0, -2.0, 1.0, -1.0], 8).tolist()
    b += np.tile([0.0, -0.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0], 8).tolist()
    z = np.empty(len(a), dtype)
    z.real, z.imag = a, b
    return z


def check_complex(function: str, xp: Any, report: Report) -> None:
    """A function of one complex operand; zeros choose the side of a branch cut."""
    for dtype in arrays.COMPLEX:
        z = complex_numbers(dtype)
        z = z[~np.isin(z, POLES.get(function, ()))]
        wanted = evaluate(function, z)
        clause = NEAR_ZERO if function == "log1p" else COMPLEX
        with report.case(function, dtype=dtype, clause=clause) as case:
            came = getattr(xp, function)(arrays.make(xp, z))
            case.near(came, wanted, ulps=COMPLEX_ULPS, given=(z,))


def check_complex_size(xp: Any, report: Report) -> None:
    """Abs of numbers whose squares overflow or vanish."""
    clause = "abs: avoid undue overflow and underflow for complex operands"
    for dtype in arrays.COMPLEX:
        info = np.finfo(dtype)
        big, small = float(info.max) / 4, float(info.smallest_normal) * 16
        sizes = [big, -big, small, -small, big**0.75, small**0.75]
        z = np.asarray([complex(a, b) for a in sizes for b in sizes], dtype)
        with report.case("abs", dtype=dtype, clause=clause) as case:
            case.near(
                xp.abs(arrays.make(xp, z)), evaluate("abs", z), ulps=4, given=(z,)
            )


def check_complex_pairs(function: str, xp: Any, report: Report) -> None:
    """A function of two complex operands of moderate size."""
    for dtype in arrays.COMPLEX:
        z = complex_numbers(dtype)
        z = z[z != 0]
        for seed in range(3):
            y = np.random.default_rng(seed).permutation(z)
            keep = np.ones(z.size, bool)
            ulps = COMPLEX_ULPS
            if function == "pow":
                keep = (np.abs(y) < 6) & (np.abs(z) < 30) & (np.abs(z) > 0.03)
                ulps = COMPLEX_POW_ULPS
            a, b = z[keep], y[keep]
            wanted = evaluate(function, a, b)
            with report.case(function, dtype=dtype, clause=COMPLEX) as case:
                came = getattr(xp, function)(arrays.make(xp, a), arrays.make(xp, b))
                case.near(came, wanted, ulps=ulps, given=(a, b))


_OF_COMPLEX = [
    name
    for name in (*DOMAINS, "abs", "sign")
    if set(arrays.COMPLEX) <= set(FUNCTIONS[name].dtypes)
]

CHECKS = (
    *(Check(name, partial(check_real, name)) for name in DOMAINS),
    *(
        Check(name, partial(check_real_pairs, name))
        for name in ("add", "multiply", "divide", "atan2", "hypot", "logaddexp", "pow")
    ),
    *(Check(name, partial(check_complex, name)) for name in _OF_COMPLEX),
    Check("abs", check_complex_size),
    *(
        Check(name, partial(check_complex_pairs, name))
        for name in ("multiply", "divide", "pow")
    ),
)
