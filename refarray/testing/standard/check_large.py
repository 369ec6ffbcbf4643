"""Large arrays and large integers.

Above some size libraries take other paths: blocks, threads, huge pages, vector units.
And a library that computes integers in floating point is right below 2**53 only. The
arrays here have about 260,000 elements, no multiple of a power of two; their results
are known by formula.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from refarray.testing.standard.calls import Calls, default_dtype
from refarray.testing.standard.runner import Check, Report
from refarray.testing.standard.samples import Values

SIZE = 262_147  # a prime; as float64 a little more than 2 MiB
SOME = ("fresh", "strided")


def mixed(dtype: str) -> Values:
    """The integers 0 to SIZE - 1 in no order."""
    return (np.arange(SIZE) * 7919 % SIZE).astype(dtype)


def _reductions(xp: Any, report: Report) -> None:
    total = SIZE * (SIZE - 1) // 2  # exact in float64 too
    where_max = int(np.flatnonzero(mixed("int64") == SIZE - 1)[0])
    index = default_dtype(xp, "indexing")
    for dtype in ("float64", "int64"):
        x = mixed(dtype)
        for name, wanted in (
            ("sum", np.asarray(total, dtype)),
            ("max", np.asarray(SIZE - 1, dtype)),
            ("min", np.asarray(0, dtype)),
            ("argmax", np.asarray(where_max, index)),
            ("argmin", np.asarray(0, index)),
            ("count_nonzero", np.asarray(SIZE - 1, index)),
            ("all", np.asarray(False)),
            ("any", np.asarray(True)),
        ):
            call = Calls(xp, report, name, f"{name}: of {SIZE} elements")
            call.gives(wanted, x, layouts=SOME if dtype == "float64" else SOME[:1])
    x = mixed("float64")
    mean = Calls(xp, report, "mean", f"mean: of {SIZE} elements")
    mean.gives(np.asarray(total / SIZE), x, tolerance=1e-9, layouts=SOME)
    exact = (SIZE**2 - 1) / 12
    var = Calls(xp, report, "var", f"var: of {SIZE} elements")
    var.gives(np.asarray(exact), x, tolerance=exact * 1e-11, layouts=SOME)
    std = Calls(xp, report, "std", f"std: of {SIZE} elements")
    std.gives(np.asarray(exact**0.5), x, tolerance=exact**0.5 * 1e-11, layouts=SOME)


def _orders(xp: Any, report: Report) -> None:
    x, counted = mixed("float64"), np.arange(SIZE)
    place = np.empty(SIZE, default_dtype(xp, "indexing"))
    place[mixed("int64")] = counted
    clause = f"of {SIZE} elements"
    sort = Calls(xp, report, "sort", f"sort: {clause}")
    sort.gives(counted.astype("float64"), x, layouts=SOME)
    argsort = Calls(xp, report, "argsort", f"argsort: {clause}")
    argsort.gives(place, x, layouts=SOME)
    few = np.asarray(counted % 3, "int16")
    thirds = [np.arange(k, SIZE, 3) for k in range(3)]
    stable = np.concatenate(thirds).astype(place.dtype)
    stays = "argsort: stable, many equal elements"
    argsort.gives(stable, few, clause=stays, layouts=SOME[:1])
    found = Calls(xp, report, "searchsorted", f"searchsorted: {clause}")
    found.gives(mixed(place.dtype.name), counted.astype("float64"), x, layouts=SOME)
    some = Calls(xp, report, "nonzero", f"nonzero: {clause}")
    some.gives((np.flatnonzero(few).astype(place.dtype),), few, layouts=SOME)


def _accumulations(xp: Any, report: Report) -> None:
    ones = np.ones(SIZE, "float64")
    counted = np.arange(1, SIZE + 1, dtype="float64")
    call = Calls(xp, report, "cumulative_sum", f"cumulative_sum: of {SIZE} elements")
    call.gives(counted, ones, layouts=SOME)
    call = Calls(xp, report, "cumulative_prod", f"cumulative_prod: of {SIZE} elements")
    call.gives(ones, ones, layouts=SOME)
    call = Calls(xp, report, "diff", f"diff: of {SIZE} elements")
    call.gives(ones[1:], counted, layouts=SOME)


def _movements(xp: Any, report: Report) -> None:
    x = mixed("float32")
    square = x[:250_000].reshape(500, 500)
    cases: tuple[tuple[str, Values, tuple[Any, ...], dict[str, Any]], ...] = (
        ("flip", x[::-1], (x,), {}),
        ("roll", np.asarray([*x[-5:], *x[:-5]]), (x, 5), {}),
        ("permute_dims", square.T, (square, (1, 0)), {}),
        ("matrix_transpose", square.T, (square,), {}),
        ("reshape", square.reshape(250, 1000), (square, (250, 1000)), {}),
        ("concat", np.asarray([*x, *x]), ([x, x],), {}),
        ("stack", np.asarray([x, x]), ([x, x],), {}),
        ("repeat", np.asarray([v for v in x for _ in "ab"]), (x, 2), {}),
        ("tile", np.asarray([*x, *x]), (x, (2,)), {}),
        ("where", np.where(x > 9, x, -x), (x > 9, x, -x), {}),
        ("tril", square * (np.arange(500) <= np.arange(500)[:, None]), (square,), {}),
        ("take", x[::-1], (x, np.arange(SIZE - 1, -1, -1)), {}),
        ("astype", x.astype("int32"), (x, np.dtype("int32")), {}),
    )
    for name, wanted, args, keywords in cases:
        call = Calls(xp, report, name, f"{name}: of about {SIZE} elements")
        call.gives(wanted, *args, layouts=SOME[:1], **keywords)


def _transforms(xp: Any, report: Report) -> None:
    impulse = np.zeros(4096, "complex128")
    impulse[0] = 1
    flat = np.ones(4096, "complex128")
    if hasattr(xp, "fft"):
        call = Calls(xp, report, "fft.fft", "fft: of an impulse and of a constant")
        call.gives(flat, impulse, tolerance=0, layouts=SOME)
        call.gives(impulse * 4096, flat, tolerance=1e-9, layouts=SOME)
    rows, columns = np.arange(300.0)[:, None], np.arange(280.0)[None]
    a, b = rows % 7 - columns % 5, columns.T % 3 + rows.T % 4
    for dtype in ("float64", "int64"):
        one, two = a.astype(dtype), b.astype(dtype)
        wanted = np.einsum("ik,kj->ij", a.astype("int64"), b.astype("int64"))
        call = Calls(xp, report, "matmul", "matmul: of 300 rows")
        call.gives(wanted.astype(dtype), one, two, layouts=("fresh", "transposed"))


def large_arrays(xp: Any, report: Report) -> None:
    """Reductions, orders, accumulations, movements and transforms."""
    for check in (_reductions, _orders, _accumulations, _movements, _transforms):
        check(xp, report)


def large_integers(xp: Any, report: Report) -> None:
    """Integers that no float64 holds, where nothing overflows."""
    big, odd = 2**62 + 1, 2**61 + 3
    signed = np.asarray([big, odd, -odd, 5], "int64")
    unsigned = np.asarray([2**63 + 1, 2**62 + 3, 5], "uint64")
    pair = np.asarray([2**31 + 1, 3], "int64")
    product = (2**31 + 1) ** 2 + 9
    calls: tuple[tuple[str, Any, tuple[Any, ...], dict[str, Any]], ...] = (
        ("sum", big + 5, (signed,), {}),
        ("sum", 2**63 + 2**62 + 9, (unsigned,), {}),
        ("prod", (2**31 + 1) * 3, (pair,), {}),
        ("prod", 2**62 + 1, (np.asarray([2**62 + 1, 1, 1], "int64"),), {}),
        ("cumulative_sum", [big, big + odd, big, big + 5], (signed,), {}),
        ("cumulative_prod", [2**31 + 1, (2**31 + 1) * 3], (pair,), {}),
        ("diff", [1 - odd, odd - 4], (np.asarray([odd, 1, odd - 3], "int64"),), {}),
        ("matmul", product, (pair, pair), {}),
        ("matmul", [[product]], (pair[None], pair[:, None]), {}),
        ("vecdot", product, (pair, pair), {}),
        ("tensordot", product, (pair, pair), {"axes": 1}),
        ("repeat", [big, big, odd, odd], (signed[:2], 2), {}),
    )
    for name, wanted, args, keywords in calls:
        call = Calls(xp, report, name, f"{name}: integers above 2**53 are exact")
        first = args[0]
        call.gives(np.asarray(wanted, first.dtype), *args, **keywords)
    if hasattr(xp, "linalg"):
        wanted = [[(2**31 + 1) ** 2, (2**31 + 1) * 3], [(2**31 + 1) * 3, 9]]
        call = Calls(xp, report, "linalg.outer", "outer: integers are exact")
        call.gives(np.asarray(wanted, "int64"), pair, pair)
        call = Calls(xp, report, "linalg.trace", "trace: integers are exact")
        square = np.asarray([[big, 0], [0, odd]], "int64")
        call.gives(np.asarray(big + odd, "int64"), square)


CHECKS = (
    Check("large arrays", large_arrays),
    Check("large integers", large_integers),
)
