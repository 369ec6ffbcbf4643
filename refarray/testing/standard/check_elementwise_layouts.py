"""Elementwise functions on views: strided, reversed, offset, transposed, broadcast.

Also operands of every shape that broadcasts, zero-dimensional and empty ones. The
reference is the same function on fresh arrays of the full shape, whose values the other
files check; and no call may change its operands.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from refarray.testing.standard import arrays, compare, layouts
from refarray.testing.standard.check_elementwise_exact import result_dtype
from refarray.testing.standard.functions import FUNCTIONS, clause
from refarray.testing.standard.runner import Check, Report

Values = np.ndarray[Any, Any]

ULPS = 4  # vector and scalar loops of one library may round differently

SHAPES = (
    ((3, 1), (1, 4)),
    ((), (3, 4)),
    ((3, 4), ()),
    ((4,), (3, 4)),
    ((2, 1, 4), (3, 1)),
    ((1,), ()),
    ((), ()),
    ((0,), (1,)),
    ((0, 4), (4,)),
    ((3, 1), (3, 0)),
    ((1, 2, 1, 3, 1, 1, 2, 1), (2, 1, 1, 1, 2, 1, 1, 3)),
)


def ordinary(function: str, dtype: str, shape: tuple[int, ...]) -> Values:
    """Values inside the domain of a function, distinct where the dtype allows."""
    size = int(np.prod(shape))
    steps = np.arange(size)
    if dtype == "bool":
        values = steps % 3 == 0
    elif dtype in arrays.INTEGERS:
        values = steps % 7 + 1
    else:
        values = (steps + 1) / (size + 1)
        if function == "acosh":
            values = values + 1
        if function in ("isnan", "isinf", "isfinite", "signbit"):
            values = np.resize([1.5, np.nan, -np.inf, -0.0, 2.5, np.inf, -1.0], size)
        if dtype in arrays.COMPLEX:
            values = values + 1j * (values[::-1] - 0.4)
    return np.asarray(values).astype(dtype).reshape(shape)


def check_layouts(function: str, xp: Any, report: Report) -> None:
    """Each operand in each layout, the others fresh, and all in one layout."""
    call = getattr(xp, function)
    about = FUNCTIONS[function]
    for dtype in about.dtypes:
        given = [ordinary(function, dtype, (3, 4)) for _ in range(about.operands)]
        if about.operands == 2:
            given[1] = given[1][::-1, ::-1].copy()
        reference = None
        with report.case(function, dtype=dtype, clause=clause(function)):
            reference = arrays.read(call(*(arrays.make(xp, g) for g in given)))
        if reference is None:
            continue
        patterns = [(layout,) * about.operands for layout in layouts.LAYOUTS[1:]]
        if about.operands == 2:
            patterns += [(layout, "fresh") for layout in layouts.LAYOUTS[1:]]
            patterns += [("fresh", layout) for layout in layouts.LAYOUTS[1:]]
        for pattern in patterns:
            text = f"{', '.join(pattern)} operand(s)"
            with report.case(
                function, dtype=dtype, given=text, clause=clause(function)
            ) as case:
                made = [
                    layouts.make(xp, g, p) for g, p in zip(given, pattern, strict=True)
                ]
                if any(array is None for array in made):
                    continue
                case.near(call(*made), reference, ulps=ULPS)
                for array, values in zip(made, given, strict=True):
                    case.equal(array, values)


def check_shapes(function: str, xp: Any, report: Report) -> None:
    """Shapes that broadcast, without axes, without elements; result dtype kept."""
    call = getattr(xp, function)
    about = FUNCTIONS[function]
    for dtype in about.dtypes:
        out = result_dtype(function, dtype)
        for shapes in SHAPES:
            given = [ordinary(function, dtype, s) for s in shapes[: about.operands]]
            text = f"shapes {', '.join(str(g.shape) for g in given)}"
            with report.case(
                function, dtype=dtype, given=text, clause="broadcasting"
            ) as case:
                came = call(*(arrays.make(xp, g) for g in given))
                shape = np.broadcast_shapes(*(g.shape for g in given))
                if not case.is_array(came, out, shape) or not came.size:
                    continue
                full = [np.broadcast_to(g, shape).reshape(-1) for g in given]
                flat = arrays.read(call(*(arrays.make(xp, g) for g in full)))
                case.near(came, flat.reshape(shape), ulps=ULPS)


def check_read_only(function: str, xp: Any, report: Report) -> None:
    """Memory that the producer marked read-only serves as operand all the same."""
    call = getattr(xp, function)
    about = FUNCTIONS[function]
    for dtype in about.dtypes:
        values = ordinary(function, dtype, (5,))
        locked = values.copy()
        locked.flags.writeable = False
        try:
            x = xp.from_dlpack(locked)
        except Exception:  # a library may refuse read-only memory
            continue
        with report.case(
            function, dtype=dtype, given="read-only operands", clause=clause(function)
        ) as case:
            fresh = arrays.make(xp, values)
            reference = arrays.read(call(*[fresh] * about.operands))
            case.near(call(*[x] * about.operands), reference, ulps=ULPS)
            changed = compare.differing(values, signed_zeros=True)(locked)
            case.true(not changed.any(), locked, values)


def check_sizes(function: str, xp: Any, report: Report) -> None:
    """Lengths around the vector widths of kernels: ends are not forgotten."""
    call = getattr(xp, function)
    about = FUNCTIONS[function]
    for dtype in about.dtypes:
        whole = [ordinary(function, dtype, (67,)) for _ in range(about.operands)]
        with report.case(
            function, dtype=dtype, given="1 to 67 elements", clause=clause(function)
        ) as case:
            reference = arrays.read(call(*(arrays.make(xp, w) for w in whole)))
            for size in (1, 2, 3, 5, 8, 15, 16, 17, 31, 33, 64, 66):
                came = call(*(arrays.make(xp, w[:size]) for w in whole))
                case.near(came, reference[:size], ulps=ULPS)


CHECKS = tuple(
    Check(name, partial(check, name))
    for name in FUNCTIONS
    for check in (check_layouts, check_shapes, check_read_only, check_sizes)
)
