"""Exchange tables that break exactly one rule, 61 to 70. Next: violators.py."""

from __future__ import annotations

from typing import Any

from refarray.testing import exchange
from refarray.testing.forge import NAMES, Tensor
from refarray.testing.library import Array, Library


class TableOnInstance(Array):
    """Its table is a property."""

    @property
    def __dlpack_c_exchange_api__(self) -> Any:
        return exchange.capsule(exchange.table())


class Violator61(Library):
    """The table hangs on the instance."""

    array_type = TableOnInstance


class TableOfVersion2(Array):
    """Its table is of a version that nobody knows."""

    __dlpack_c_exchange_api__ = exchange.capsule(exchange.table(version=(2, 0)))


class Violator62(Library):
    """The table has major version 2, and no older one behind it."""

    array_type = TableOfVersion2


class TableWithoutStream(Array):
    """Its table lacks a function."""

    __dlpack_c_exchange_api__ = exchange.capsule(
        exchange.table(current_work_stream=None)
    )


class Violator63(Library):
    """The function for the stream is NULL."""

    array_type = TableWithoutStream


class Violator64(Library):
    """What cannot be exported raises RuntimeError in the table."""

    def exchange_check(self, x: Any) -> None:
        """Raise the wrong exception."""
        if x.tensor.dtype not in NAMES:
            raise RuntimeError(f"type {x.tensor.dtype} is not exported")


class TableWithoutExceptions(Array):
    """Its table fails without an exception."""

    __dlpack_c_exchange_api__ = exchange.capsule(
        exchange.table(
            managed_tensor_from_py_object_no_sync="forge_from_object_silently"
        )
    )


class Violator65(Library):
    """An object of another type gives -1 and no exception."""

    array_type = TableWithoutExceptions


class TableThatBorrows(Array):
    """Its table makes arrays that do not own their tensor."""

    __dlpack_c_exchange_api__ = exchange.capsule(
        exchange.table(managed_tensor_to_py_object_no_sync="forge_to_object_and_keep")
    )


class Violator66(Library):
    """An imported tensor is never deleted."""

    array_type = TableThatBorrows


class Violator67(Library):
    """A lent tensor has strides that are NULL."""

    def lent(self, tensor: Tensor) -> Tensor:
        """Leave the strides out."""
        return tensor.but(strides=None)


class TableWithoutAnswer(Array):
    """Its table does not answer for the CPU."""

    __dlpack_c_exchange_api__ = exchange.capsule(
        exchange.table(current_work_stream="forge_stream_untouched")
    )


class Violator68(Library):
    """The stream of the CPU is not written."""

    array_type = TableWithoutAnswer


class TableWithoutReport(Array):
    """Its allocator fails in silence."""

    __dlpack_c_exchange_api__ = exchange.capsule(
        exchange.table(managed_tensor_allocator="forge_allocate_silently")
    )


class Violator69(Library):
    """The allocator fails without a call of SetError."""

    array_type = TableWithoutReport


class Violator70(Library):
    """The table exports what `__dlpack__` refuses."""

    def exchange_check(self, x: Any) -> None:
        """Let it pass."""
