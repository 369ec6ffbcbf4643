"""Producers for the checks of consumers: one that does all, and some that do little.

Next: adapters.py.
"""

from __future__ import annotations

import math
from typing import Any

from refarray.testing.forge import (
    CPU,
    IS_COPIED,
    NAMES,
    READ_ONLY,
    Case,
    Raw,
    Tensor,
    forge,
    row_major,
)


class Producer:
    """An object with the whole DLPack producer protocol over a forged tensor.

    It answers every keyword, notes what it was asked in `calls`, keeps every case in
    `cases` and, if asked to, each capsule in `capsules`.
    """

    def __init__(
        self,
        tensor: Tensor,
        *,
        announce: tuple[int, int] | None = None,
        legacy_only: bool = False,
        versioned_always: bool = False,
        ignore_copy: bool = False,
        keep_capsules: bool = False,
    ) -> None:
        self.tensor = tensor
        self.announced = tensor.device if announce is None else announce
        self.legacy_only = legacy_only
        self.versioned_always = versioned_always
        self.ignore_copy = ignore_copy
        self.keep_capsules = keep_capsules
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.cases: list[Case] = []
        self.capsules: list[object] = []

    @property
    def deleter_calls(self) -> list[int]:
        """How often each forged tensor's deleter was called."""
        return [case.deleter_calls for case in self.cases]

    def asked(self, keyword: str) -> list[Any]:
        """What each `__dlpack__` call gave for this keyword."""
        return [kw.get(keyword) for name, kw in self.calls if name == "__dlpack__"]

    def __dlpack_device__(self) -> tuple[int, int]:
        self.calls.append(("__dlpack_device__", {}))
        return self.announced

    def __dlpack__(self, **keywords: Any) -> object:
        self.calls.append(("__dlpack__", keywords))
        unknown = set(keywords) - {"stream", "max_version", "dl_device", "copy"}
        if unknown:
            raise TypeError(f"__dlpack__() got unexpected keywords {sorted(unknown)}")
        return self.export(**keywords)

    def export(
        self,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """Forge what was asked for."""
        tensor = self.tensor
        asked_versioned = max_version is not None and max_version[0] >= 1
        if self.legacy_only or not (asked_versioned or self.versioned_always):
            tensor = tensor.but(version=None)
        moved = dl_device is not None and dl_device != tensor.device
        if moved and copy is False:
            raise BufferError(f"copy=False, but device {dl_device} needs a copy")
        if moved:
            tensor = tensor.but(device=dl_device)
        if (moved or copy) and not self.ignore_copy:
            tensor = copied(tensor)
        capsule, case = forge(tensor)
        self.cases.append(case)
        if self.keep_capsules:
            self.capsules.append(capsule)
        return capsule


def copied(tensor: Tensor) -> Tensor:
    """Return a compact copy of a well-formed tensor, marked as a copy."""
    capsule, _ = forge(tensor.but(device=CPU))
    copy = Tensor.of(Raw(capsule).values(), tensor.shape or (), NAMES[tensor.dtype])
    return tensor.but(
        data=copy.data,
        strides=copy.strides,
        byte_offset=0,
        flags=tensor.flags & ~READ_ONLY | IS_COPIED,
    )


def laid_down(source: Tensor, version: tuple[int, int] | None) -> Tensor:
    """Return every field as it should be exported."""
    shape, strides = source.shape or (), source.strides or ()
    compact = row_major(shape)
    strides = tuple(
        c if n == 1 else s for n, s, c in zip(shape, strides, compact, strict=True)
    )
    data = source.data if math.prod(shape) else None
    return source.but(data=data, strides=strides, version=version)


class Old:
    """A producer from before DLPack 1.0: `__dlpack__` knows no keyword but stream."""

    def __init__(self, modern: Producer) -> None:
        self.modern = modern

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.modern.__dlpack_device__()

    def __dlpack__(self, *, stream: Any = None) -> object:
        return self.modern.__dlpack__()


class Failing:
    """A producer whose methods raise."""

    def __init__(self, error: Exception, in_device: bool = False) -> None:
        self.error, self.in_device, self.asked = error, in_device, False

    def __dlpack_device__(self) -> tuple[int, int]:
        self.asked = True
        if self.in_device:
            raise self.error
        return (1, 0)

    def __dlpack__(self, **keywords: Any) -> object:
        raise self.error


class Returning:
    """A producer that returns whatever it was given."""

    def __init__(self, thing: object) -> None:
        self.thing = thing

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(self, **keywords: Any) -> object:
        return self.thing
