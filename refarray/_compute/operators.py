"""Operators: each is the standard's function of that meaning.

So `x1 + x2` and `add(x1, x2)` take one path. It begins in C, but for the operators that
work in place: `_cffi_build/operators.c`. A foreign operand gets its own turn, unless it
looks like an array and is none.

Next: `array.py`.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, Self, TypeVar

import numpy as np

from refarray._base import profile
from refarray._compute.engine import view
from refarray._compute.pipeline import check_writable, operand_error, ready
from refarray._memory.native import ArrayBase, register_operators

_A = TypeVar("_A", bound=ArrayBase)

# The namespace with the standard's functions. It imports this module, so it introduces
# itself once it is complete: `refarray/__init__.py`.
standard: ModuleType


def use_functions(namespace: ModuleType) -> None:
    """Let operators find the standard's functions in `namespace`."""
    global standard
    standard = namespace


def _accepts(x: object) -> bool:
    """Tell whether an operator takes `x`; if not, its own operator may have a turn.

    TypeError for what looks like an array and is none, since the reflected operator of
    NumPy, or the fallback of `==`, would answer with something else. Under profile
    numpy_interop NumPy's is meant to.
    """
    if isinstance(x, (ArrayBase, bool, int, float, complex)):
        return True
    if isinstance(x, (np.generic, np.ndarray, list, tuple)):
        if profile.mixes_with_numpy() and isinstance(x, (np.generic, np.ndarray)):
            return False
        raise operand_error("an operator", x)
    return False


def _operate(name: str, *operands: object) -> Any:
    """Apply the function that an operator is, to operands for which it has no plan."""
    if all(_accepts(x) for x in operands):
        return getattr(standard, name)(*operands)
    return NotImplemented


register_operators(ready, _operate)


def _in_place(name: str, x: _A, other: object) -> _A:
    """Do `x[...] = x op other`; dtype and shape of `x` must stay as they are.

    Computed first and written after, so that operands which overlap are read whole.

    Source: array API 2025.12, array object, in-place operators.
    """
    if profile.guarded and not profile.active().mutable:
        # Python goes on to `x = x + y`, as it does for the arrays of JAX.
        return NotImplemented  # type: ignore[no-any-return]
    if not _accepts(other):
        return NotImplemented  # type: ignore[no-any-return]
    check_writable(x)
    result = getattr(standard, name)(x, other)
    if result.dtype is not x.dtype or result._shape != x._shape:
        error = TypeError if result.dtype is not x.dtype else ValueError
        raise error(
            f"in place, {name} cannot turn {x.dtype} of shape {x._shape} into "
            f"{result.dtype} of shape {result._shape} "
            "(array API 2025.12, in-place operators)"
        )
    np.copyto(view(x), view(result))
    return x


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

    @property
    def __array_ufunc__(self) -> Any:
        """See the type's, which is the one that NumPy's own operators read."""
        return type(self).__array_ufunc__

    def __iadd__(self, other: Self | complex, /) -> Self:
        return _in_place("add", self, other)

    def __isub__(self, other: Self | complex, /) -> Self:
        return _in_place("subtract", self, other)

    def __imul__(self, other: Self | complex, /) -> Self:
        return _in_place("multiply", self, other)

    def __itruediv__(self, other: Self | complex, /) -> Self:
        return _in_place("divide", self, other)

    def __ifloordiv__(self, other: Self | complex, /) -> Self:
        return _in_place("floor_divide", self, other)

    def __imod__(self, other: Self | complex, /) -> Self:
        return _in_place("remainder", self, other)

    def __ipow__(self, other: Self | complex, /) -> Self:
        return _in_place("pow", self, other)

    def __imatmul__(self, other: Self | complex, /) -> Self:
        return _in_place("matmul", self, other)

    def __iand__(self, other: Self | complex, /) -> Self:
        return _in_place("bitwise_and", self, other)

    def __ior__(self, other: Self | complex, /) -> Self:
        return _in_place("bitwise_or", self, other)

    def __ixor__(self, other: Self | complex, /) -> Self:
        return _in_place("bitwise_xor", self, other)

    def __ilshift__(self, other: Self | complex, /) -> Self:
        return _in_place("bitwise_left_shift", self, other)

    def __irshift__(self, other: Self | complex, /) -> Self:
        return _in_place("bitwise_right_shift", self, other)
