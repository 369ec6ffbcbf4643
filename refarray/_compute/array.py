"""The Array: attributes, conversions and operators over the C base type.

The base (`_cffi_build/objects.c`) holds memory, layout, dtype and device, and speaks
DLPack and the buffer protocol. An operator is the standard's function of that meaning,
so that `x1 + x2` and `add(x1, x2)` take one path.

Next folder: `_standard/`.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from refarray._base import dtypes
from refarray._base.devices import CPU, Device, as_device
from refarray._base.dtypes import DType
from refarray._base.promotion import held_error
from refarray._compute import indexing, text
from refarray._compute.pipeline import check_writable, operand_error
from refarray._memory import host
from refarray._memory.host import numpy_view
from refarray._memory.native import ArrayBase, allocate, register_array, view
from refarray.dlpack.producer import prepare_export

# The namespace with the standard's functions. It imports this module, so it introduces
# itself once it is complete: `refarray/__init__.py`.
standard: ModuleType


def use_functions(namespace: ModuleType) -> None:
    """Let operators find the standard's functions in `namespace`."""
    global standard
    standard = namespace


def _accepts(other: object) -> bool:
    """Tell whether an operator takes `other`; if not, its own operator may have a turn.

    TypeError for what looks like an array and is none, since the reflected operator of
    NumPy, or the fallback of `==`, would answer with something else.
    """
    if isinstance(other, ArrayBase):
        return True
    if isinstance(other, (np.generic, np.ndarray, list, tuple)):
        raise operand_error("an operator", other)
    return isinstance(other, (bool, int, float, complex))


def _in_place(name: str, x: Array, other: Any) -> Array:
    """Do `x[...] = x op other`; dtype and shape of `x` must stay as they are.

    Computed first and written after, so that operands which overlap are read whole.

    Source: array API 2025.12, array object, in-place operators.
    """
    check_writable(x)
    result: Array = getattr(standard, name)(x, other)
    if result.dtype is not x.dtype or result.shape != x.shape:
        error = TypeError if result.dtype is not x.dtype else ValueError
        raise error(
            f"in place, {name} cannot turn {x.dtype} of shape {x.shape} into "
            f"{result.dtype} of shape {result.shape} "
            "(array API 2025.12, in-place operators)"
        )
    np.copyto(numpy_view(x), numpy_view(result))
    return x


