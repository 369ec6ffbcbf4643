"""Objects that hold an address or a handle: of memory, a stream or a record in C.

A copied number would outlive the memory, and it means nothing in another process. So
copying such an object returns the object itself, and pickling raises TypeError.

Next: `layout.py`.
"""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn, Self, SupportsIndex


class ProcessBound:
    """An object that `copy` and `deepcopy` return as it is, and `pickle` refuses."""

    __slots__ = ()

    #: What to do in place of pickling it.
    _instead: ClassVar[str]

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError(
            f"a {type(self).__name__} cannot be pickled: it holds an address or a "
            f"handle that means something in this process only. {self._instead}"
        )
