"""DLPack for memory of any kind: describe it, and it can be exchanged.

`Tensor` says where memory lies, how it is laid out and who owns it; with `__dlpack__`
and `__dlpack_device__` it is a producer. A class of your own becomes one with `Exports`
and a method that returns such a description. The other way, `Tensor.from_dlpack` takes
the memory of any producer as a checked description.

No array library is needed on either side: ctypes, mmap, array.array, cffi, shared
memory, or an address from elsewhere.

Next: `inspection_memory.py`.
"""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import InitVar, dataclass
from enum import Enum
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from refarray._base import dtypes, profile
from refarray._base.devices import CPU
from refarray._base.dtypes import DType
from refarray._base.formats import dtype_of_format
from refarray._base.layout import check_shape, row_major_strides, shown, size_of
from refarray._base.process_bound import ProcessBound
from refarray._memory.host import numpy_view
from refarray._memory.native import (
    ArrayBase,
    Buffer,
    allocate,
    export_memory,
    import_memory,
    wrap,
)
from refarray.dlpack.consumer import device_of, request, require_protocol
from refarray.dlpack.producer import device_pair
from refarray.dlpack.shortcuts import HOST, VERSION
from refarray.dlpack.structs import HANDLES, Flags, dtype_triple


@dataclass(frozen=True, init=False)
class Tensor(ProcessBound):
    """Memory as DLPack describes it, and a producer of it.

    pointer: address of the first element, or the handle of memory that is known by one
    (a cl_mem, a Metal buffer). shape: extents. dtype: a dtype of refarray, a
    name, or DLPack's (type code, bits, lanes). strides: in elements, row-major if None.
    device: DLPack's (device_type, device_id). owner: what keeps the memory alive; it
    lives for as long as a consumer uses the memory. read_only: consumers are told not
    to write. synchronize: for devices with streams; called with the consumer's
    `stream`, it makes that stream wait for the work pending on the memory.

    A copy shares the memory and the owner: `copy.deepcopy` returns the same Tensor, and
    `dataclasses.replace` one with the same owner. TypeError if it is pickled, since an
    address means nothing in another process.

    ValueError for what describes no memory, TypeError for what is no description.

    Source: DLPack 1.3, DLTensor.
    """

    pointer: int
    shape: tuple[int, ...]
    dtype: tuple[int, int, int]
    strides: tuple[int, ...]
    device: tuple[int, int]
    read_only: bool
    synchronize: Callable[[int | None], object] | None
    # Not a field: dataclasses.asdict would copy the owner, and keep the address of the
    # original's memory. dataclasses.replace passes an InitVar on. Type checkers do not
    # take one for an attribute.
    if TYPE_CHECKING:
        owner: object
    else:
        owner: InitVar[object] = None

    _instead = (
        "Pickle an array in its place, refarray.from_dlpack(tensor): that pickle holds "
        "the elements."
    )

    def __init__(
        self,
        pointer: int,
        shape: int | Sequence[int],
        dtype: DType | str | tuple[int, int, int],
        *,
        strides: Sequence[int] | None = None,
        device: tuple[int, int] = HOST,
        owner: object = None,
        read_only: bool = False,
        synchronize: Callable[[int | None], object] | None = None,
    ) -> None:
        extents = check_shape(
            shape if isinstance(shape, int) else _integers("shape", shape)
        )
        steps = row_major_strides(extents)
        if strides is not None:
            steps = _integers("strides", strides)
        if len(steps) != len(extents):
            raise ValueError(
                f"{len(steps)} strides do not fit {len(extents)} extents "
                "(DLPack, DLTensor)"
            )
        if not isinstance(pointer, int):
            raise TypeError(
                f"pointer is an address, not {type(pointer).__name__} "
                "(DLPack, DLTensor)"
            )
        place = _integers("device", device)
        if len(place) != 2:
            raise TypeError(
                f"device is (device_type, device_id), not {shown(device)} "
                "(DLPack, DLTensor)"
            )
        if not all(-(2**31) <= number < 2**31 for number in place):
            raise ValueError(
                f"device {shown(place)} does not fit into two numbers of 32 bits "
                "(DLPack, DLTensor)"
            )
        if not 0 <= pointer < 2**64 or (pointer == 0 and size_of(extents)):
            raise ValueError(
                f"{shown(pointer)} is the address of no element (DLPack, DLTensor)"
            )
        for name, value in (
            ("pointer", pointer),
            ("shape", extents),
            ("dtype", dtype_triple(dtype)),
            ("strides", steps),
            ("device", place),
            ("owner", owner),
            ("read_only", read_only),
            ("synchronize", synchronize),
        ):
            object.__setattr__(self, name, value)

    @classmethod
    def from_buffer(cls, exporter: Any, /) -> Tensor:
        """Describe the memory of an object with the buffer protocol.

        BufferError for elements that no dtype has, TypeError for an object without the
        protocol.
        """
        try:
            with memoryview(exporter) as view:
                letters, itemsize = view.format, view.itemsize
        except ValueError as error:  # what NumPy raises for its dates
            raise BufferError(f"no buffer of {type(exporter)}: {error}") from error
        try:
            dtype = dtype_of_format(letters, itemsize)
        except TypeError as error:
            raise BufferError(str(error)) from error
        return cls._from_layout(wrap(exporter, dtype, letters))

    @classmethod
    def from_array(cls, x: ArrayBase, /) -> Tensor:
        """Describe the memory of an array of refarray."""
        if profile.guarded:
            profile.check_values("a description of its memory")
        return cls._from_layout(x)

    @classmethod
    def _from_layout(cls, x: ArrayBase) -> Tensor:
        synchronize = None
        if x.device.memory == "device":
            from refarray.dlpack.cuda import lend  # with CUDA, and not without

            synchronize = lend(x)
        return cls(
            x._buffer.address + x._byte_offset,
            tuple(map(int, x._shape)),
            x.dtype,
            strides=x._strides,
            device=x.device.dlpack,
            owner=x,
            read_only=x._read_only,
            synchronize=synchronize,
        )

    @classmethod
    def from_dlpack(cls, x: Any, /, *, stream: int | None = None) -> Tensor:
        """Take the memory of a producer over as a description, checked and unconverted.

        It may have any dtype of whole bytes, and lie on any device. The memory goes
        back when the description, and everything made from it, is gone. BufferError for
        what is inconsistent, for elements of fewer than 8 bits that are padded to whole
        bytes, and for a handle with a byte offset, which cannot be added to it; what
        `x` raises arrives unchanged.
        """
        require_protocol(x)
        announced = device_of(x)
        question: dict[str, Any] = {"max_version": VERSION}
        if stream is not None:
            question["stream"] = stream
        capsule = request(x.__dlpack__, question)
        pointer, shape, strides, dtype, device, owner, flags, offset = import_memory(
            capsule, announced
        )
        wrong = None
        if flags & Flags.IS_SUBBYTE_TYPE_PADDED and dtype[1] < 8:
            wrong = (
                f"elements of {dtype[1]} bits that are padded to whole bytes have no "
                "description: a Tensor describes packed elements only; ask the "
                "producer for packed memory (DLPack, DLTensor)"
            )
        elif device[0] in HANDLES and offset:
            wrong = (
                f"memory on {device} is known by a handle, to which a byte_offset "
                f"of {offset} cannot be added (DLPack, DLTensor)"
            )
        if wrong is not None:
            del owner  # a traceback would keep it
            raise BufferError(wrong)
        return cls(
            pointer,
            shape,
            dtype,
            strides=strides,
            device=device,
            owner=Taken(owner),
            read_only=bool(flags & Flags.READ_ONLY),
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        """Device as the DLPack pair (device_type, device_id)."""
        return self.device

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Enum | int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Export this memory as a DLPack capsule.

        BufferError for another device, for read-only memory in a legacy capsule, and
        for a copy of memory that the host cannot read.

        Source: array API 2025.12, array.__dlpack__; DLPack 1.3.
        """
        if copy is not None and not isinstance(copy, bool):
            raise TypeError(
                f"copy must be True, False or None, not {shown(copy)} "
                "(array API, array.__dlpack__)"
            )
        wanted = self.device if dl_device is None else device_pair(dl_device)
        if wanted != self.device:
            raise BufferError(
                f"this memory lies on {self.device}, not on "
                f"{shown(tuple(map(int, wanted)))} (array API, array.__dlpack__)"
            )
        if self.device == CPU.dlpack and stream is not None:
            raise ValueError(
                f"stream must be None for the host, got {stream!r} "
                "(array API, array.__dlpack__)"
            )
        if self.synchronize is not None and stream != -1:
            self.synchronize(stream)
        tensor = self._copied() if copy else self
        flags = Flags.READ_ONLY if tensor.read_only else Flags(0)
        if copy:
            flags |= Flags.IS_COPIED
        return export_memory(
            tensor.pointer,
            tensor.shape,
            tensor.strides,
            tensor.dtype,
            tensor.device,
            tensor.owner,
            int(flags),
            max_version,
        )

    def _copied(self) -> Tensor:
        if self.device != CPU.dlpack:
            raise BufferError(
                f"memory on {self.device} cannot be copied by the host "
                "(array API, array.__dlpack__)"
            )
        # Bytes are copied, whatever they mean: one more axis, over those of an element.
        itemsize = self.dtype[1] * self.dtype[2] // 8
        byte_strides = [step * itemsize for step in self.strides]
        ends = [
            (extent - 1) * step
            for extent, step in zip(self.shape, byte_strides, strict=True)
        ]
        low = sum(min(end, 0) for end in ends)
        high = sum(max(end, 0) for end in ends) + itemsize
        size = size_of(self.shape)
        out = allocate((size * itemsize,), dtypes.uint8, CPU, False)
        if size:
            memory: Any = (ctypes.c_char * (high - low)).from_address(
                self.pointer + low
            )
            source: np.ndarray[Any, Any] = np.ndarray(
                (*self.shape, itemsize), np.uint8, memory, -low, (*byte_strides, 1)
            )
            np.copyto(numpy_view(out).reshape(source.shape), source)
        return Tensor(out._buffer.address, self.shape, self.dtype, owner=out)


class Taken(ProcessBound):
    """The owner of memory that a producer handed over: it goes back with this object.

    Opaque: the memory may be read-only, or contain bytes outside the tensor.
    """

    __slots__ = ("_buffer",)

    _instead = (
        "It belongs to a Tensor: pickle refarray.from_dlpack(tensor) in its place."
    )

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = buffer


class Exports(ABC):
    """Makes a class a producer: give it a method that describes its memory.

    Source: DLPack 1.3, Python specification.
    """

    @abstractmethod
    def dlpack_tensor(self) -> Tensor:
        """Return the description of this object's memory, with what owns it."""

    def __dlpack_device__(self) -> tuple[int, int]:
        """Device as the DLPack pair (device_type, device_id)."""
        return self.dlpack_tensor().device

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Enum | int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Export this object's memory as a DLPack capsule; see `Tensor`."""
        return self.dlpack_tensor().__dlpack__(
            stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
        )


def _integers(what: str, given: Sequence[int]) -> tuple[int, ...]:
    """Return a sequence of integers, such as those of NumPy, as Python's."""
    try:
        return tuple(map(index, given))
    except TypeError:
        raise TypeError(
            f"{what} takes a sequence of integers, not {shown(given)} "
            "(DLPack, DLTensor)"
        ) from None
