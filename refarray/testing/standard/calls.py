"""Call one function of the namespace on NumPy values and compare what comes back.

    call = Calls(xp, report, "roll", clause="roll: shift along axis")
    call.gives(np.roll(x, 2, axis=-1), x, 2, axis=-1)

NumPy arrays among the arguments become arrays of the namespace, in every layout of
`layouts.py` in turn; NumPy dtypes become its dtypes. Read `runner.py` for what a case
and a deviation are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from refarray.testing.standard import arrays, compare, layouts
from refarray.testing.standard.runner import Case, Report

Values = np.ndarray[Any, Any]
Judge = Callable[[Case, Any], object]

AXIS = "an axis is an integer in [-N, N); others raise"
"""The clause about axes that many functions share."""


@dataclass
class Calls:
    """The calls of one function that one check makes."""

    xp: Any
    report: Report
    function: str
    clause: str = ""

    def gives(
        self,
        wanted: Values | tuple[Values, ...],
        *args: Any,
        clause: str = "",
        layouts: tuple[str, ...] = layouts.LAYOUTS,
        tolerance: float | None = None,
        signed_zeros: bool = True,
        **kwargs: Any,
    ) -> None:
        """The call returns `wanted`: exactly, or within an absolute `tolerance`."""

        def judge(case: Case, got: Any) -> None:
            if isinstance(wanted, tuple):
                if not case.true(type(got) is tuple, type(got).__name__, "a tuple"):
                    return
                pairs = list(zip(got, wanted, strict=False))
                if not case.true(len(got) == len(wanted), len(got), len(wanted)):
                    return
            else:
                pairs = [(got, wanted)]
            for array, values in pairs:
                if tolerance is None:
                    case.equal(array, values, signed_zeros=signed_zeros)
                else:
                    near(case, array, values, tolerance)

        self.judged(judge, *args, clause=clause, layouts=layouts, **kwargs)

    def judged(
        self,
        judge: Judge,
        *args: Any,
        clause: str = "",
        layouts: tuple[str, ...] = layouts.LAYOUTS,
        **kwargs: Any,
    ) -> None:
        """The call returns what `judge`, a function of the case, finds right."""
        for layout in layouts:
            with self._case(args, kwargs, layout, clause) as case:
                placed = [_placed(self.xp, a, layout) for a in args]
                named = {k: _placed(self.xp, a, layout) for k, a in kwargs.items()}
                if any(_absent(value) for value in (*placed, *named.values())):
                    continue
                judge(case, self._resolve()(*placed, **named))

    def refused(
        self,
        errors: type[Exception] | tuple[type[Exception], ...],
        *args: Any,
        clause: str = "",
        **kwargs: Any,
    ) -> None:
        """The call raises one of `errors`."""
        with self._case(args, kwargs, "fresh", clause) as case:
            placed = [_placed(self.xp, a, "fresh") for a in args]
            named = {k: _placed(self.xp, a, "fresh") for k, a in kwargs.items()}
            case.raises(errors, self._resolve(), *placed, **named)

    def _resolve(self) -> Any:
        found = self.xp
        for name in self.function.split("."):
            found = getattr(found, name)
        return found

    def _case(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], layout: str, clause: str
    ) -> Any:
        dtype = _dtype_of((*args, *kwargs.values()))
        shown = [_show(a, dtype) for a in args]
        shown += [f"{name}={_show(a, dtype)}" for name, a in kwargs.items()]
        given = f"{self.function}({', '.join(shown)})"
        if layout != "fresh":
            given += f" on {layout} arrays"
        return self.report.case(
            self.function,
            dtype=dtype,
            given=given,
            clause=clause or self.clause,
        )


def near(case: Case, got: Any, wanted: Values, tolerance: float) -> bool:
    """`got` has dtype and shape of `wanted`, and no value farther than `tolerance`.

    NaN and infinities must agree. The tolerance is absolute.
    """
    if not case.is_array(got, wanted.dtype.name, wanted.shape):
        return False
    values = arrays.read(got)
    case.report.values += values.size
    finite = np.isfinite(values) & np.isfinite(wanted)
    other = compare.differing(wanted, signed_zeros=False)(values)
    distance = np.abs(np.where(finite, values, 0) - np.where(finite, wanted, 0))
    bad = np.where(finite, distance > tolerance, other)
    if not bad.any():
        return True
    at = tuple(int(i) for i in np.argwhere(bad)[0])
    shown = f"{compare.show(wanted[at])} within {tolerance:.2g} at {at}"
    return case.true(False, values[at], shown)


def field_names(case: Case, got: Any, *names: str) -> bool:
    """`got` is a named tuple with these fields."""
    found = getattr(got, "_fields", None) or tuple(n for n in names if hasattr(got, n))
    came = f"{type(got).__name__} with fields {found}"
    right = isinstance(got, tuple) and tuple(found) == names
    return case.true(right, came, f"a named tuple with fields {names}")


_ABSENT = object()


def _placed(xp: Any, value: Any, layout: str) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        made = layouts.make(xp, np.asarray(value), layout)
        return _ABSENT if made is None else made
    if isinstance(value, np.dtype):
        return getattr(xp, value.name)
    if isinstance(value, list | tuple) and any(
        isinstance(v, np.ndarray | np.generic | np.dtype) for v in value
    ):
        return type(value)(_placed(xp, v, layout) for v in value)
    return value


def _absent(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(v is _ABSENT for v in value)
    return value is _ABSENT


def _show(value: Any, dtype: str) -> str:
    """A value for a person; the dtype of an array only if it is another one."""
    if isinstance(value, np.ndarray | np.generic):
        other = "" if value.dtype.name == dtype else f" of {value.dtype.name}"
        if value.size <= 6 and value.ndim:
            return f"{value.tolist()!r}{other}"
        if value.ndim == 0:
            return f"0-d {compare.show(value)}{other}"
        return f"array of shape {value.shape}{other}"
    if isinstance(value, np.dtype):
        return value.name
    if isinstance(value, list | tuple):
        inside = ", ".join(_show(v, dtype) for v in value)
        if isinstance(value, list):
            return f"[{inside}]"
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    return compare.show(value)


def _dtype_of(values: tuple[Any, ...]) -> str:
    for value in values:
        if isinstance(value, np.ndarray | np.generic | np.dtype):
            return np.dtype(getattr(value, "dtype", value)).name
        if isinstance(value, list | tuple):
            inner = _dtype_of(tuple(value))
            if inner:
                return inner
    return ""


def default_dtype(xp: Any, kind: str) -> str:
    """The name of a default dtype, "integral", "indexing", "real floating" or so."""
    fallback = {"real floating": "float64", "complex floating": "complex128"}
    try:
        dtype = xp.__array_namespace_info__().default_dtypes()[kind]
    except Exception:  # another check reports a library without inspection
        return fallback.get(kind, "int64")
    return next(name for name in arrays.DTYPES if getattr(xp, name) == dtype)
