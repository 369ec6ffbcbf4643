"""The Array: attributes, methods and conversions over the C base type.

The base (`_cffi_build/objects.c`) holds memory, layout, dtype and device, and speaks
DLPack and the buffer protocol.

Next: `casting.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import index
from pickle import PickleBuffer
from typing import Any, SupportsIndex

import numpy as np

from refarray._base import dtypes, profile
from refarray._base.devices import CPU, Device, as_device
from refarray._base.dtypes import DType
from refarray._base.layout import Unknown, size_of
from refarray._base.promotion import held_error
from refarray._compute import freedom, indexing, operators, text
from refarray._compute.operators import Operators
from refarray._memory import host
from refarray._memory.host import numpy_view
from refarray._memory.native import allocate, exchange_api, register_array
from refarray.dlpack.producer import prepare_export


class Array(Operators):
    """An n-dimensional array. Made by creation functions such as `asarray`.

    Source: array API 2025.12, array object.
    """

    __slots__ = ()

    # On the type, where C code of other libraries looks for it (DLPack 1.3; part of the
    # standard's draft).
    __dlpack_c_exchange_api__ = exchange_api()

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
        shape, strides = self._shape, self._strides
        return indexing.share(
            self,
            0,
            (*shape[:-2], shape[-1], shape[-2]),
            (*strides[:-2], strides[-1], strides[-2]),
        )

    # Beside the standard, as NumPy's arrays have them.

    @property
    def nbytes(self) -> int | None:
        """Size of the elements in bytes; under profile numpy_interop only."""
        if profile.mixes_with_numpy():
            return self.size and self._size * self.dtype.bits // 8
        raise AttributeError(
            "an array of the standard has no attribute 'nbytes' (array API 2025.12, "
            "array object); profile numpy_interop has it"
        )

    def __len__(self) -> int:
        """Return the size of the first axis; under profile numpy_interop only."""
        if profile.mixes_with_numpy():
            if not self.ndim:
                raise TypeError("len() of unsized object: this array has no dimensions")
            size = self._shape[0]
            if type(size) is Unknown:
                raise profile.unknown_size("len()")
            return size
        raise TypeError(
            f"object of type {type(self).__name__!r} has no len(): x.shape[0] is the "
            "size of its first axis (array API 2025.12, array object); profile "
            "numpy_interop has len(x)"
        )

    # ---- Methods ---------------------------------------------------------------------

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        """Return the namespace with the functions for this array.

        ValueError for a version of the standard that is not implemented.
        Source: array API 2025.12, array.__array_namespace__.
        """
        if api_version is None and profile.guarded:
            api_version = profile.active().api_version
        return operators.standard.namespace(api_version)

    def to_device(self, device: Device, /, *, stream: Any = None) -> Array:
        """Return this array on `device`; itself if it is there already.

        The copy is work on `stream` if that is given, a `refarray.cuda.Stream`, an
        object with `__cuda_stream__` or a handle; otherwise on the current one.
        ValueError for a device that does not hold the dtype, and for a stream where no
        device has any.
        Source: array API 2025.12, array.to_device.
        """
        if device is None:
            raise TypeError(
                "to_device takes a device such as Device('cpu'), not None "
                "(array API 2025.12, array.to_device)"
            )
        target = as_device(device)
        if stream is not None and "device" not in (self.device.memory, target.memory):
            raise ValueError(
                f"stream must be None between host devices, got {stream!r} "
                "(array API 2025.12, array.to_device)"
            )
        if target is self.device:
            return freedom.apart(self) if profile.guarded else self
        return transfer("to_device", self, target, stream)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Memory on a CUDA device as version 3 of Numba's interface describes it.

        Consumers have to let `stream` do its work first; DLPack spares them that, and
        knows more dtypes. AttributeError for an array elsewhere and for bfloat16.
        Source: Numba, CUDA Array Interface (Version 3).
        """
        if self.device.memory != "device" or self.dtype is dtypes.bfloat16:
            raise AttributeError(
                f"an array of {self.dtype} on {self.device!r} has no CUDA array "
                "interface: that is for CUDA devices, and dtypes that NumPy has"
            )
        from refarray._memory.device import array_interface

        return array_interface(self)

    def __array__(
        self, dtype: Any = None, *, copy: bool | None = None
    ) -> np.ndarray[Any, Any]:
        """Return a NumPy array over the same memory, for `numpy.asarray`.

        NumPy asks the buffer protocol first. Where that refuses, an array without this
        method would be taken for a sequence and end up in an array of objects; so this
        refuses as well, with the TypeError of CuPy and torch that callers expect.
        """
        try:
            # Not the kernels' view: a caller could change its shape, dtype and flags,
            # and its base is all memory that the array is a view of.
            lent = memoryview(self)
        except BufferError as error:
            raise TypeError(f"no NumPy array can share this memory: {error}") from error
        return np.array(lent, dtype=dtype, copy=copy)

    def __setitem__(self, key: Any, value: Array | complex, /) -> None:
        """Source: array API 2025.12, array.__setitem__."""
        indexing.put(self, key, value)

    def __iter__(self) -> Iterator[Array]:
        """Iterate over the first axis; TypeError if there is none.

        Source: array API 2025.12, array.__getitem__, notes.
        """
        # By __getitem__ alone, one without axes would pass for an empty one.
        if not self.ndim:
            raise TypeError(
                "an array without dimensions has no axis to iterate over "
                "(array API 2025.12, array.__getitem__, notes)"
            )
        if type(self._shape[0]) is Unknown:
            raise profile.unknown_size("iteration")
        if profile.guarded:
            self._check_iteration()
        return (self[i] for i in range(self._shape[0]))

    def _check_iteration(self) -> None:
        if self.ndim > 1:
            profile.unspecified(
                f"iteration over an array of {self.ndim} dimensions",
                "array.__getitem__, notes",
                "use unstack",
            )
        self._check_on_host("iteration")

    def _check_on_host(self, what: str) -> None:
        if self.device is not CPU:
            profile.unspecified(
                f"{what} of an array on {self.device!r}",
                "device support: no implicit transfer",
                "copy it to the host with to_device first",
            )

    def __contains__(self, value: object) -> bool:
        """Whether an element along the first axis equals `value`, as by iteration."""
        if profile.guarded:
            profile.unspecified(
                "the operator `in` on an array",
                "array object: not among the operators",
                "use any(x == value)",
            )
        return any(element == value for element in self)

    def __repr__(self) -> str:
        return text.representation(self)

    def __str__(self) -> str:
        return text.elements(self)

    def __copy__(self) -> Array:
        return host.copy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Array:
        return host.copy(self)

    # A pickle holds data only: dtype, shape, the bytes of the elements, and the device.
    # From protocol 5 on, the pickle lends the memory itself to a pickler that sends it
    # along without a copy; other picklers write the same bytes.
    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        if profile.guarded:
            profile.check_values("a pickle")
        here = self if self.device.memory != "device" else host.copy(self, CPU)
        data: PickleBuffer | bytes
        if index(protocol) < 5:
            data = numpy_view(here).tobytes()
        else:
            data = PickleBuffer(_compact(here).data)
        return _restore, (self.dtype, numpy_view(here).shape, data, self.device)

    # ---- Python scalars --------------------------------------------------------------

    def _item(self, what: str) -> Any:
        if self.ndim:
            raise TypeError(
                f"{what}() takes an array without dimensions, this one has shape "
                f"{self._shape} (array API 2025.12, array.__{what}__)"
            )
        if self.dtype.family == "held":
            raise held_error(self.dtype)
        if profile.guarded:
            profile.check_values(f"{what}()")
            if self.device is not CPU:
                self._check_on_host(f"{what}()")
                profile.check_transfer(
                    f"{what}()", self.device, CPU, self.dtype.bits // 8
                )
        here = self if self.device.memory != "device" else host.copy(self, CPU)
        return numpy_view(here).item()

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

    def __format__(self, spec: str, /) -> str:
        """Format the Python scalar of an array without dimensions, as in `f"{x:.3f}"`.

        Without a format spec the text is `str(x)`. TypeError for a spec and an array
        with dimensions.
        """
        if not spec:
            return str(self)
        if self.ndim:
            raise TypeError(
                f"the format spec {spec!r} needs an array without dimensions, this one "
                f"has shape {self._shape}; format its elements one at a time, or the "
                "whole array without a spec"
            )
        return format(self._item("format"), spec)

    def __index__(self, /) -> int:
        """Source: array API 2025.12, array.__index__."""
        if self.dtype not in dtypes.KINDS["integral"]:
            raise TypeError(
                f"only an array of integers can be an index, not one of {self.dtype} "
                "(array API 2025.12, array.__index__)"
            )
        return int(self._item("index"))


