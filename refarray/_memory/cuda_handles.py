"""What the driver makes, and gets back: memory, streams, events and pools.

A `Handle` holds one such thing for an object of Python. It exists before the driver is
called, and the driver writes what it makes directly into it. Once the object is gone,
the handle is on a list, from which `give_back_unowned` takes it. No bytecode runs in
between at which an exception could lose the thing: one of a signal handler (Ctrl-C), of
a trace function, or of another thread.

Next: `cuda_streams.py`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from operator import itemgetter
from typing import Any
from weakref import ref

from refarray._cuda_driver import ffi
from refarray._memory.cuda_context import answer, run
from refarray._memory.cuda_driver import CudaError, Driver, check

# All handles that are not given back, by id. A weak reference that is gone itself calls
# nobody, so that something has to hold each handle.
_handles: dict[int, Handle] = {}

# Handles whose object is gone.
_unowned: deque[Handle] = deque()

_take_value = itemgetter(0)


class Handle(ref[Any]):
    """What the driver makes for `owner`: a weak reference to it, and a cell.

    `kind` is the C type of what the driver makes, on device `ordinal`, and `destroy`
    the name of the function that gives it back, or else `release` does with another.
    `prepare` is called before `destroy`, with this handle.
    """

    __slots__ = ("cells", "ordinal", "driver", "destroy", "prepare")

    def __new__(cls, owner: Any, *_: Any, **__: Any) -> Handle:
        """Make the weak reference."""
        # The callback is a function written in C: no bytecode runs when the owner goes,
        # in whichever thread and whatever was going on there.
        return super().__new__(cls, owner, _unowned.append)

    def __init__(
        self,
        owner: Any,
        kind: str,
        destroy: str,
        ordinal: int,
        using: Driver,
        prepare: Callable[[Handle], None] | None = None,
    ) -> None:
        # Empty (0, NULL) until the driver makes something. A list, so that one call
        # takes the cell away.
        self.cells: list[Any] = [ffi.new(f"{kind} *")]
        self.destroy = destroy
        self.ordinal = ordinal
        self.driver = using
        self.prepare = prepare
        _handles[id(self)] = self

    @property
    def value(self) -> Any:
        """What the driver made."""
        return self.cells[0][0]

    @property
    def number(self) -> int:
        """What the driver made, as an integer: an address, say."""
        return int(ffi.cast("uintptr_t", self.value))

    def try_make(self, function: str, *arguments: Any) -> int:
        """Let the driver make it; return the driver's error code."""
        error = answer(
            self.ordinal, function, self.cells[0], *arguments, owner=self.driver
        )
        if error:
            self.cells.clear()  # whatever is written there
        return error

    def make(self, function: str, *arguments: Any) -> None:
        """Let the driver make it; CudaError if it refuses."""
        error = self.try_make(function, *arguments)
        check(error, function.removesuffix("_v2"), self.driver.lib)

    def release(self, function: str, *arguments: Any) -> None:
        """Give it back through a function of the driver, unless that was done before.

        CudaError if the driver refuses.
        """
        if not self.cells or not self.value:
            return
        # Whoever takes the cell gives back what is in it, once. Both happen within one
        # call, that of the iterator, which runs no bytecode: pop, itemgetter and the
        # driver's function are all written in C.
        values = map(_take_value, map(list.pop, [self.cells]))
        errors = map(
            getattr(self.driver.lib, function), values, *([each] for each in arguments)
        )
        error: int = run(self.ordinal, errors.__next__, self.driver)
        check(error, function.removesuffix("_v2"), self.driver.lib)

    def give_back(self) -> None:
        """Give it back to the driver, if there still is one; CudaError as `release`."""
        if self.driver.unusable is None and self.cells and self.value:
            if self.prepare is not None:
                with suppress(CudaError):  # work that cannot run any more is done
                    self.prepare(self)
            self.release(self.destroy)


def give_back_unowned() -> None:
    """Give back whatever lost its owner.

    CudaError, once all has been seen to, if the driver refused some of it.
    """
    refused: CudaError | None = None
    while _unowned:
        # It stays on the list until it is given back. Meanwhile another thread, or a
        # finalizer, may come to it as well, and finds an empty handle.
        try:
            handle = _unowned[0]
        except IndexError:
            break  # another thread had the last one
        try:
            handle.give_back()
        except CudaError as error:
            refused = error
        except IndexError:
            continue  # another thread has taken its cell
        _handles.pop(id(handle), None)
        with suppress(ValueError):
            _unowned.remove(handle)
    if refused is not None:
        raise refused
