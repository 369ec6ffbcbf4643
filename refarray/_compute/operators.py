"""Operators: each is the standard's function of that meaning.

So `x1 + x2` and `add(x1, x2)` take one path. A foreign operand gets its own turn, but
for what looks like an array and is none.

Next: `array.py`.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from refarray._base import profile
from refarray._compute.engine import view
from refarray._compute.pipeline import check_writable, operand_error
from refarray._memory.native import ArrayBase, accepts, register_foreign

if TYPE_CHECKING:
    from refarray._compute.array import Array

# The namespace with the standard's functions. It imports this module, so it introduces
# itself once it is complete: `refarray/__init__.py`.
standard: ModuleType


def use_functions(namespace: ModuleType) -> None:
    """Let operators find the standard's functions in `namespace`."""
    global standard
    standard = namespace


def _foreign(other: object) -> bool:
    """Tell whether an operator takes `other`, which is no array and no Python scalar.

    It does not: the other's own operator may have a turn. TypeError for what looks like
    an array and is none, since the reflected operator of NumPy, or the fallback of
    `==`, would answer with something else. Under profile numpy_interop NumPy's is meant
    to.
    """
    if isinstance(other, (np.generic, np.ndarray, list, tuple)):
        if profile.mixes_with_numpy() and isinstance(other, (np.generic, np.ndarray)):
            return False
        raise operand_error("an operator", other)
    return False


register_foreign(_foreign)


def _in_place(name: str, x: Any, other: Any) -> Array:
    """Do `x[...] = x op other`; dtype and shape of `x` must stay as they are.

    Computed first and written after, so that operands which overlap are read whole.

    Source: array API 2025.12, array object, in-place operators.
    """
    if profile.guarded and not profile.active().mutable:
        # Python goes on to `x = x + y`, as it does for the arrays of JAX.
        return NotImplemented  # type: ignore[no-any-return]
    check_writable(x)
    result: Array = getattr(standard, name)(x, other)
    if result.dtype is not x.dtype or result._shape != x._shape:
        error = TypeError if result.dtype is not x.dtype else ValueError
        raise error(
            f"in place, {name} cannot turn {x.dtype} of shape {x._shape} into "
            f"{result.dtype} of shape {result._shape} "
            "(array API 2025.12, in-place operators)"
        )
    np.copyto(view(x), view(result))
    out: Array = x
    return out


class ArrayType(type):
    """The type of Array: for the one attribute that NumPy reads off a type."""

    @property
    def __array_ufunc__(cls) -> Any:
        """None, with which NumPy's operators and ufuncs leave the array to ours.

        Those refuse NumPy arrays by name. Under profile numpy_interop there is no such
        attribute: NumPy reads the array as a buffer, and the result is its own.
        """
        if profile.mixes_with_numpy():
            raise AttributeError(
                "under profile numpy_interop NumPy computes with arrays as with buffers"
            )
        return None


