"""Large arrays: where the kernel and the memory are all that counts.

Next: rows_growth.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import Row, Summary, Target, at_most, geometric_mean
from benchmarks.libraries import measures

FUNCTIONS = ("xp.add(a, b)", "xp.sqrt(a)", "xp.exp(a)", "xp.sum(a)", "xp.max(a)")


def rows() -> list[Row | Summary]:
    """Return the rows, on float64 where nothing else is said."""
    return [*_elementwise(), *_temporaries(), *_sorting(), *_algebra(), *_creation()]


def _elementwise() -> list[Row | Summary]:
    parts = [
        Row(f"{code}, {n:.0e} elements", measures(code, _operands(n)))
        for n in (100_000, 1_000_000, 10_000_000)
        for code in FUNCTIONS
    ]
    mean = Summary(
        "the above, geometric mean", parts, geometric_mean, at_most(numpy=1.05)
    )
    return [*parts, mean]


def _temporaries() -> list[Row | Summary]:
    fresh = {"numpy": Target(0.75, aim=0.6)}
    return [
        Row(
            "xp.add(a, b), 40 MB", measures("xp.add(a, b)", _operands(5_000_000)), fresh
        ),
        Row(
            "xp.add(a, b), 80 MB",
            measures("xp.add(a, b)", _operands(10_000_000)),
            fresh,
        ),
        Row(
            "a * b + c, 1e6 elements",
            measures("a * b + c", _operands(1_000_000)),
            {"numpy": Target(1.3, aim=1.15)},
        ),
        Row(
            "a * b + c, 1e7 elements",
            measures("a * b + c", _operands(10_000_000)),
            {"numpy": Target(1.0, aim=0.85)},
        ),
    ]


def _sorting() -> list[Row | Summary]:
    random = np.random.default_rng(0)
    integers = random.integers(0, 2**31, 1_000_000).astype("int32")
    numbers = random.random(1_000_000)
    # Stable everywhere, as it is in the standard when nothing is said.
    code, in_torch = "xp.sort(x, stable=True)", "xp.sort(x, stable=True).values"
    return [
        Row(
            "sort(x), 1e6 int32",
            measures(code, {"x": integers}, torch=in_torch),
            at_most(array_api_strict=0.6),
        ),
        Row(
            "sort(x), 1e6 float64",
            measures(code, {"x": numbers}, torch=in_torch),
            at_most(array_api_strict=1.0),
        ),
    ]


def _algebra() -> list[Row | Summary]:
    random = np.random.default_rng(0)
    square = random.random((1000, 1000))
    signal = random.random(2**20) + 1j * random.random(2**20)
    return [
        Row(
            "matmul(a, b), 1000 x 1000",
            measures("xp.matmul(a, b)", {"a": square, "b": square}),
            at_most(numpy=1.03),
        ),
        Row(
            "fft(x), 2**20 complex128",
            measures("xp.fft.fft(x)", {"x": signal}),
            at_most(numpy=1.03),
        ),
    ]


def _creation() -> list[Row | Summary]:
    return [
        Row(
            "zeros(10_000_000)",
            measures("xp.zeros(10_000_000)", {}),
            at_most(numpy=2.0),
        )
    ]


def _operands(n: int) -> dict[str, np.ndarray[Any, Any]]:
    values = np.linspace(1.0, 2.0, n)
    return {"a": values, "b": values, "c": values}
