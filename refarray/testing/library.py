"""A whole array library: correct, tiny, in pure Python over the forge.

It keeps every rule. Each step is a method of its own, so that a violator can get
exactly one wrong (violators.py). Its memory is forged, its device may be announced as
CUDA or ROCm, and then it notes which stream each export was ordered before.

Next: violators_producer.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from refarray.testing import exchange
from refarray.testing.adapters import Adapter
from refarray.testing.forge import (
    CPU,
    CUDA,
    DEVICE_TYPES,
    FRESH_NAMES,
    IS_COPIED,
    NAMES,
    NEWEST,
    READ_ONLY,
    ROCM,
    Case,
    Raw,
    Tensor,
    forge,
    itemsize,
    load,
    offsets,
    row_major,
    store,
)
from refarray.testing.library_table import (
    ArrayWithTable,
    LibraryWithTable,
    tensor_like,
)
from refarray.testing.producers import copied, laid_down

LARGEST = 1 << 63  # a tensor has fewer bytes than this
OPAQUE = (3, 64, 1)  # a data type that the double does not export


class Owner:
    """A taken tensor; its deleter runs when the last array over it has gone."""

    def __init__(self, taken: Raw) -> None:
        self.taken = taken

    def __copy__(self) -> Owner:
        return self  # the deleter runs once

    def __del__(self) -> None:
        self.taken.delete()


class Array(ArrayWithTable):
    """An array of the double: a layout, and whoever owns the memory."""

    library: Library

    def __init__(self, library: Library, tensor: Tensor, owner: object = None) -> None:
        self.library, self.tensor, self.owner = library, tensor, owner
        self.waited: list[int] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.library.announce(self)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: Any = None,
        dl_device: Any = None,
        copy: bool | None = None,
    ) -> object:
        return self.library.export(self, stream, max_version, dl_device, copy)

    def addresses(self) -> list[int]:
        """Return where each element lies, in row-major order."""
        shape, strides = self.tensor.shape or (), self.tensor.strides or ()
        size = self.tensor.dtype[1] // 8
        return [(self.tensor.data or 0) + size * n for n in offsets(shape, strides)]


class Library(LibraryWithTable, Adapter):
    """The double as an adapter: `make` and `from_dlpack` are its whole interface."""

    name = "double"
    cpu: Any = "cpu"
    array_type = Array
    owner_type = Owner
    raw_type: Callable[[object], Raw] = Raw

    def __init__(self) -> None:
        self.cases: list[Case] = []  # every tensor that was exported

    # ---- Arrays ----------------------------------------------------------------------

    def make(self, values: Sequence[Any], shape: tuple[int, ...], dtype: str) -> Any:
        """Return a new array."""
        tensor = Tensor.of(values, shape, dtype).but(device=self.device)
        return self.array_type(self, tensor)

    def read(self, array: Any) -> list[Any]:
        """Return the values, in row-major order."""
        name = NAMES[array.tensor.dtype]
        return [load(address, name) for address in array.addresses()]

    def write(self, array: Any, value: Any) -> None:
        """Set every element."""
        for address in array.addresses():
            store(address, NAMES[array.tensor.dtype], value)

    def shape(self, array: Any) -> tuple[int, ...]:
        """Return the shape."""
        shape: tuple[int, ...] = array.tensor.shape or ()
        return shape

    def view(self, array: Any, key: Any) -> Any:
        """Return a view of part of an array; one slice for each leading axis."""
        keys = key if isinstance(key, tuple) else (key,)
        shape, strides = list(array.tensor.shape), list(array.tensor.strides)
        first = array.tensor.data
        for axis, part in enumerate(keys):
            steps = range(*part.indices(shape[axis]))
            first += itemsize(NAMES[array.tensor.dtype]) * steps.start * strides[axis]
            shape[axis], strides[axis] = len(steps), strides[axis] * steps.step
        tensor = array.tensor.but(
            data=first, shape=tuple(shape), strides=tuple(strides)
        )
        return self.array_type(self, tensor, array.owner)

    def read_only(self, array: Any) -> Any:
        """Return a read-only view."""
        tensor = array.tensor.but(flags=READ_ONLY)
        return self.array_type(self, tensor, array.owner)

    def is_read_only(self, array: Any) -> bool | None:
        """Whether the array is marked read-only."""
        return bool(array.tensor.flags & READ_ONLY)

    def unexportable(self) -> Any:
        """Return an array of a data type that is not exported."""
        tensor = Tensor.of([0.0], (1,)).but(dtype=OPAQUE, device=self.device)
        return Array(self, tensor)

    def stream(self) -> int:
        """Return the stream on which the double pretends to work."""
        return 7

    def waited(self, array: Any) -> list[int]:
        """Return the streams that exports of an array were ordered before."""
        waited: list[int] = array.waited
        return waited

    # ---- Producer --------------------------------------------------------------------

    def announce(self, x: Array) -> tuple[int, int]:
        """Say where an array lies."""
        return x.tensor.device

    def export(
        self, x: Array, stream: Any, max_version: Any, dl_device: Any, copy: bool | None
    ) -> object:
        """Do what `__dlpack__` is for: check, copy if need be, wrap."""
        device = self.choose_device(x, dl_device)
        self.check_stream(x, stream, device)
        is_versioned = self.choose_version(max_version)
        if x.tensor.dtype not in NAMES:
            self.refuse(x)
        moved = device != x.tensor.device
        if moved and copy is False:
            raise BufferError(f"copy=False, but device {device} needs a copy")
        copying = self.choose_copy(moved, copy)
        if x.tensor.flags & READ_ONLY and not is_versioned and not copying:
            raise BufferError("a legacy capsule cannot say that memory is read-only")
        self.order(x, stream, moved, copying)
        source = copied(x.tensor).but(device=device) if copying else x.tensor
        return self.wrap(self.describe(source, NEWEST if is_versioned else None))

    def refuse(self, x: Array) -> None:
        """Refuse data that DLPack cannot describe."""
        raise BufferError(f"type {x.tensor.dtype} is not exported")

    def choose_device(self, x: Array, asked: Any) -> tuple[int, int]:
        """Return the device to export to."""
        if asked is None:
            return x.tensor.device
        kind, number = asked
        if (kind, number) not in (x.tensor.device, CPU):
            raise BufferError(f"device {asked} is out of reach")
        return kind, number

    def check_stream(self, x: Array, stream: Any, device: tuple[int, int]) -> None:
        """Refuse streams that mean nothing on this device."""
        if stream is None:
            return
        if not isinstance(stream, int) or stream < -1:
            raise ValueError(f"stream {stream!r} is no stream")
        if x.tensor.device == CPU or device == CPU:
            raise ValueError("the CPU has no streams")
        forbidden = (0,) if x.tensor.device[0] == CUDA[0] else (1, 2)
        if stream in forbidden:
            raise ValueError(f"stream {stream} is not defined here")

    def choose_version(self, asked: Any) -> bool:
        """Whether to answer in the versioned form."""
        if asked is None:
            return False
        if not isinstance(asked, tuple) or [type(n) for n in asked] != [int, int]:
            raise TypeError(f"max_version is a pair of int, not {asked!r}")
        return bool(asked[0] >= 1)

    def choose_copy(self, moved: bool, copy: bool | None) -> bool:
        """Whether to copy."""
        return moved or copy is True

    def order(self, x: Array, stream: Any, moved: bool, copying: bool) -> None:
        """Note what waits for the work that is still writing the array."""
        if x.tensor.device == CPU or stream == -1:
            return
        default = 1 if x.tensor.device[0] == CUDA[0] else 0
        x.waited.append(0 if moved else default if stream is None else stream)

    def describe(self, source: Tensor, version: tuple[int, int] | None) -> Tensor:
        """Lay down every field of the managed tensor."""
        return laid_down(source, version)

    def wrap(self, tensor: Tensor) -> object:
        """Make the capsule."""
        capsule, case = forge(tensor)
        self.cases.append(case)
        return capsule

    # ---- Consumer --------------------------------------------------------------------

    def from_dlpack(self, x: Any, /, *, device: Any = None, copy: Any = None) -> Any:
        """Import any object with `__dlpack__`."""
        return self.load(x, device, copy)

    def load(self, x: Any, device: Any, copy: bool | None) -> Any:
        """Ask, look, take."""
        announced, capsule, knows_keywords = self.ask(x, device, copy)
        found = self.open(capsule, knows_keywords)
        del capsule
        self.check_version(found)
        self.check_device(found, announced if device is None else CPU)
        self.check_tensor(found)
        array = self.take(found, x)
        if self.needs_copy(found, copy):
            fresh = copied(array.tensor)
            array = self.array_type(self, fresh.but(flags=0))
        return array

    def ask(
        self, x: Any, device: Any, copy: bool | None
    ) -> tuple[tuple[int, int], object, bool]:
        """Return the announced device, the capsule, and whether x knew the keywords."""
        announced = x.__dlpack_device__()
        return announced, *self.ask_capsule(x, self.keywords(device, copy))

    def keywords(self, device: Any, copy: bool | None) -> dict[str, Any]:
        """Return what `__dlpack__` is asked for."""
        keywords: dict[str, Any] = {"max_version": NEWEST}
        if device is not None:
            keywords["dl_device"] = CPU
        if copy is not None:
            keywords["copy"] = copy
        if self.device != CPU:
            keywords["stream"] = self.stream()
        return keywords

    def ask_capsule(self, x: Any, keywords: dict[str, Any]) -> tuple[object, bool]:
        """Call `__dlpack__`; after a TypeError, ask again as an old producer knows it.

        If that is a TypeError too, the first one arrives.
        """
        try:
            return x.__dlpack__(**keywords), True
        except TypeError as error:
            first = error
        try:
            return x.__dlpack__(), False
        except TypeError:
            raise first from None
        finally:
            del first  # its traceback has this frame, and would keep `x` alive

    def open(self, capsule: object, knows_keywords: bool) -> Raw:
        """Look into the capsule, if it is one and still unused."""
        found = self.raw_type(capsule)
        if found.name not in FRESH_NAMES:
            raise BufferError(f"a capsule named {found.name!r} cannot be taken")
        return found

    def check_version(self, found: Raw) -> None:
        """Refuse a struct whose layout is not known."""
        if found.version is not None and found.version[0] != 1:
            raise BufferError(f"DLPack version {found.version} is not known")

    def check_device(self, found: Raw, announced: tuple[int, int]) -> None:
        """Refuse memory that cannot be used, or that is not where it was said to be."""
        if found.device[0] not in DEVICE_TYPES or found.device != self.device:
            raise BufferError(f"device {found.device} cannot be used here")
        if found.device != announced:
            raise BufferError(f"the capsule is on {found.device}, not on {announced}")

    def check_tensor(self, found: Raw) -> None:
        """Refuse what cannot be."""
        self.check_dtype(found)
        if not 0 <= found.ndim <= 64:
            raise BufferError(f"ndim {found.ndim}")
        shape = found.shape if found.ndim else ()
        if any(extent < 0 for extent in shape):
            raise BufferError(f"shape {shape}")
        if math.prod(shape) * found.dtype[1] // 8 >= LARGEST:
            raise BufferError(f"shape {shape} is too large")
        self.check_data(found, math.prod(shape))

    def check_dtype(self, found: Raw) -> None:
        """Refuse types that the double does not have."""
        if found.dtype not in NAMES:
            raise BufferError(f"(code, bits, lanes) = {found.dtype}")

    def check_data(self, found: Raw, size: int) -> None:
        """Refuse elements that lie nowhere."""
        if size and not found.data:
            raise BufferError(f"data is NULL, but there are {size} elements")

    def take(self, found: Raw, x: Any) -> Array:
        """Take the tensor; the capsule is used from here on."""
        tensor = self.imported(found)
        self.use_up(found)
        return self.array_type(self, tensor, self.owner_type(found))

    def imported(self, found: Raw) -> Tensor:
        """Return the layout of an imported array."""
        shape = found.shape if found.ndim else ()
        strides = found.strides if found.ndim else ()
        return Tensor(
            data=found.first,
            shape=shape,
            strides=row_major(shape) if strides is None else strides,
            dtype=found.dtype,
            device=found.device,
            flags=found.flags & READ_ONLY,
        )

    def use_up(self, found: Raw) -> None:
        """Mark the capsule as used."""
        found.take()

    def needs_copy(self, found: Raw, copy: bool | None) -> bool:
        """Whether the memory may be the producer's although a copy was asked for."""
        return copy is True and not found.flags & IS_COPIED


def _object_over(address: int, owns: bool) -> Array:
    """Make an array over a tensor, for the exchange table."""
    found, library = Raw.at(address), Library()
    library.check_tensor(found)
    return Array(library, library.imported(found), Owner(found) if owns else None)


exchange.set_hooks(_object_over, tensor_like)


class CudaLibrary(Library):
    """The double with arrays that are said to lie on a CUDA device."""

    device = CUDA


class RocmLibrary(Library):
    """The double with arrays that are said to lie on a ROCm device."""

    device = ROCM


#: The double that shows a rule kept; for all other rules it is `Library`.
DOUBLES: dict[int, type[Library]] = {
    11: CudaLibrary,
    15: CudaLibrary,
    17: CudaLibrary,
    18: RocmLibrary,
    19: CudaLibrary,
    20: CudaLibrary,
    58: CudaLibrary,
}
