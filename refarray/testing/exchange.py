"""Tables of the C exchange API: forge them, and read and call those of others.

`table` builds one of right functions, with any field changed; `Table` looks at any
table and calls it in C, with the GIL held. Next: rules_exchange.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from refarray.testing import _forge
from refarray.testing.findings import NotApplicable
from refarray.testing.forge import NEWEST, Raw, ffi, keep, lib

lib.forge_exchange_install(_forge.__name__.encode())

ATTRIBUTE = "__dlpack_c_exchange_api__"
NAME = "dlpack_exchange_api"

#: field -> the right function of the forge.
RIGHT = {
    "managed_tensor_allocator": "forge_allocate",
    "managed_tensor_from_py_object_no_sync": "forge_from_object",
    "managed_tensor_to_py_object_no_sync": "forge_to_object",
    "dltensor_from_py_object_no_sync": "forge_lend",
    "current_work_stream": "forge_stream",
}
#: The one function that a table may lack.
OPTIONAL = "dltensor_from_py_object_no_sync"


def table(
    *, version: tuple[int, int] = NEWEST, previous: int = 0, **changes: str | None
) -> int:
    """Return the address of a new table; `changes` name other functions, None NULL."""
    api = keep(ffi.new("DLPackExchangeAPI *"))
    api.header.version.major, api.header.version.minor = version
    api.header.prev_api = ffi.cast("DLPackExchangeAPIHeader *", previous)
    for field, function in {**RIGHT, **changes}.items():
        if function is not None:
            setattr(api, field, ffi.addressof(lib, function))
    return int(ffi.cast("uintptr_t", api))


def capsule(address: int, name: str = NAME) -> object:
    """Return the capsule to hang on a type."""
    return _forge.make_table_capsule(address, name)


def set_hooks(
    make_object: Callable[[int, bool], Any], make_tensor: Callable[[int], int]
) -> None:
    """Say what the right functions call: for an object over a tensor, for a new tensor.

    Both take and give addresses. `make_object` is also told whether it owns the tensor.
    """
    _forge.set_hooks(make_object, make_tensor)


class Answer(NamedTuple):
    """What a function of a table gave."""

    status: int
    result: Any
    error: Exception | None

    def __str__(self) -> str:
        if self.error is None:
            return f"returned {self.status} without an exception"
        kind = type(self.error).__name__
        return f"returned {self.status} with {kind}: {self.error!s:.120}"


class Header(NamedTuple):
    """A table, as far as it is the same in all versions."""

    address: int
    version: tuple[int, int]


def headers(address: int) -> Iterator[Header]:
    """Follow a table to its older versions; endless if the chain is."""
    while address:
        header = ffi.cast("DLPackExchangeAPIHeader *", address)
        version = int(header.version.major), int(header.version.minor)
        yield Header(address, version)
        address = int(ffi.cast("uintptr_t", header.prev_api))


class Table:
    """A table of major version 1."""

    def __init__(self, address: int) -> None:
        self.address = address
        self.api = ffi.cast("DLPackExchangeAPI *", address)

    def has(self, field: str) -> bool:
        """Whether a function is there."""
        return bool(getattr(self.api, field))

    def need(self, field: str) -> int:
        """Return the table's address, if this function is in it."""
        if self.has(field):
            return self.address
        raise NotApplicable(f"{field} is NULL" + ("" if field == OPTIONAL else ": 63"))

    def from_object(self, x: object) -> Answer:
        """Export: the result is the address of a tensor that is now ours."""
        where = self.need("managed_tensor_from_py_object_no_sync")
        return Answer(*_forge.call_from_object(where, x))

    def to_object(self, tensor: int) -> Answer:
        """Import the tensor at this address: the result is an array."""
        where = self.need("managed_tensor_to_py_object_no_sync")
        return Answer(*_forge.call_to_object(where, tensor))

    def lend(self, x: object) -> tuple[Answer, Raw]:
        """Look at an object: a tensor that is not ours."""
        managed = ffi.new("DLManagedTensorVersioned *")
        out = int(ffi.cast("uintptr_t", ffi.addressof(managed, "dl_tensor")))
        answer = Answer(*_forge.call_lend(self.need(OPTIONAL), x, out))
        return answer, Raw.at(int(ffi.cast("uintptr_t", keep(managed))))

    def stream(self, device: tuple[int, int], before: int) -> Answer:
        """Ask for the current stream, with `before` in the place for the answer."""
        where = self.need("current_work_stream")
        return Answer(*_forge.call_stream(where, *device, before))

    def allocate(self, prototype: Any) -> tuple[Answer, list[tuple[str, str]]]:
        """Make a tensor like a DLTensor: its address, and the errors reported."""
        errors: list[tuple[str, str]] = []
        where = self.need("managed_tensor_allocator")
        address = int(ffi.cast("uintptr_t", prototype))
        return Answer(*_forge.call_allocate(where, address, errors)), errors
