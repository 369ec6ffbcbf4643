"""Producers that break exactly one rule, 1 to 36. Next: violators_consumer.py."""

from __future__ import annotations

from typing import Any

from refarray.testing.forge import CPU, DTYPES, READ_ONLY, Tensor
from refarray.testing.library import Array, CudaLibrary, Library, RocmLibrary


class ArgumentArray(Array):
    """Its `__dlpack_device__` wants an argument."""

    def __dlpack_device__(self, api: str) -> tuple[int, int]:  # type: ignore[override]
        return self.library.announce(self)


class Violator1(Library):
    """`__dlpack_device__` wants an argument."""

    array_type = ArgumentArray


class Violator2(Library):
    """The device id is None."""

    def announce(self, x: Array) -> Any:
        """Return half a pair."""
        return x.tensor.device[0], None


class Violator3(Library):
    """What cannot be exported raises RuntimeError in `__dlpack_device__`."""

    def announce(self, x: Array) -> tuple[int, int]:
        """Raise for the one kind of array."""
        if x.tensor.dtype == (3, 64, 1):
            raise RuntimeError("no device")
        return x.tensor.device


class PositionalArray(Array):
    """Its `__dlpack__` takes positional arguments."""

    # pyright counts a keyword that may also be positional as missing.
    def __dlpack__(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        stream: Any = None,
        max_version: Any = None,
        dl_device: Any = None,
        copy: bool | None = None,
    ) -> object:
        return self.library.export(self, stream, max_version, dl_device, copy)


class Violator4(Library):
    """`__dlpack__` takes positional arguments."""

    array_type = PositionalArray


class Violator5(Library):
    """A versioned capsule although nobody asked for one."""

    def choose_version(self, asked: Any) -> bool:
        """Answer None like (1, 0)."""
        return asked is None or super().choose_version(asked)


class Violator6(Library):
    """Versioned only for consumers that are as new as the producer."""

    def choose_version(self, asked: Any) -> bool:
        """Compare whole versions where the major one counts."""
        return super().choose_version(asked) and bool(asked >= (1, 3))


class Violator7(Library):
    """A consumer that knows a later major version is refused."""

    def choose_version(self, asked: Any) -> bool:
        """Insist on the own major version."""
        if super().choose_version(asked) and asked[0] > 1:
            raise BufferError(f"version {asked} is not known")
        return super().choose_version(asked)


class Violator8(Library):
    """A versioned capsule for a consumer that knows only major version 0."""

    def choose_version(self, asked: Any) -> bool:
        """Answer anything but None in the versioned form."""
        return super().choose_version(asked) or asked is not None


class Violator9(Library):
    """A malformed version counts as none."""

    def choose_version(self, asked: Any) -> bool:
        """Ignore what is not understood."""
        try:
            return super().choose_version(asked)
        except TypeError:
            return False


class Violator10(Library):
    """A device out of reach is ignored."""

    def choose_device(self, x: Array, asked: Any) -> tuple[int, int]:
        """Stay where the array is."""
        try:
            return super().choose_device(x, asked)
        except BufferError:
            return x.tensor.device


class Violator11(CudaLibrary):
    """There is no way to CPU memory."""

    def choose_device(self, x: Array, asked: Any) -> tuple[int, int]:
        """Refuse all devices but the own."""
        if asked == CPU:
            raise BufferError("the CPU is out of reach")
        return super().choose_device(x, asked)


class Violator12(Library):
    """`copy=True` is ignored."""

    def choose_copy(self, moved: bool, copy: bool | None) -> bool:
        """Copy only what moves."""
        return moved


class Violator13(Library):
    """`copy=False` copies."""

    def choose_copy(self, moved: bool, copy: bool | None) -> bool:
        """Take any wish for a wish to copy."""
        return moved or copy is not None


class Violator14(Library):
    """Without a wish everything is copied."""

    def choose_copy(self, moved: bool, copy: bool | None) -> bool:
        """Copy unless forbidden."""
        return copy is not False


class Violator15(CudaLibrary):
    """Copies are made on the default stream."""

    def order(self, x: Array, stream: Any, moved: bool, copying: bool) -> None:
        """Forget the stream when a copy is made."""
        super().order(x, None if copying else stream, moved, copying)


class Violator16(Library):
    """The CPU takes streams, and ignores them."""

    def check_stream(self, x: Array, stream: Any, device: tuple[int, int]) -> None:
        """Accept every integer from -1 on."""
        if not isinstance(stream, int) or stream < -1:
            super().check_stream(x, stream, device)


class Violator17(CudaLibrary):
    """On CUDA, None means the per-thread default stream."""

    def order(self, x: Array, stream: Any, moved: bool, copying: bool) -> None:
        """Take 2 for the default."""
        super().order(x, 2 if stream is None else stream, moved, copying)


class Violator18(RocmLibrary):
    """On ROCm, 1 and 2 are taken as on CUDA."""

    def check_stream(self, x: Array, stream: Any, device: tuple[int, int]) -> None:
        """Let two streams through."""
        if stream not in (1, 2) or device == CPU:
            super().check_stream(x, stream, device)


