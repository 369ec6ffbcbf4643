"""Tensors that a consumer must read right although they are unusual, or must refuse.

The checks of rules_contents.py import each, and the doubles of doubles.py hand each
out. Next: rules_device.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from refarray.testing.forge import (
    CPU,
    CUDA,
    NAMES,
    READ_ONLY,
    Tensor,
    allocate,
    itemsize,
    row_major,
    store,
)
from refarray.testing.samples import VALUES

BIG = (1 << 40, 1 << 40)


class Odd(NamedTuple):
    """One such tensor."""

    rule: int
    name: str
    tensor: Tensor
    #: What it says in row-major order; None: nobody can read it, so it must be refused.
    values: list[Any] | None = None
    #: The device that is announced, if not the tensor's own.
    announce: tuple[int, int] | None = None
    #: Whether BufferError is right too.
    may_refuse: bool = False
    #: Whether it comes in the versioned form, whatever was asked for.
    always_versioned: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape; that of a tensor without axes may be NULL."""
        return self.tensor.shape or ()


def odd(good: Tensor) -> Iterator[Odd]:
    """Derive them from a row-major tensor, shape (2, 3), of the values 1 to 6."""
    yield from _versions(good)
    yield from _layouts(good)
    yield from _impossible(good)
    yield Odd(52, "flags=READ_ONLY", good.but(flags=READ_ONLY), VALUES)
    unknown = good.but(flags=1 << 40 | 1 << 63)
    yield Odd(53, "flags that nobody has defined", unknown, VALUES)
    yield from _devices(good)


def of_rule(rule: int, good: Tensor) -> Iterator[Odd]:
    """Choose those that one rule is about."""
    return (case for case in odd(good) if case.rule == rule)


def _versions(good: Tensor) -> Iterator[Odd]:
    later = good.but(version=(2, 0))
    yield Odd(42, "version (2, 0), ndim 2", later, always_versioned=True)
    # Past the flags a later version may look like anything.
    strange = later.but(ndim=-7, dtype=(99, 99, 99))
    yield Odd(42, "version (2, 0), ndim -7", strange, always_versioned=True)
    yield Odd(42, "capsule of version (1, 99)", good.but(version=(1, 99)), VALUES)
    yield Odd(45, "deleter NULL", good.but(deleter=None), VALUES)


def _layouts(good: Tensor) -> Iterator[Odd]:
    size = itemsize(NAMES[good.dtype])
    part = good.but(shape=(4,), strides=(1,), byte_offset=2 * size)
    yield Odd(46, f"byte_offset={2 * size}", part, VALUES[2:])
    for version in (None, (1, 0), (1, 1), (1, 3)):
        null = good.but(strides=None, version=version)
        form = "legacy" if version is None else f"version {version}"
        yield Odd(47, f"strides NULL, {form}", null, VALUES)
    for name, shape, strides, skip, values in (
        ("column-major", (2, 3), (1, 2), 0, [1, 3, 5, 2, 4, 6]),
        ("gaps", (2, 2), (3, 2), 0, [1, 3, 4, 6]),
        ("stride 0", (2, 3), (0, 1), 0, [1, 2, 3, 1, 2, 3]),
        ("negative strides", (2, 3), (-3, -1), 5, [6, 5, 4, 3, 2, 1]),
        ("one row, stride 77777", (1, 3), (77777, 1), 0, [1, 2, 3]),
        ("one row, stride -5", (1, 3), (-5, 1), 0, [1, 2, 3]),
    ):
        data = (good.data or 0) + skip * size
        layout = good.but(shape=shape, strides=strides, data=data)
        yield Odd(48, name, layout, values, may_refuse=True)
    scalar = good.but(shape=None, strides=None)
    yield Odd(49, "ndim 0, shape and strides NULL", scalar, VALUES[:1])
    empty = good.but(data=None, shape=(0, 3), strides=(3, 1))
    yield Odd(49, "shape (0, 3), data NULL", empty, [])
    address = allocate(len(VALUES) * size, misaligned=1)
    for i, value in enumerate(VALUES):
        store(address + i * size, NAMES[good.dtype], int(value))
    yield Odd(59, "data at an odd address", good.but(data=address), VALUES)


def _impossible(good: Tensor) -> Iterator[Odd]:
    for dtype in (
        (200, 64, 1),
        (2, 24, 1),
        (0, 7, 1),
        (6, 1, 1),
        (3, 64, 1),
        (2, 64, 4),
        (2, 64, 0),
    ):
        yield Odd(50, f"(code, bits, lanes) = {dtype}", good.but(dtype=dtype))
    yield Odd(50, "device type 99", good.but(device=(99, 0)))
    yield Odd(51, "ndim -1", good.but(ndim=-1))
    yield Odd(51, "shape (-1, 3)", good.but(shape=(-1, 3)))
    yield Odd(51, "shape (2, -3)", good.but(shape=(2, -3)))
    yield Odd(51, "shape (2**40, 2**40)", good.but(shape=BIG, strides=row_major(BIG)))
    yield Odd(51, "shape (2**61,)", good.but(shape=(1 << 61,), strides=(1,)))
    yield Odd(51, "data NULL with 6 elements", good.but(data=None))


def _devices(good: Tensor) -> Iterator[Odd]:
    for announced, found in ((CPU, CUDA), (CUDA, CPU), (CPU, (3, 0))):
        name = f"announced {announced}, capsule on {found}"
        yield Odd(54, name, good.but(device=found), announce=announced)
