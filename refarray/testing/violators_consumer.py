"""Consumers that break exactly one rule, 37 to 60. Next: violators_exchange.py."""

from __future__ import annotations

from typing import Any

from refarray.testing import _forge
from refarray.testing.forge import NAMES, READ_ONLY, Raw, Tensor, row_major
from refarray.testing.library import Array, CudaLibrary, Library, Owner


class Violator37(Library):
    """`device` and `copy` are positional."""

    # pyright counts a keyword that may also be positional as missing.
    def from_dlpack(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, x: Any, /, device: Any = None, copy: Any = None
    ) -> Any:
        """Import with a looser signature."""
        return self.load(x, device, copy)


class Violator38(Library):
    """An object without the methods raises TypeError."""

    def ask(
        self, x: Any, device: Any, copy: bool | None
    ) -> tuple[tuple[int, int], object, bool]:
        """Raise the wrong exception."""
        if not hasattr(x, "__dlpack__"):
            raise TypeError(f"{type(x).__name__} has no DLPack")
        return super().ask(x, device, copy)


class Violator39(Library):
    """An exception it does not know becomes a RuntimeError."""

    def ask_capsule(self, x: Any, keywords: dict[str, Any]) -> tuple[object, bool]:
        """Wrap exceptions."""
        try:
            return super().ask_capsule(x, keywords)
        except (BufferError, TypeError, AttributeError):
            raise
        except Exception as error:
            raise RuntimeError("the producer failed") from error


class Violator40(Library):
    """The device is asked last."""

    def ask(
        self, x: Any, device: Any, copy: bool | None
    ) -> tuple[tuple[int, int], object, bool]:
        """Ask the other way round."""
        capsule, knows_keywords = self.ask_capsule(x, self.keywords(device, copy))
        return x.__dlpack_device__(), capsule, knows_keywords


class Violator41(Library):
    """A TypeError of the producer becomes a BufferError."""

    def ask_capsule(self, x: Any, keywords: dict[str, Any]) -> tuple[object, bool]:
        """Replace TypeErrors."""
        try:
            return super().ask_capsule(x, keywords)
        except TypeError as error:
            raise BufferError("the producer cannot be understood") from error


class Violator42(Library):
    """The version is never looked at."""

    def check_version(self, found: Raw) -> None:
        """Accept any version."""


class Violator43(Library):
    """From an old producer only the legacy form is taken."""

    def open(self, capsule: object, knows_keywords: bool) -> Raw:
        """Insist on what was asked for."""
        found = super().open(capsule, knows_keywords)
        if not knows_keywords and not found.legacy:
            raise BufferError("a versioned capsule was not asked for")
        return found


class Violator44(Library):
    """The capsule keeps its name and loses its destructor instead."""

    def use_up(self, found: Raw) -> None:
        """Disarm the capsule."""
        _forge.clear_destructor(found.capsule)
        found.capsule = None


class ForgetfulOwner(Owner):
    """It never calls the deleter."""

    def __del__(self) -> None:
        pass


class Violator45(Library):
    """The deleter is never called."""

    owner_type = ForgetfulOwner


class Violator46(Library):
    """The byte offset is ignored."""

    def imported(self, found: Raw) -> Tensor:
        """Start at the data pointer."""
        return super().imported(found).but(data=found.data)


class Violator47(Library):
    """Strides that are NULL are refused."""

    def check_tensor(self, found: Raw) -> None:
        """Ask for strides."""
        super().check_tensor(found)
        if found.ndim and found.strides is None:
            raise BufferError("strides are NULL")


class Violator48(Library):
    """Strides are ignored."""

    def imported(self, found: Raw) -> Tensor:
        """Take everything for row-major."""
        tensor = super().imported(found)
        return tensor.but(strides=row_major(tensor.shape or ()))


class Violator49(Library):
    """A shape that is NULL is refused, also without axes."""

    def check_tensor(self, found: Raw) -> None:
        """Ask for a shape."""
        super().check_tensor(found)
        if not found.managed.dl_tensor.shape:
            raise BufferError("shape is NULL")


class Violator50(Library):
    """Vectors are taken for numbers."""

    def check_dtype(self, found: Raw) -> None:
        """Forget the lanes."""
        if (*found.dtype[:2], 1) not in NAMES:
            super().check_dtype(found)


class Violator51(Library):
    """Elements may lie nowhere."""

    def check_data(self, found: Raw, size: int) -> None:
        """Accept NULL."""


class Violator52(Library):
    """Read-only memory is refused."""

    def check_tensor(self, found: Raw) -> None:
        """Ask for writable memory."""
        super().check_tensor(found)
        if found.flags & READ_ONLY:
            raise BufferError("read-only")


class Violator53(Library):
    """Flags that it does not know are refused."""

    def check_tensor(self, found: Raw) -> None:
        """Ask for known flags."""
        super().check_tensor(found)
        if found.flags >> 3:
            raise BufferError(f"flags {found.flags:#x}")


class Violator54(Library):
    """The announced device counts, whatever the capsule says."""

    def check_device(self, found: Raw, announced: tuple[int, int]) -> None:
        """Look at the wrong device."""
        if announced != self.device:
            raise BufferError(f"device {announced} cannot be used here")


class Violator55(Library):
    """`device` is not passed on."""

    def keywords(self, device: Any, copy: bool | None) -> dict[str, Any]:
        """Forget the device."""
        return super().keywords(None, copy)


class Violator56(Library):
    """A producer that was asked to copy is trusted."""

    def needs_copy(self, found: Raw, copy: bool | None) -> bool:
        """Look at no flag."""
        return False


class Violator57(Library):
    """`copy=False` copies."""

    def needs_copy(self, found: Raw, copy: bool | None) -> bool:
        """Take any wish for a wish to copy."""
        return copy is not None


class Violator58(CudaLibrary):
    """On CUDA the producer is not told the stream."""

    def keywords(self, device: Any, copy: bool | None) -> dict[str, Any]:
        """Forget the stream."""
        return {**super().keywords(device, copy), "stream": None}


class Violator59(Library):
    """Misaligned memory is refused."""

    def check_data(self, found: Raw, size: int) -> None:
        """Ask for alignment."""
        super().check_data(found, size)
        if found.first % (found.dtype[1] // 8):
            raise BufferError(f"data {found.first:#x} is misaligned")


class Violator60(Library):
    """The producing object is kept alive."""

    def take(self, found: Raw, x: Any) -> Array:
        """Hold on to it."""
        array = super().take(found, x)
        array.owner = (array.owner, x)
        return array
