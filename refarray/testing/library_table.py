"""The exchange table of the test double, and the steps behind it. Next: library.py.

They go their own way past `__dlpack__`, so that a fault planted there stays there.
"""

from __future__ import annotations

import math
from typing import Any

from refarray.testing import exchange
from refarray.testing.forge import (
    DEVICE_TYPES,
    NAMES,
    NEWEST,
    Case,
    Raw,
    Tensor,
    ffi,
    forge,
)
from refarray.testing.producers import laid_down


class ArrayWithTable:
    """An array with the exchange table; it hands on to its library."""

    __dlpack_c_exchange_api__: Any = exchange.capsule(exchange.table())
    library: Any

    def exchange_capsule(self) -> object:
        """Export; called by the table."""
        return self.library.exchange_export(self)

    def exchange_tensor(self) -> int:
        """Return the address of a DLTensor, lent; called by the table."""
        address: int = self.library.exchange_lend(self)
        return address


class LibraryWithTable:
    """What the double does when its exchange table is called."""

    cases: list[Case]

    def exchange_export(self, x: Any) -> object:
        """Export without synchronisation."""
        self.exchange_check(x)
        x.owner = x.owner or self  # the memory is no longer the array's alone
        capsule, case = forge(laid_down(x.tensor, NEWEST))
        self.cases.append(case)
        return capsule

    def exchange_lend(self, x: Any) -> int:
        """Return the address of a DLTensor that lives long enough."""
        self.exchange_check(x)
        struct = Case(self.lent(laid_down(x.tensor, NEWEST))).struct
        where = ffi.addressof(struct.versioned, "dl_tensor")
        return int(ffi.cast("uintptr_t", where))

    def exchange_check(self, x: Any) -> None:
        """Refuse data that DLPack cannot describe."""
        if x.tensor.dtype not in NAMES:
            raise BufferError(f"type {x.tensor.dtype} is not exported")

    def lent(self, tensor: Tensor) -> Tensor:
        """Return what is lent of an array's tensor: all of it."""
        return tensor


def tensor_like(prototype: int) -> int:
    """Allocate a tensor like the DLTensor at an address, and return its own."""
    wanted = Raw.over(prototype)
    if wanted.dtype not in NAMES or wanted.device[0] not in DEVICE_TYPES:
        raise BufferError(f"type {wanted.dtype} on device {wanted.device}")
    shape = wanted.shape if wanted.ndim else ()
    size = math.prod(shape)
    if size > 1 << 30:
        raise MemoryError(f"shape {shape}")
    tensor = Tensor.of([0] * size, shape, NAMES[wanted.dtype])
    return Case(tensor.but(device=wanted.device)).address