def transfer(function: str, x: Array, target: Device, stream: Any = None) -> Array:
    """Return a copy of `x` on another device; `function` is what asked for it."""
    if profile.guarded:
        size = x._size * x.dtype.bits // 8
        profile.check_transfer(function, x.device, target, size)
    if stream is None:
        return host.copy(x, target)
    from refarray._memory.device_copies import copy_on_stream  # with CUDA only

    return copy_on_stream(x, target, stream)


def _compact(x: Array) -> np.ndarray[Any, Any]:
    """Return the elements in row-major order, as a NumPy array of the caller's own.

    It shares the memory if that is in this order and the buffer protocol has a format
    for the dtype, and is a copy otherwise.
    """
    try:
        lent: np.ndarray[Any, Any] = np.asarray(memoryview(x))  # see `__array__`
    except BufferError:
        return numpy_view(x).copy()
    return lent if lent.flags.c_contiguous else lent.copy()


def _restore(
    dtype: DType,
    shape: tuple[int, ...],
    data: bytes | bytearray | memoryview | PickleBuffer,
    device: Device = CPU,
) -> Array:
    # Anybody can write a pickle: it is measured before memory is made for it.
    if not isinstance(dtype, DType) or not isinstance(device, Device):
        raise TypeError(f"no dtype and device of an array: {dtype!r}, {device!r}")
    given, wanted = memoryview(data).nbytes, size_of(shape) * dtype.bits // 8
    if given != wanted:
        raise ValueError(
            f"an array of shape {shape} and dtype {dtype} has {wanted} bytes of "
            f"elements, and this pickle {given}"
        )
    place = device if device.memory != "device" else CPU
    out: Array = allocate(shape, dtype, place, False)
    target = numpy_view(out)
    elements = np.frombuffer(memoryview(data), target.dtype)
    target[...] = elements.reshape(shape)
    return out if place is device else host.copy(out, device)


register_array(Array, indexing.get, prepare_export)