class Violator19(CudaLibrary):
    """On the way to the CPU nobody waits."""

    def order(self, x: Array, stream: Any, moved: bool, copying: bool) -> None:
        """Forget the host."""
        if not moved:
            super().order(x, stream, moved, copying)


class Violator20(CudaLibrary):
    """A stream of -2 is taken."""

    def check_stream(self, x: Array, stream: Any, device: tuple[int, int]) -> None:
        """Let one number too many through."""
        if stream != -2:
            super().check_stream(x, stream, device)


class Violator21(Library):
    """What cannot be exported raises RuntimeError."""

    def refuse(self, x: Array) -> None:
        """Raise the wrong exception."""
        raise RuntimeError(f"type {x.tensor.dtype} is not exported")


class ForgivingArray(Array):
    """Its `__dlpack__` swallows any keyword."""

    def __dlpack__(self, **keywords: Any) -> object:
        known = ("stream", "max_version", "dl_device", "copy")
        return super().__dlpack__(**{k: keywords[k] for k in known if k in keywords})


class Violator22(Library):
    """Unknown keywords are ignored."""

    array_type = ForgivingArray


class Violator23(Library):
    """Read-only data is exported without the flag."""

    def describe(self, source: Tensor, version: tuple[int, int] | None) -> Tensor:
        """Drop the flag."""
        tensor = super().describe(source, version)
        return tensor.but(flags=tensor.flags & ~READ_ONLY)


class Violator24(Library):
    """Strides are NULL."""

    def describe(self, source: Tensor, version: tuple[int, int] | None) -> Tensor:
        """Leave the strides out."""
        return super().describe(source, version).but(strides=None)


class Violator25(Library):
    """The stride of an axis with one element is whatever it was."""

    def describe(self, source: Tensor, version: tuple[int, int] | None) -> Tensor:
        """Keep the strides as they are."""
        return super().describe(source, version).but(strides=source.strides)


class Violator26(Library):
    """Bool is exported as uint8."""

    def describe(self, source: Tensor, version: tuple[int, int] | None) -> Tensor:
        """Take one type for another."""
        tensor = super().describe(source, version)
        if tensor.dtype == DTYPES["bool"][0]:
            return tensor.but(dtype=DTYPES["uint8"][0])
        return tensor


class ShortLivedArray(Array):
    """Its memory goes with it."""

    def __del__(self) -> None:
        if self.owner is None:
            self.library.write(self, 0)


class Violator27(Library):
    """The memory dies with the array, exported or not."""

    array_type = ShortLivedArray


class Violator28(Library):
    """The version was never released."""

    def describe(self, source: Tensor, version: tuple[int, int] | None) -> Tensor:
        """Invent a minor version."""
        return super().describe(source, None if version is None else (1, 77))


class Violator29(Library):
    """Each capsule has its own copy of the name."""

    def wrap(self, tensor: Tensor) -> object:
        """Copy the name."""
        return super().wrap(tensor.but(shared_name=False))


class Violator30(Library):
    """The destructor calls the deleter of a used capsule too."""

    def wrap(self, tensor: Tensor) -> object:
        """Choose that destructor."""
        return super().wrap(tensor.but(destructor="ignores name"))


class Violator31(Library):
    """A capsule that nobody takes is never freed."""

    def wrap(self, tensor: Tensor) -> object:
        """Choose that destructor."""
        return super().wrap(tensor.but(destructor="leaks"))


class Violator32(Library):
    """The destructor clears a pending exception."""

    def wrap(self, tensor: Tensor) -> object:
        """Choose that destructor."""
        return super().wrap(tensor.but(destructor="loses error"))


class Violator33(Library):
    """The deleter touches Python without the GIL."""

    def wrap(self, tensor: Tensor) -> object:
        """Choose that deleter."""
        return super().wrap(tensor.but(deleter="needs GIL"))


class Violator34(Library):
    """The deleter takes the GIL of an interpreter that may be gone."""

    def wrap(self, tensor: Tensor) -> object:
        """Choose that deleter."""
        return super().wrap(tensor.but(deleter="takes GIL"))


class Violator35(Library):
    """The destructor calls the deleter without looking at it."""

    def wrap(self, tensor: Tensor) -> object:
        """Choose that destructor."""
        return super().wrap(tensor.but(destructor="trusts deleter"))


class SameCapsuleArray(Array):
    """Its capsules are made once."""

    made: dict[bool, object] | None = None

    def __dlpack__(self, **keywords: Any) -> object:
        made = self.made = self.made or {}
        version = keywords.get("max_version")
        if set(keywords) - {"max_version"} or version not in (None, (1, 3)):
            return super().__dlpack__(**keywords)
        is_versioned = version is not None
        if is_versioned not in made:
            made[is_versioned] = super().__dlpack__(**keywords)
        return made[is_versioned]


class Violator36(Library):
    """The same capsule is returned again and again."""

    array_type = SameCapsuleArray