class Array(ArrayBase):
    """An n-dimensional array. Made by creation functions such as `asarray`.

    Source: array API 2025.12, array object.
    """

    __slots__ = ()

    # NumPy's operators and ufuncs hand over to ours, which refuse NumPy arrays by name.
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    # ---- Attributes ------------------------------------------------------------------

    @property
    def T(self) -> Array:
        """Transpose of a two-dimensional array, as a view.

        ValueError for any other number of dimensions.
        Source: array API 2025.12, array.T.
        """
        if self.ndim != 2:
            raise ValueError(
                f"T needs a two-dimensional array, this one has {self.ndim} dimensions;"
                " use mT or permute_dims (array API 2025.12, array.T)"
            )
        return self.mT

    @property
    def mT(self) -> Array:
        """Transpose of the last two axes, as a view.

        ValueError with fewer than two dimensions.
        Source: array API 2025.12, array.mT.
        """
        if self.ndim < 2:
            raise ValueError(
                f"mT needs at least two dimensions, this array has {self.ndim} "
                "(array API 2025.12, array.mT)"
            )
        shape, strides = self.shape, self._strides
        return view(
            self,
            0,
            (*shape[:-2], shape[-1], shape[-2]),
            (*strides[:-2], strides[-1], strides[-2]),
            False,
        )

    # ---- Methods ---------------------------------------------------------------------

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        """Return the namespace with the functions for this array.

        ValueError for a version of the standard that is not implemented.
        Source: array API 2025.12, array.__array_namespace__.
        """
        return standard.namespace(api_version)

    def to_device(self, device: Device, /, *, stream: None = None) -> Array:
        """Return this array on `device`; itself if it is there already.

        Source: array API 2025.12, array.to_device.
        """
        target = as_device(device)
        if stream is not None:
            raise ValueError(
                f"stream must be None between host devices, got {stream!r} "
                "(array API 2025.12, array.to_device)"
            )
        if target is not self.device:
            raise ValueError(f"cannot copy from {self.device!r} to {target!r}")
        return self

    def __array__(
        self, dtype: Any = None, *, copy: bool | None = None
    ) -> np.ndarray[Any, Any]:
        """Return a NumPy array over the same memory, for `numpy.asarray`.

        NumPy asks the buffer protocol first. Where that refuses, an array without this
        method would be taken for a sequence and end up in an array of objects; so
        BufferError comes from here as well.
        """
        with memoryview(self):
            return np.array(numpy_view(self), dtype=dtype, copy=copy)

    def __getitem__(self, key: Any, /) -> Array:
        """Source: array API 2025.12, array.__getitem__."""
        return indexing.get(self, key)  # type: ignore[no-any-return]

    def __setitem__(self, key: Any, value: Array | complex, /) -> None:
        """Source: array API 2025.12, array.__setitem__."""
        indexing.put(self, key, value)

    def __repr__(self) -> str:
        return text.representation(self)

    def __str__(self) -> str:
        return text.elements(self)

    def __copy__(self) -> Array:
        return host.copy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Array:
        return host.copy(self)

    # A pickle holds data only: dtype, shape and the bytes of the elements.
    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.dtype, self.shape, numpy_view(self).tobytes())

    # ---- Python scalars --------------------------------------------------------------

    def _item(self, what: str) -> Any:
        if self.ndim:
            raise TypeError(
                f"{what}() takes an array without dimensions, this one has shape "
                f"{self.shape} (array API 2025.12, array.__{what}__)"
            )
        if self.dtype.kind == "held":
            raise held_error(self.dtype)
        return numpy_view(self).item()

    def _real_item(self, what: str) -> Any:
        value = self._item(what)
        if isinstance(value, complex):
            raise TypeError(
                f"{what}() of a complex array would drop the imaginary part; take "
                f"real() or abs() first (array API 2025.12, array.__{what}__)"
            )
        return value

    def __bool__(self, /) -> bool:
        """Source: array API 2025.12, array.__bool__."""
        return bool(self._item("bool"))

    def __int__(self, /) -> int:
        """Source: array API 2025.12, array.__int__."""
        return int(self._real_item("int"))

    def __float__(self, /) -> float:
        """Source: array API 2025.12, array.__float__."""
        return float(self._real_item("float"))

    def __complex__(self, /) -> complex:
        """Source: array API 2025.12, array.__complex__, special cases."""
        value = self._item("complex")
        # For a real NaN Python makes the imaginary part zero, the standard NaN.
        if isinstance(value, float) and value != value:
            return complex(value, value)
        return complex(value)

    def __index__(self, /) -> int:
        """Source: array API 2025.12, array.__index__."""
        if self.dtype not in dtypes.KINDS["integral"]:
            raise TypeError(
                f"only an array of integers can be an index, not one of {self.dtype} "
                "(array API 2025.12, array.__index__)"
            )
        return int(self._item("index"))

    # ---- Arithmetic ------------------------------------------------------------------

    def __add__(self, other: Array | complex, /) -> Array:
        return standard.add(self, other) if _accepts(other) else NotImplemented

    def __radd__(self, other: Array | complex, /) -> Array:
        return standard.add(other, self) if _accepts(other) else NotImplemented

    def __iadd__(self, other: Array | complex, /) -> Array:
        return _in_place("add", self, other) if _accepts(other) else NotImplemented

    def __sub__(self, other: Array | complex, /) -> Array:
        return standard.subtract(self, other) if _accepts(other) else NotImplemented

    def __rsub__(self, other: Array | complex, /) -> Array:
        return standard.subtract(other, self) if _accepts(other) else NotImplemented

    def __isub__(self, other: Array | complex, /) -> Array:
        return _in_place("subtract", self, other) if _accepts(other) else NotImplemented

    def __mul__(self, other: Array | complex, /) -> Array:
        return standard.multiply(self, other) if _accepts(other) else NotImplemented

    def __rmul__(self, other: Array | complex, /) -> Array:
        return standard.multiply(other, self) if _accepts(other) else NotImplemented

    def __imul__(self, other: Array | complex, /) -> Array:
        return _in_place("multiply", self, other) if _accepts(other) else NotImplemented

    def __truediv__(self, other: Array | complex, /) -> Array:
        return standard.divide(self, other) if _accepts(other) else NotImplemented

    def __rtruediv__(self, other: Array | complex, /) -> Array:
        return standard.divide(other, self) if _accepts(other) else NotImplemented

    def __itruediv__(self, other: Array | complex, /) -> Array:
        return _in_place("divide", self, other) if _accepts(other) else NotImplemented

    def __floordiv__(self, other: Array | complex, /) -> Array:
        return standard.floor_divide(self, other) if _accepts(other) else NotImplemented

    def __rfloordiv__(self, other: Array | complex, /) -> Array:
        return standard.floor_divide(other, self) if _accepts(other) else NotImplemented

    def __ifloordiv__(self, other: Array | complex, /) -> Array:
        return (
            _in_place("floor_divide", self, other)
            if _accepts(other)
            else NotImplemented
        )

    def __mod__(self, other: Array | complex, /) -> Array:
        return standard.remainder(self, other) if _accepts(other) else NotImplemented

    def __rmod__(self, other: Array | complex, /) -> Array:
        return standard.remainder(other, self) if _accepts(other) else NotImplemented

    def __imod__(self, other: Array | complex, /) -> Array:
        return (
            _in_place("remainder", self, other) if _accepts(other) else NotImplemented
        )

    def __pow__(self, other: Array | complex, /) -> Array:
        return standard.pow(self, other) if _accepts(other) else NotImplemented

    def __rpow__(self, other: Array | complex, /) -> Array:
        return standard.pow(other, self) if _accepts(other) else NotImplemented

    def __ipow__(self, other: Array | complex, /) -> Array:
        return _in_place("pow", self, other) if _accepts(other) else NotImplemented

    def __matmul__(self, other: Array | complex, /) -> Array:
        return standard.matmul(self, other) if _accepts(other) else NotImplemented

    def __rmatmul__(self, other: Array | complex, /) -> Array:
        return standard.matmul(other, self) if _accepts(other) else NotImplemented

    def __imatmul__(self, other: Array | complex, /) -> Array:
        return _in_place("matmul", self, other) if _accepts(other) else NotImplemented

    # ---- Bitwise ---------------------------------------------------------------------

    def __and__(self, other: Array | complex, /) -> Array:
        return standard.bitwise_and(self, other) if _accepts(other) else NotImplemented

    def __rand__(self, other: Array | complex, /) -> Array:
        return standard.bitwise_and(other, self) if _accepts(other) else NotImplemented

    def __iand__(self, other: Array | complex, /) -> Array:
        return (
            _in_place("bitwise_and", self, other) if _accepts(other) else NotImplemented
        )

    def __or__(self, other: Array | complex, /) -> Array:
        return standard.bitwise_or(self, other) if _accepts(other) else NotImplemented

    def __ror__(self, other: Array | complex, /) -> Array:
        return standard.bitwise_or(other, self) if _accepts(other) else NotImplemented

    def __ior__(self, other: Array | complex, /) -> Array:
        return (
            _in_place("bitwise_or", self, other) if _accepts(other) else NotImplemented
        )

    def __xor__(self, other: Array | complex, /) -> Array:
        return standard.bitwise_xor(self, other) if _accepts(other) else NotImplemented

    def __rxor__(self, other: Array | complex, /) -> Array:
        return standard.bitwise_xor(other, self) if _accepts(other) else NotImplemented

    def __ixor__(self, other: Array | complex, /) -> Array:
        return (
            _in_place("bitwise_xor", self, other) if _accepts(other) else NotImplemented
        )

    def __lshift__(self, other: Array | complex, /) -> Array:
        return (
            standard.bitwise_left_shift(self, other)
            if _accepts(other)
            else NotImplemented
        )

    def __rlshift__(self, other: Array | complex, /) -> Array:
        return (
            standard.bitwise_left_shift(other, self)
            if _accepts(other)
            else NotImplemented
        )

    def __ilshift__(self, other: Array | complex, /) -> Array:
        return (
            _in_place("bitwise_left_shift", self, other)
            if _accepts(other)
            else NotImplemented
        )

    def __rshift__(self, other: Array | complex, /) -> Array:
        return (
            standard.bitwise_right_shift(self, other)
            if _accepts(other)
            else NotImplemented
        )

    def __rrshift__(self, other: Array | complex, /) -> Array:
        return (
            standard.bitwise_right_shift(other, self)
            if _accepts(other)
            else NotImplemented
        )

    def __irshift__(self, other: Array | complex, /) -> Array:
        return (
            _in_place("bitwise_right_shift", self, other)
            if _accepts(other)
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
        return standard.equal(self, other) if _accepts(other) else NotImplemented

    def __ne__(self, other: Array | complex, /) -> Array:  # type: ignore[override]
        return standard.not_equal(self, other) if _accepts(other) else NotImplemented

    def __lt__(self, other: Array | complex, /) -> Array:
        return standard.less(self, other) if _accepts(other) else NotImplemented

    def __le__(self, other: Array | complex, /) -> Array:
        return standard.less_equal(self, other) if _accepts(other) else NotImplemented

    def __gt__(self, other: Array | complex, /) -> Array:
        return standard.greater(self, other) if _accepts(other) else NotImplemented

    def __ge__(self, other: Array | complex, /) -> Array:
        return (
            standard.greater_equal(self, other) if _accepts(other) else NotImplemented
        )


def _restore(dtype: DType, shape: tuple[int, ...], data: bytes) -> Array:
    out: Array = allocate(shape, dtype, CPU, False)
    flat = numpy_view(out)
    flat[...] = np.frombuffer(data, flat.dtype).reshape(shape)
    return out


register_array(Array, prepare_export)
