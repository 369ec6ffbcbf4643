"""Large arrays: where the kernel and the memory are all that counts.

Next: rows_axes.py.
"""

from __future__ import annotations

import numpy as np

from benchmarks.harness import Row, Summary, Target, at_most, geometric_mean
from benchmarks.libraries import Operands, measures, operands

FUNCTIONS = ("add(a, b)", "sqrt(a)", "exp(a)", "sum(a)", "max(a)")

FRESH = {"numpy": Target(0.75, aim=0.6)}


def rows() -> list[Row | Summary]:
    """Return the rows, on float64 where nothing else is said."""
    numbers = {n: _numbers(n) for n in (10**5, 10**6, 5 * 10**6, 10**7)}
    parts = [
        Row(f"{code}, {n:.0e} elements", measures(f"xp.{code}", numbers[n]))
        for n in (10**5, 10**6, 10**7)
        for code in FUNCTIONS
    ]
    mean = Summary(
        "the above, geometric mean", parts, geometric_mean, at_most(numpy=1.05)
    )
    memory = [
        Row(
            f"add(a, b), {n * 8 // 10**6} MB",
            measures("xp.add(a, b)", numbers[n]),
            FRESH,
        )
        for n in (5 * 10**6, 10**7)
    ]
    temporaries = [
        Row(f"a * b + c, {n:.0e} elements", measures("a * b + c", numbers[n]), targets)
        for n, targets in (
            (10**6, {"numpy": Target(1.3, aim=1.15)}),
            (10**7, {"numpy": Target(1.0, aim=0.85)}),
        )
    ]
    zeros = Row(
        "zeros(10_000_000)",
        measures("xp.zeros(10_000_000)", operands()),
        at_most(numpy=2.0),
    )
    others = [*_sums(), *_sorting(), *_algebra()]
    return [*parts, mean, *memory, *temporaries, zeros, *others]


def _numbers(n: int) -> Operands:
    values = np.linspace(1.0, 2.0, n)
    return operands(a=values, b=values, c=values)


def _sums() -> list[Row]:
    # Along an axis that is not contiguous, where the error of NumPy's sums is large.
    return [
        Row(
            f"sum(x, axis=0), {rows} x {columns} float32",
            measures(
                "xp.sum(x, axis=0)",
                operands(x=np.full((rows, columns), 0.1, "float32")),
            ),
            at_most(numpy=1.15),
        )
        for rows, columns in ((1000, 1000), (10**6, 10))
    ]


def _sorting() -> list[Row]:
    random = np.random.default_rng(0)
    integers = operands(x=random.integers(0, 2**31, 10**6).astype("int32"))
    numbers = operands(x=random.random(10**6))
    # Stable everywhere, as it is in the standard when nothing is said.
    code, in_torch = "xp.sort(x, stable=True)", "xp.sort(x, stable=True).values"
    return [
        Row(
            "sort(x), 1e6 int32",
            measures(code, integers, in_torch),
            at_most(array_api_strict=0.6),
        ),
        Row(
            "sort(x), 1e6 float64",
            measures(code, numbers, in_torch),
            at_most(array_api_strict=1.0),
        ),
    ]


def _algebra() -> list[Row]:
    random = np.random.default_rng(0)
    square = random.random((1000, 1000))
    signal = random.random(2**20) + 1j * random.random(2**20)
    return [
        Row(
            "matmul(a, b), 1000 x 1000",
            measures("xp.matmul(a, b)", operands(a=square, b=square)),
            at_most(numpy=1.03),
        ),
        Row(
            "fft(x), 2**20 complex128",
            measures("xp.fft.fft(x)", operands(x=signal)),
            at_most(numpy=1.03),
        ),
    ]
