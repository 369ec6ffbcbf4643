"""CuPy's kernels, called as NumPy's are.

CuPy has the names of NumPy, and here and there fewer arguments or kinds of operands.
What stands here fills those gaps, so that whoever calls a kernel need not know whose it
is. Where the two differ in a result, `_compute/repairs.py` is the place.

Source: CuPy 14, read; none of it has run on a GPU yet (docs/reference/cuda.md).

Next: `device_views.py`.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any


class Kernels(ModuleType):
    """The namespace of CuPy, with what it lacks of NumPy's."""

    def __init__(self, cupy: Any) -> None:
        super().__init__("CuPy, called as NumPy is")
        self._cupy = cupy
        self.maximum = _Ufunc(cupy.maximum, "max")
        self.minimum = _Ufunc(cupy.minimum, "min")
        self.logical_and = _Ufunc(cupy.logical_and, "all")
        self.logical_or = _Ufunc(cupy.logical_or, "any")
        self.fft = _Fft(cupy)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._cupy, name)
        setattr(self, name, found)  # directly from now on
        return found

    def vecdot(self, x1: Any, x2: Any, *, axis: int, out: Any) -> Any:
        """Sum products along an axis, of the first operand's conjugate."""
        products = self._cupy.conj(x1) * x2
        return products.sum(axis=axis, dtype=out.dtype, out=out)

    def isin(self, elements: Any, known: Any, *, invert: bool = False) -> Any:
        """Look elements up; CuPy takes no scalars of NumPy."""
        return self._cupy.isin(
            self._cupy.asarray(elements), self._cupy.asarray(known), invert=invert
        )

    def searchsorted(
        self, known: Any, wanted: Any, side: str = "left", sorter: Any = None
    ) -> Any:
        """Search; CuPy takes no scalars of NumPy."""
        return self._cupy.searchsorted(known, self._cupy.asarray(wanted), side, sorter)

    def repeat(self, x: Any, counts: Any, axis: int | None = None) -> Any:
        """Repeat; CuPy takes different counts as a list only."""
        if not isinstance(counts, int):
            counts = counts.tolist()
        return self._cupy.repeat(x, counts, axis)


class _Ufunc:
    """A ufunc whose `reduce`, which CuPy lacks, is a method of its arrays."""

    def __init__(self, ufunc: Any, method: str) -> None:
        self._ufunc = ufunc
        self._method = method

    def __call__(self, *operands: Any, **named: Any) -> Any:
        return self._ufunc(*operands, **named)

    def reduce(
        self,
        x: Any,
        axis: int | tuple[int, ...] | None = 0,
        dtype: None = None,
        out: Any = None,
        keepdims: bool = False,
        initial: float | None = None,
    ) -> Any:
        """Reduce along axes; without elements there is `initial`, or ValueError."""
        if x.size == 0 and initial is not None:
            values = x.sum(axis=axis, keepdims=keepdims)
            values[...] = initial
            return values
        values = getattr(x, self._method)(axis=axis, out=out, keepdims=keepdims)
        return values if initial is None else self._ufunc(values, initial)


class _Fft:
    """The transforms, which write into no array of the caller's in CuPy."""

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy

    def __getattr__(self, name: str) -> Any:
        transform, copyto = getattr(self._cupy.fft, name), self._cupy.copyto

        def into(*arguments: Any, out: Any) -> Any:
            copyto(out, transform(*arguments))
            return out

        setattr(self, name, into)
        return into
