"""Tensors that their producer changes while they are imported.

`check(way, field, moment)` forges a tensor, changes one field of it at some moment of
the import, and judges the outcome: an exception, or an array that is exactly what the
tensor said before the change or after it, and that fits its memory. Never a mixture.

test_changes.py changes fields at the lines of Python that an import executes and in
garbage collections; changing.py at each place in C where another thread could.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from math import prod
from typing import Any

import numpy as np

import refarray as xp
from refarray import dlpack, profiles
from refarray.testing.exchange import Table
from refarray.testing.forge import Case, Raw, Tensor, ffi

SHAPE, STRIDES = (4, 3), (3, 1)
VALUES = [float(n) for n in range(12)]
ADDRESS = 4096


def _field(name: str, value: Any) -> Callable[[Any], None]:
    return lambda tensor: setattr(tensor, name, value)


def _part(field: str, name: str, value: int) -> Callable[[Any], None]:
    return lambda tensor: setattr(getattr(tensor, field), name, value)


def _integers(name: str, *values: int) -> Callable[[Any], None]:
    def change(tensor: Any) -> None:
        pointer = getattr(tensor, name)
        for axis, value in enumerate(values):
            pointer[axis] = value

    return change


#: What a producer may do to its DLTensor, and what the tensor says then that it did not
#: say before; None if nobody can import it any more. The forge has room for 72 axes.
FIELDS: dict[str, tuple[Callable[[Any], None], dict[str, Any] | None]] = {
    "more axes": (_field("ndim", 72), None),
    "very many axes": (_field("ndim", 2**31 - 1), None),
    "negative ndim": (_field("ndim", -1), None),
    "fewer axes": (_field("ndim", 1), {"shape": (4,), "strides": (3,)}),
    "large extents": (_integers("shape", 2**40, 2**20), None),
    "negative extents": (_integers("shape", -4, -3), None),
    "small extents": (_integers("shape", 2, 2), {"shape": (2, 2)}),
    "no shape": (_field("shape", ffi.NULL), None),
    "large strides": (_integers("strides", 2**40, 9), {"strides": (2**40, 9)}),
    "negative strides": (_integers("strides", -3, -1), {"strides": (-3, -1)}),
    "no strides": (_field("strides", ffi.NULL), {}),
    "no data": (_field("data", ffi.NULL), None),
    "other data": (_field("data", ffi.cast("void *", ADDRESS)), {"first": ADDRESS}),
    "byte_offset": (_field("byte_offset", 16), {"offset": 16}),
    "wrapping byte_offset": (_field("byte_offset", 2**64 - 8), None),
    "wider elements": (_part("dtype", "bits", 128), {"dtype": (2, 128, 1)}),
    "complex elements": (_part("dtype", "code", 5), {"dtype": (5, 64, 1)}),
    "lanes": (_part("dtype", "lanes", 4), {"dtype": (2, 64, 4)}),
    # Not a device that other tests register with the process.
    "device": (_part("device", "device_type", 99), None),
}


class Producer:
    """A producer of one capsule."""

    def __init__(self, case: Case) -> None:
        self.capsule = case.capsule()

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(self, **question: Any) -> object:
        return self.capsule


def _by_table(case: Case) -> Any:
    capsule = case.capsule()
    Raw(capsule).take()
    api = Raw(xp.Array.__dlpack_c_exchange_api__)
    answer = Table(api.address).to_object(case.address)
    if answer.error is not None:
        raise answer.error
    return answer.result


def _under(name: str) -> Callable[[Case], Any]:
    def take(case: Case) -> Any:
        with profiles.use(name):
            return xp.from_dlpack(Producer(case), copy=False)

    return take


#: Every way for a tensor into refarray.
WAYS: dict[str, Callable[[Case], Any]] = {
    "from_dlpack": lambda case: xp.from_dlpack(Producer(case)),
    "from_dlpack, no copy": lambda case: xp.from_dlpack(Producer(case), copy=False),
    "from_dlpack, copy": lambda case: xp.from_dlpack(Producer(case), copy=True),
    "from_dlpack, device": lambda case: xp.from_dlpack(
        Producer(case), device=xp.Device("cpu")
    ),
    "from_dlpack, pedantic": _under("pedantic"),
    "from_dlpack, immutable": _under("immutable"),
    "asarray": lambda case: xp.asarray(Producer(case)),
    "from_capsule": lambda case: dlpack.from_capsule(case.capsule()),
    "Tensor": lambda case: dlpack.Tensor.from_dlpack(Producer(case)),
    "Tensor, imported": lambda case: xp.from_dlpack(
        dlpack.Tensor.from_dlpack(Producer(case))
    ),
    "exchange API": _by_table,
}

#: After these, the elements lie where a copy would read what is not there.
_UNREADABLE = {"large strides", "negative strides", "other data", "byte_offset"}
_COPY = "from_dlpack, copy"
#: Each way with each field.
CASES = [
    (way, field)
    for way in WAYS
    for field in FIELDS
    if not (way == _COPY and field in _UNREADABLE)
]

#: Given the change to make, a context in which it is made at some moment.
Moment = Callable[[Callable[[], None]], AbstractContextManager[Any]]


class _Garbage:
    """Makes a change when it is collected."""

    def __init__(self, change: Callable[[], None]) -> None:
        self.change, self.itself = change, self

    def __del__(self) -> None:
        self.change()


def in_collection(allocations: int) -> Moment:
    """Return a moment: after so many more objects, the garbage collector runs."""

    @contextmanager
    def moment(change: Callable[[], None]) -> Iterator[None]:
        threshold, was_enabled = gc.get_threshold(), gc.isenabled()
        gc.collect()
        gc.disable()
        _Garbage(change)
        gc.set_threshold(gc.get_count()[0] + allocations, 10**6, 10**6)
        gc.enable()
        try:
            yield
        finally:
            gc.set_threshold(*threshold)
            gc.collect()
            if not was_enabled:
                gc.disable()

    return moment


def check(way: str, field: str, moment: Moment) -> None:
    """Import while a field changes; AssertionError unless the outcome is right."""
    case = Case(Tensor.of(VALUES, SHAPE))
    change, differs = FIELDS[field]
    tensor = case.struct.versioned.dl_tensor
    before = {
        "first": case.tensor.data,
        "shape": SHAPE,
        "strides": STRIDES,
        "dtype": (2, 64, 1),
    }
    with moment(lambda: change(tensor)):
        try:
            made = WAYS[way](case)
        except (BufferError, ValueError, TypeError, MemoryError):
            return
    found = _described(made)
    allowed = [before]
    if differs is not None:
        after = before | differs
        after["first"] += after.pop("offset", 0)
        allowed.append(after)
    if way == _COPY:  # compact, in memory of its own
        for said in (found, *allowed):
            said["first"], said["strides"] = None, _compact(said["shape"])
    assert found in allowed, f"a mixture of both: {found}"
    assert _extent(found) <= _memory(made).nbytes, f"leaves its memory: {found}"
    if found == before:
        np.testing.assert_array_equal(_elements(made), VALUES)


def _described(made: Any) -> dict[str, Any]:
    if isinstance(made, dlpack.Tensor):
        first, shape, strides = made.pointer, made.shape, made.strides
        dtype = made.dtype
    else:
        first = made._buffer.address + made._byte_offset
        shape, strides = made.shape, made._strides
        dtype = (made.dtype.code, made.dtype.bits, 1)
    return {"first": first, "shape": shape, "strides": strides, "dtype": dtype}


def _compact(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _extent(said: dict[str, Any]) -> int:
    itemsize = said["dtype"][1] * said["dtype"][2] // 8
    ends = [(n - 1) * s for n, s in zip(said["shape"], said["strides"], strict=True)]
    return (sum(map(abs, ends)) + 1) * itemsize


def _memory(made: Any) -> Any:
    return (made.owner if isinstance(made, dlpack.Tensor) else made)._buffer


def _elements(made: Any) -> Any:
    x = xp.from_dlpack(made) if isinstance(made, dlpack.Tensor) else made
    return np.asarray(x).ravel()
