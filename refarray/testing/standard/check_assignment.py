"""Assignment: `x[key] = value` by every basic key and by masks.

A library without assignment deviates once; the other checks then have nothing to ask.
What other elements hold, and the dtype, must not change.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from refarray.testing.standard import arrays, layouts
from refarray.testing.standard.arrays import COMPLEX, DTYPES, FLOATS, INTEGERS
from refarray.testing.standard.check_indexing import positions
from refarray.testing.standard.runner import Check, Report
from refarray.testing.standard.samples import Values, distinct, extremes, filled

SET = "__setitem__"


def mutable(xp: Any) -> bool:
    """Whether the arrays of a namespace can be assigned to."""
    x = xp.zeros(2)
    try:
        x[0] = 1.0
    except Exception:
        return False
    return True


def _assign(
    xp: Any,
    report: Report,
    x: Values,
    key: Any,
    value: Any,
    clause: str,
    layout: str = "fresh",
) -> None:
    given = f"array of shape {x.shape}[{key}] = {value!r}"
    given += "" if layout == "fresh" else f" on a {layout} array"
    with report.case(SET, dtype=x.dtype.name, given=given, clause=clause) as case:
        made = layouts.make(xp, x, layout)
        if made is None:
            return
        wanted = x.reshape(-1).copy()
        chosen = positions(key, x.shape)
        wanted[chosen.reshape(-1)] = np.broadcast_to(value, chosen.shape).reshape(-1)
        made[key] = arrays.make(xp, value) if isinstance(value, np.ndarray) else value
        case.equal(made, wanted.reshape(x.shape))


def basic(xp: Any, report: Report) -> None:
    """Scalars and arrays, broadcast, into every layout that can be written to."""
    clause = "an array can be assigned to"
    with report.case(SET, given="x = zeros(2); x[0] = 1.0", clause=clause):
        x_ = xp.zeros(2)
        x_[0] = 1.0
    if not mutable(xp):
        return
    clause = "x[key] = value sets these elements and no other"
    s = slice
    keys: dict[tuple[int, ...], list[Any]] = {
        (): [(), ...],
        (5,): [
            0, -1, s(None), s(1, 4), s(None, None, 2), s(None, None, -2), s(2, 2), ...,
        ],
        (2, 3): [
            (0, 1), (1, s(None)), (s(None), -1), (..., 0), (s(None), s(0, 3, 2)),
            (s(None, None, -1), s(2, 0, -1)), (1, ...), (s(0, 0), s(None)),
        ],
        (1, 2, 1, 3, 1, 1, 2, 1): [(0, ..., 1, 0), (s(None), 1, ..., s(None), 0)],
    }  # fmt: skip
    for shape, chosen in keys.items():
        x = distinct(shape, "int64")
        for key in chosen:
            for layout in ("fresh", "strided", "reversed", "offset", "transposed"):
                _assign(xp, report, x, key, 77, clause, layout)
                size = positions(key, shape).shape
                values = (np.arange(np.prod(size, dtype=int)) + 100).reshape(size)
                _assign(xp, report, x, key, values, clause, layout)
                if size:
                    row = values[:1] if values.shape[0] else values
                    _assign(xp, report, x, key, row, clause, layout)


def scalars(xp: Any, report: Report) -> None:
    """Every dtype takes its extremes, and the Python scalars of lower kinds."""
    if not mutable(xp):
        return
    clause = "a Python scalar is converted to the dtype of x"
    for dtype in DTYPES:
        x = filled((2, 3), dtype)
        values: list[Any] = extremes(dtype)
        values += [2, -3] if dtype in FLOATS else []
        values += [0.5, float("-inf")] if dtype in COMPLEX else []
        for value in values:
            _assign(xp, report, x, (1, slice(None)), value, clause)


def promoted(xp: Any, report: Report) -> None:
    """Arrays of dtypes that promote to the dtype of x."""
    if not mutable(xp):
        return
    clause = "an array is promoted to the dtype of x, which does not change (2025.12)"
    for to, from_ in (
        ("int64", "int8"), ("int16", "uint8"), ("uint32", "uint8"),
        ("float64", "float32"), ("complex64", "float32"), ("complex128", "float64"),
        ("complex128", "complex64"),
    ):  # fmt: skip
        x = distinct((2, 3), to)
        _assign(xp, report, x, (0, slice(None)), filled((3,), from_), clause)
        _assign(xp, report, x, (..., 1), filled((), from_), clause)
    for dtype in DTYPES:
        x = distinct((2, 3), dtype)
        _assign(xp, report, x, ..., filled((2, 3), dtype), clause)


def masks(xp: Any, report: Report) -> None:
    """A mask of all axes with a scalar, an array of one value, an array of as many."""
    if not mutable(xp):
        return
    clause = "x[mask] = value sets the selected elements in row-major order"
    for dtype in ("int16", "float32", "complex128", "bool", *INTEGERS[-1:]):
        for shape in ((5,), (2, 3), (2, 1, 3), (0, 3), ()):
            x = filled(shape, dtype)
            size = int(np.prod(shape, dtype=int))
            for pattern in (np.arange(size) % 3 != 1, np.zeros(size), np.ones(size)):
                mask = np.asarray(pattern, "bool").reshape(shape)
                many = filled((int(mask.sum()),), dtype, 3)
                one = extremes(dtype)[1]
                for value in (one, many, np.asarray(one, dtype)):
                    wanted = x.copy()
                    places = [at for at in np.ndindex(*shape) if mask[at]]
                    spread = np.broadcast_to(value, (len(places),))
                    for at, v in zip(places, spread, strict=True):
                        wanted[at] = v
                    given = f"array of shape {shape}[mask] = {value!r}"
                    with report.case(
                        SET, dtype=dtype, given=given, clause=clause
                    ) as case:
                        made = arrays.make(xp, x)
                        known = isinstance(value, np.ndarray)
                        made[arrays.make(xp, mask)] = (
                            arrays.make(xp, value) if known else value
                        )
                        case.equal(made, wanted)


def overlapping(xp: Any, report: Report) -> None:
    """Assigning a part of an array to another part of it."""
    if not mutable(xp):
        return
    clause = "x[a:] = x[:-a] takes the values from before, or raises"
    for n, shift in ((6, 1), (6, 2), (300, 1), (300, 64)):
        for forward in (True, False):
            x = np.arange(n, dtype="float64")
            wanted = x.copy()
            into, out = (slice(shift, None), slice(None, -shift))
            if not forward:
                into, out = out, into
            wanted[into] = x.copy()[out]
            given = f"x of {n} elements: x[{into}] = x[{out}]"
            with report.case(SET, given=given, clause=clause) as case:
                made = arrays.make(xp, x)
                try:
                    made[into] = made[out]
                except Exception:
                    continue
                case.equal(made, wanted)


def refused(xp: Any, report: Report) -> None:
    """Values that do not broadcast to the selection."""
    if not mutable(xp):
        return
    clause = "a value that does not broadcast to x[key] raises"
    for key, shape in (((0, slice(None)), (2,)), (..., (3, 2)), ((0, 0), (2,))):
        given = f"array of shape (2, 3)[{key}] = array of shape {shape}"
        with report.case(SET, given=given, clause=clause) as case:
            made = arrays.make(xp, distinct((2, 3), "int64"))
            value = arrays.make(xp, distinct(shape, "int64"))
            case.raises(Exception, made.__setitem__, key, value)


CHECKS = tuple(
    Check(SET, check)
    for check in (basic, scalars, promoted, masks, overlapping, refused)
)
