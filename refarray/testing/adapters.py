"""How the checks talk to a library: a small class that you write once for each.

`make`, `read` and `from_dlpack` are enough; the rest refines what can be checked:

    class Mine(Adapter):
        name = "mine"
        from_dlpack = staticmethod(mine.from_dlpack)

        def make(self, values, shape, dtype):
            return mine.array(values, dtype=dtype).reshape(shape)

        def read(self, array):
            return array.flatten().tolist()

Define it at the top of a module: risky checks import it again in a child process.
Next: samples.py; to run the checks, rules.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from refarray.testing.findings import NotApplicable
from refarray.testing.forge import CPU, DTYPES


def _no_consumer(x: Any, /, **keywords: Any) -> Any:
    raise NotApplicable("the adapter has no from_dlpack")


class Adapter:
    """One library, on one device. Without `make` only its consumer is checked."""

    name = "unnamed"
    #: The library's version, for reports.
    version = ""
    #: The pair that `__dlpack_device__` of its arrays returns.
    device: tuple[int, int] = CPU
    #: Names of the data types it has.
    dtypes: Sequence[str] = tuple(DTYPES)
    #: What `from_dlpack(device=...)` takes for the CPU; None: it takes no device.
    cpu: Any = None
    #: The consumer itself: `from_dlpack(x, /, *, device=None, copy=None)`.
    from_dlpack: Callable[..., Any] = staticmethod(_no_consumer)

    def make(self, values: Sequence[Any], shape: tuple[int, ...], dtype: str) -> Any:
        """Return a new array with these values in row-major order."""
        raise NotApplicable("the adapter cannot make arrays")

    def read(self, array: Any) -> list[Any]:
        """Return all values in row-major order, as Python numbers."""
        raise NotApplicable("the adapter cannot read arrays")

    def write(self, array: Any, value: Any) -> None:
        """Set every element of an array in place."""
        try:
            array[...] = value
        except Exception as error:
            raise NotApplicable("arrays cannot be written in place") from error

    def view(self, array: Any, key: Any) -> Any:
        """Return a view of part of an array."""
        return array[key]

    def shape(self, array: Any) -> tuple[int, ...]:
        """Return the shape as a tuple of int."""
        return tuple(int(n) for n in array.shape)

    def read_only(self, array: Any) -> Any:
        """Return the same memory as an array that must not be written."""
        raise NotApplicable("the library has no read-only arrays")

    def is_read_only(self, array: Any) -> bool | None:
        """Whether an array refuses to be written; None: there is no such notion."""
        return None

    def unexportable(self) -> Any:
        """Return an array that DLPack cannot describe."""
        raise NotApplicable("the adapter knows no array that cannot be exported")

    def special(self) -> Mapping[str, Any]:
        """Return arrays in a state that an export must resolve or refuse, by name.

        Tracked for gradients, conjugated or negated only in name, and the like.
        """
        return {}

    def stream(self) -> int:
        """Return the stream on which imported arrays will be used."""
        raise NotApplicable("the adapter cannot say which stream it works on")

    def waited(self, array: Any) -> list[int]:
        """Return the streams that exports of this array have been ordered before.

        1 is the legacy default stream, 0 the host itself. Only a library (or a test
        double) that keeps such a record can be checked for it.
        """
        raise NotApplicable("the library cannot tell how it synchronised")
