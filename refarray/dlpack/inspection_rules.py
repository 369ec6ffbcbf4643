"""Which rules of DLPack one managed tensor breaks, as far as it can be seen by looking.

The numbers are those of docs/reference/rules.md; `refarray.testing.rules` has a check
for each of them, which can do what looking cannot: consume, write, drop, wait.

Next: `inspection_drawing.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from refarray._base.devices import DeviceType
from refarray._base.layout import MAX_NBYTES, MAX_NDIM, row_major_strides, shown
from refarray.dlpack.consumer import VERSION
from refarray.dlpack.inspection_memory import Description, named
from refarray.dlpack.producer import plain_pair
from refarray.dlpack.structs import TypeCode

_WITHOUT_ID = (DeviceType.kDLCPU, DeviceType.kDLCUDAHost, DeviceType.kDLROCMHost)
_WHOLE = (1, 2, 4, 8, 16, 32, 64, 128)
_BITS = {
    TypeCode.kDLInt: _WHOLE,
    TypeCode.kDLUInt: _WHOLE,
    TypeCode.kDLFloat: (16, 32, 64, 80, 96, 128),
    TypeCode.kDLBfloat: (16,),
    TypeCode.kDLComplex: (32, 64, 128, 160, 192, 256),
    TypeCode.kDLBool: (8,),
    TypeCode.kDLFloat6_e2m3fn: (6,),
    TypeCode.kDLFloat6_e3m2fn: (6,),
    TypeCode.kDLFloat4_e2m1fn: (4,),
}


class Broken(NamedTuple):
    """A rule that is broken: its number, "must" or "should", and what was seen."""

    rule: int
    level: str
    seen: str

    def __str__(self) -> str:
        return f"rule {self.rule} ({self.level}): {self.seen}"


def by_version(version: tuple[int, int] | None) -> Iterator[Broken]:
    """Check the version in the struct; None is the legacy form, which has none."""
    if version is not None and not (1, 0) <= version <= VERSION:
        yield Broken(
            28,
            "must",
            f"version {version[0]}.{version[1]} is none that refarray knows; those are "
            f"1.0 to {VERSION[0]}.{VERSION[1]}",
        )


def by_tensor(it: Description, version: tuple[int, int] | None) -> Iterator[Broken]:
    """Check the tensor itself."""
    yield from _device(it)
    yield from _dtype(it)
    yield from _layout(it, version)
    if it.size:
        yield from _memory(it)
    elif it.size == 0 and it.data:
        yield Broken(24, "should", "data is not NULL, though there are no elements")


def _device(it: Description) -> Iterator[Broken]:
    device_type, device_id = it.device
    if device_type not in set(DeviceType):
        yield Broken(2, "must", f"device_type {device_type} is none of DLPack's")
    elif device_type in _WITHOUT_ID and device_id:
        name = DeviceType(device_type).name
        yield Broken(2, "must", f"device_id is {device_id}; for {name} it is 0")


def _dtype(it: Description) -> Iterator[Broken]:
    code, bits, lanes = it.dtype
    triple = f"(code, bits, lanes) = {it.dtype}"
    if code not in set(TypeCode):
        yield Broken(26, "must", f"{triple}: DLPack has no such code")
        return
    float8 = TypeCode(code).name.startswith("kDLFloat8")
    allowed = (8,) if float8 else _BITS.get(TypeCode(code))
    if allowed and bits not in allowed:
        kind, known = TypeCode(code).name, " or ".join(map(str, allowed))
        yield Broken(26, "must", f"{triple}: {kind} has {known} bits")
    if not lanes:
        yield Broken(26, "must", f"{triple}: an element has at least one lane")


def _layout(it: Description, version: tuple[int, int] | None) -> Iterator[Broken]:
    if it.ndim < 0:
        yield Broken(24, "must", f"ndim is {it.ndim}; a consumer refuses it (rule 51)")
    if it.ndim <= 0:
        return
    for name, where, found in (
        ("shape", it.shape_address, it.shape),
        ("strides", it.strides_address, it.strides),
    ):
        if not where and (name == "shape" or (version or (0, 0)) >= (1, 2)):
            since = (
                "" if name == "shape" else ", which is allowed before DLPack 1.2 only"
            )
            yield Broken(24, "must", f"{name} is NULL and ndim is {it.ndim}{since}")
        elif where and it.shape_address and found is None and it.ndim <= MAX_NDIM:
            yield Broken(24, "must", f"{name} points to {where:#x}, where nothing is")
    if it.shape is not None and it.size is None:
        yield Broken(
            24, "must", f"shape is {list(it.shape)}; a consumer refuses it (rule 51)"
        )


def _memory(it: Description) -> Iterator[Broken]:
    if not it.data:
        elements = "element" if it.size == 1 else "elements"
        yield Broken(
            24,
            "must",
            f"data is NULL, though there are {it.size} {elements}; a consumer refuses "
            "it (rule 51)",
        )
        return
    size, reach, shape = it.itemsize, it.reach, it.shape or ()
    if size is None or reach is None:
        return
    low, high = reach
    if (it.size or 0) * size > MAX_NBYTES or low < 0 or high > 2**64:
        yield Broken(
            24,
            "must",
            "the elements reach further than memory does; a consumer refuses them "
            "(rule 51)",
        )
    # The two parts of a complex number are aligned each by itself.
    whole = size // 2 if it.dtype[0] == TypeCode.kDLComplex else size
    if whole in _WHOLE and it.first % whole:
        yield Broken(
            59,
            "should",
            f"the first element is at {it.first:#x}, which is no multiple of {whole}",
        )
    yield from _single_indices(it, shape)


def _single_indices(it: Description, shape: tuple[int, ...]) -> Iterator[Broken]:
    compact = row_major_strides(shape)
    odd = {
        axis: stride
        for axis, (n, stride) in enumerate(zip(shape, it.strides or (), strict=False))
        if n == 1 and stride not in (1, compact[axis])
    }
    if odd:
        found = ", ".join(f"axis {axis}: {stride}" for axis, stride in odd.items())
        wanted = ", ".join(str(compact[axis]) for axis in odd)
        yield Broken(
            25,
            "should",
            f"strides where there is one index ({found}) are not those of a compact "
            f"array ({wanted}); some consumers take it for a strided one",
        )


def by_answer(
    takes_version: bool, legacy: bool, announced: object, device: tuple[int, int] | None
) -> Iterator[Broken]:
    """Check how an object answered: its two methods against the capsule.

    `announced` is what `__dlpack_device__` returned, or the exception that it raised;
    `device` is None where the tensor could not be read.
    """
    asked = f"max_version={VERSION}"
    if not takes_version:
        yield Broken(4, "must", f"__dlpack__ does not take {asked}")
    elif legacy:
        yield Broken(6, "must", f"__dlpack__({asked}) returned a legacy capsule")
    announced = plain_pair(announced)
    if isinstance(announced, Exception):
        yield Broken(1, "must", f"__dlpack_device__ raised {shown(announced)}")
    elif not (
        isinstance(announced, tuple)
        and len(announced) == 2
        and all(isinstance(part, int) for part in announced)
    ):
        yield Broken(
            2,
            "must",
            f"__dlpack_device__ returned {shown(announced)}, no pair of integers",
        )
    elif device is not None and tuple(map(int, announced)) != device:
        yield Broken(
            54,
            "must",
            f"__dlpack_device__ announced {_place(announced)}; the capsule says "
            f"{_place(device)}",
        )


def _place(device: tuple[int, ...]) -> str:
    return f"{named(int(device[0]), DeviceType)}, {shown(int(device[1]))}"