class Operators(ArrayBase, metaclass=ArrayType):
    """The operators of Array. Operands and errors: see the functions that they are."""

    __slots__ = ()

    __hash__ = None  # type: ignore[assignment]

    @property
    def __array_ufunc__(self) -> Any:
        """See the type's, which is the one that NumPy's own operators read."""
        return type(self).__array_ufunc__

    # ---- Arithmetic ------------------------------------------------------------------

    def __add__(self, other: Array | complex, /) -> Array:
        return standard.add(self, other) if accepts(other) else NotImplemented

    def __radd__(self, other: Array | complex, /) -> Array:
        return standard.add(other, self) if accepts(other) else NotImplemented

    def __iadd__(self, other: Array | complex, /) -> Array:
        return _in_place("add", self, other) if accepts(other) else NotImplemented

    def __sub__(self, other: Array | complex, /) -> Array:
        return standard.subtract(self, other) if accepts(other) else NotImplemented

    def __rsub__(self, other: Array | complex, /) -> Array:
        return standard.subtract(other, self) if accepts(other) else NotImplemented

    def __isub__(self, other: Array | complex, /) -> Array:
        return _in_place("subtract", self, other) if accepts(other) else NotImplemented

    def __mul__(self, other: Array | complex, /) -> Array:
        return standard.multiply(self, other) if accepts(other) else NotImplemented

    def __rmul__(self, other: Array | complex, /) -> Array:
        return standard.multiply(other, self) if accepts(other) else NotImplemented

    def __imul__(self, other: Array | complex, /) -> Array:
        return _in_place("multiply", self, other) if accepts(other) else NotImplemented

    def __truediv__(self, other: Array | complex, /) -> Array:
        return standard.divide(self, other) if accepts(other) else NotImplemented

    def __rtruediv__(self, other: Array | complex, /) -> Array:
        return standard.divide(other, self) if accepts(other) else NotImplemented

    def __itruediv__(self, other: Array | complex, /) -> Array:
        return _in_place("divide", self, other) if accepts(other) else NotImplemented

    def __floordiv__(self, other: Array | complex, /) -> Array:
        return standard.floor_divide(self, other) if accepts(other) else NotImplemented

    def __rfloordiv__(self, other: Array | complex, /) -> Array:
        return standard.floor_divide(other, self) if accepts(other) else NotImplemented

    def __ifloordiv__(self, other: Array | complex, /) -> Array:
        return (
            _in_place("floor_divide", self, other) if accepts(other) else NotImplemented
        )

    def __mod__(self, other: Array | complex, /) -> Array:
        return standard.remainder(self, other) if accepts(other) else NotImplemented

    def __rmod__(self, other: Array | complex, /) -> Array:
        return standard.remainder(other, self) if accepts(other) else NotImplemented

    def __imod__(self, other: Array | complex, /) -> Array:
        return _in_place("remainder", self, other) if accepts(other) else NotImplemented

    def __pow__(self, other: Array | complex, /) -> Array:
        return standard.pow(self, other) if accepts(other) else NotImplemented

    def __rpow__(self, other: Array | complex, /) -> Array:
        return standard.pow(other, self) if accepts(other) else NotImplemented

    def __ipow__(self, other: Array | complex, /) -> Array:
        return _in_place("pow", self, other) if accepts(other) else NotImplemented

    def __matmul__(self, other: Array | complex, /) -> Array:
        return standard.matmul(self, other) if accepts(other) else NotImplemented

    def __rmatmul__(self, other: Array | complex, /) -> Array:
        return standard.matmul(other, self) if accepts(other) else NotImplemented

    def __imatmul__(self, other: Array | complex, /) -> Array:
        return _in_place("matmul", self, other) if accepts(other) else NotImplemented

    # ---- Bitwise ---------------------------------------------------------------------

    def __and__(self, other: Array | complex, /) -> Array:
        return standard.bitwise_and(self, other) if accepts(other) else NotImplemented

    def __rand__(self, other: Array | complex, /) -> Array:
        return standard.bitwise_and(other, self) if accepts(other) else NotImplemented

    def __iand__(self, other: Array | complex, /) -> Array:
        return (
            _in_place("bitwise_and", self, other) if accepts(other) else NotImplemented
        )

    def __or__(self, other: Array | complex, /) -> Array:
        return standard.bitwise_or(self, other) if accepts(other) else NotImplemented

    def __ror__(self, other: Array | complex, /) -> Array:
        return standard.bitwise_or(other, self) if accepts(other) else NotImplemented

    def __ior__(self, other: Array | complex, /) -> Array:
        return (
            _in_place("bitwise_or", self, other) if accepts(other) else NotImplemented
        )

    def __xor__(self, other: Array | complex, /) -> Array:
        return standard.bitwise_xor(self, other) if accepts(other) else NotImplemented

    def __rxor__(self, other: Array | complex, /) -> Array:
        return standard.bitwise_xor(other, self) if accepts(other) else NotImplemented

    def __ixor__(self, other: Array | complex, /) -> Array:
        return (
            _in_place("bitwise_xor", self, other) if accepts(other) else NotImplemented
        )

    def __lshift__(self, other: Array | complex, /) -> Array:
        return (
            standard.bitwise_left_shift(self, other)
            if accepts(other)
            else NotImplemented
        )

    def __rlshift__(self, other: Array | complex, /) -> Array:
        return (
            standard.bitwise_left_shift(other, self)
            if accepts(other)
            else NotImplemented
        )

    def __ilshift__(self, other: Array | complex, /) -> Array:
        return (
            _in_place("bitwise_left_shift", self, other)
            if accepts(other)
            else NotImplemented
        )

    def __rshift__(self, other: Array | complex, /) -> Array:
        return (
            standard.bitwise_right_shift(self, other)
            if accepts(other)
            else NotImplemented
        )

    def __rrshift__(self, other: Array | complex, /) -> Array:
        return (
            standard.bitwise_right_shift(other, self)
            if accepts(other)
            else NotImplemented
        )

    def __irshift__(self, other: Array | complex, /) -> Array:
        return (
            _in_place("bitwise_right_shift", self, other)
            if accepts(other)
            else NotImplemented
        )

    # ---- One operand -----------------------------------------------------------------

    def __neg__(self, /) -> Array:
        return standard.negative(self)  # type: ignore[no-any-return]

    def __pos__(self, /) -> Array:
        return standard.positive(self)  # type: ignore[no-any-return]

    def __abs__(self, /) -> Array:
        return standard.abs(self)  # type: ignore[no-any-return]

    def __invert__(self, /) -> Array:
        return standard.bitwise_invert(self)  # type: ignore[no-any-return]

    # ---- Comparison ------------------------------------------------------------------

    def __eq__(self, other: Array | complex, /) -> Array:  # type: ignore[override]
        return standard.equal(self, other) if accepts(other) else NotImplemented

    def __ne__(self, other: Array | complex, /) -> Array:  # type: ignore[override]
        return standard.not_equal(self, other) if accepts(other) else NotImplemented

    def __lt__(self, other: Array | complex, /) -> Array:
        return standard.less(self, other) if accepts(other) else NotImplemented

    def __le__(self, other: Array | complex, /) -> Array:
        return standard.less_equal(self, other) if accepts(other) else NotImplemented

    def __gt__(self, other: Array | complex, /) -> Array:
        return standard.greater(self, other) if accepts(other) else NotImplemented

    def __ge__(self, other: Array | complex, /) -> Array:
        return standard.greater_equal(self, other) if accepts(other) else NotImplemented
