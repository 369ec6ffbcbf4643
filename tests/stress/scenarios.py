"""What is done again and again while something fails: small programs of every kind.

Each function makes what it needs and drops it; what it gives is dropped too. Together
they pass every place of the native module that allocates.

Next: scenarios_devices.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from weakref import ref

import numpy as np

import refarray as xp
from refarray import _native
from refarray._base.layout import Unknown
from refarray.dlpack import Tensor as Memory
from refarray.dlpack import from_capsule, inspect, trace
from refarray.dlpack.shortcuts import ways
from refarray.testing import forge as forging
from refarray.testing.exchange import Table, ffi
from refarray.testing.forge import Raw
from refarray.testing.library import Library
from refarray.testing.producers import Producer

CPU = xp.Device("cpu")
VERSIONED = (1, 0)
#: Each forged tensor: its deleter must have run once when all is over.
forged: list[forging.Case] = []

SCENARIOS: dict[str, Callable[[], Any]] = {}


def scenario(function: Callable[[], Any]) -> Callable[[], Any]:
    """Add a function to the scenarios."""
    SCENARIOS[function.__name__.replace("_", " ")] = function
    return function


def refused(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> None:
    """Call what must be refused, with any of the exceptions that refarray has."""
    with suppress(TypeError, ValueError, IndexError, BufferError, AttributeError):
        function(*arguments, **keywords)
        raise AssertionError(f"{function} refused nothing")


def forged_tensor(**changes: Any) -> Producer:
    """Return a producer over forged memory."""
    tensor = forging.Tensor.of([1.0, 2.0, 3.0, 4.0], (2, 2))
    producer = Producer(tensor.but(**changes))
    producer.cases = forged
    return producer


def capsule_of(**changes: Any) -> object:
    """Return a capsule over forged memory."""
    return forged_tensor(**changes).__dlpack__(max_version=VERSIONED)


# Arrays -------------------------------------------------------------------------------


@scenario
def new_memory() -> Any:
    return (
        xp.empty((2, 3, 4)),
        xp.zeros((3,)),
        _native.allocate((1 << 19,), xp.float64, CPU, False),
    )


@scenario
def shapes_that_cannot_be() -> None:
    refused(_native.allocate, (2**62, 2), xp.float64, CPU, False)
    try:
        _native.allocate((2**40, 1000), xp.float64, CPU, False)
    except MemoryError:
        return
    raise AssertionError("8 petabytes were found")


@scenario
def sizes_that_are_not_known() -> Any:
    x = _native.allocate((Unknown(3), 2), xp.float64, CPU, True)
    return x.shape, x.size, x._size, x[1:], x[None, 0], x[..., 1], x[:, :1]


@scenario
def python_values() -> Any:
    return xp.asarray([[1.0, 2.0], [3.0, 4.0]]), xp.asarray(5), xp.asarray([True])


@scenario
def memory_that_is_lent() -> Any:
    refused(_native.wrap, bytearray(7), xp.float64)
    return xp.asarray(bytearray(8)), xp.asarray(np.ones((2, 3)).T, copy=False)


@scenario
def attributes() -> Any:
    x = xp.ones((2, 3))
    y = x.mT
    memory = x._buffer
    numbers = x.shape, x.ndim, x.size, x._size, x._strides, x._byte_offset, x._row_major
    kept = memory.address, memory.nbytes, memory.kind, memory.flags, memory.memory
    return numbers, kept, y._view, x.dtype, x.device, y._strides


@scenario
def lending() -> Any:
    x = xp.ones((2, 3))
    return memoryview(x), memoryview(x.mT), bytes(memoryview(x._buffer))


@scenario
def indexing() -> Any:
    x = xp.zeros((3, 4, 5))
    for key in (9, (0, 0, 0, 0), (..., ...), [1], "a", (None,) * 80, 10**30):
        refused(x.__getitem__, key)
    x[0] = 1.0
    return x[0], x[1:, ..., ::-1], x[None, :, 2], x[x > 0], _native.select(x, x > 0)


@scenario
def views() -> Any:
    x = xp.ones((2, 3, 4))
    refused(_native.view, x, 0, (5000,), (1,), False)
    constant = xp.broadcast_to(x, (5, 2, 3, 4))
    return xp.reshape(x, (4, 6)), constant + 1.0, _native.view(x, 1, (2,), None, True)


# Computing ----------------------------------------------------------------------------


@scenario
def operators() -> Any:
    x, y = xp.ones((3,)), xp.ones((2, 1))
    refused(lambda: x + "a")
    refused(lambda: x + xp.ones((2,)))
    return x + x, x + y, x * 2.0, x - 1, -x, x < y, x**2, abs(x), x @ x


@scenario
def functions() -> Any:
    x = xp.linspace(0.0, 1.0, 5)
    return (
        xp.where(x > 0, x, 0.0),
        xp.exp(x),
        xp.sum(x),
        xp.clip(x, 0.1, 0.5),
        xp.sort(x),
    )


@scenario
def a_function_for_the_first_time() -> Any:
    x = xp.ones((3,))
    return _native.compute(np.hypot, (3,), xp.float64, CPU, x, x), _native.call(
        np.sum, [1]
    )


@scenario
def joining() -> Any:
    x, y = xp.ones((2, 3)), xp.zeros((4, 3)).mT.mT
    return xp.concat([x, y]), xp.concat((x, y), axis=0), xp.stack([x, x])


@scenario
def a_kernel_that_raises() -> None:
    def kernel(*operands: Any) -> None:
        raise ValueError("of the kernel")

    refused(_native.compute, kernel, (3,), xp.float64, CPU, xp.ones((3,)))


@scenario
def a_kernel_in_a_kernel() -> Any:
    def kernel(x: Any, out: Any) -> None:
        np.copyto(out, _native.compute(np.negative, (3,), xp.float64, CPU, y)._view)

    y = xp.ones((3,))
    inner = _native.call(lambda: _native.call(np.sum, [1.0]))
    return _native.compute(kernel, (3,), xp.float64, CPU, y), inner


@scenario
def the_first_kernel_of_a_thread() -> Any:
    results: list[Any] = []

    def work() -> None:
        try:
            results.append(xp.ones((3,)) + 1.0)
        except BaseException as error:
            results.append(error.with_traceback(None))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if isinstance(results[0], BaseException):
        raise results.pop()
    return results


# Exchange -----------------------------------------------------------------------------


@scenario
def export() -> Any:
    x = xp.ones((2, 3))
    refused(x.__dlpack__, max_version="1.0")
    refused(x.__dlpack__, max_version=(-(10**5000), 0))  # too many digits to show
    return (
        x.__dlpack__(),
        x.__dlpack__(max_version=VERSIONED),
        x.__dlpack__(max_version=VERSIONED, copy=True, dl_device=(1, 0)),
        np.from_dlpack(x),
    )


@scenario
def import_of_our_own() -> Any:
    x = xp.ones((2, 3))
    y = from_capsule(x.__dlpack__())
    return y, from_capsule(y.__dlpack__(max_version=VERSIONED)), xp.from_dlpack(y)


@scenario
def import_from_numpy() -> Any:
    a = np.arange(6.0).reshape(2, 3)
    return xp.from_dlpack(a), xp.from_dlpack(a.T, copy=True), xp.from_dlpack(a[:, 1])


@scenario
def import_of_forged_tensors() -> Any:
    return (
        xp.from_dlpack(forged_tensor()),
        xp.from_dlpack(forged_tensor(version=None)),
        _native.import_memory(capsule_of(), (1, 0)),
    )


@scenario
def a_deleter_that_loses_the_exception() -> Any:
    x = _native.import_capsule(capsule_of(deleter="loses error"))
    return x, _native.import_memory(capsule_of(deleter="loses error"), (1, 0))


@scenario
def refusals() -> None:
    for wrong in (
        {"dtype": (200, 13, 4)},
        {"device": (77, 0)},
        {"version": (9, 0)},
        {"data": 0},
        {"shape": (-1, 2)},
        {"strides": (1 << 62, 1 << 62)},
    ):
        refused(xp.from_dlpack, forged_tensor(**wrong))
    refused(xp.from_dlpack, 5)


class Older:
    """A producer from before there were keywords."""

    def __init__(self) -> None:
        self.producer = forged_tensor(version=None)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self) -> object:
        return self.producer.__dlpack__()


@scenario
def an_older_producer() -> Any:
    return xp.from_dlpack(Older()), xp.from_dlpack(Older(), copy=True)


@scenario
def another_library() -> Any:
    """Both ways, and through its exchange API, as for the libraries that are listed."""
    library = Library()
    library.cases = forged
    x = library.make([1.0, 2.0], (2,), "float64")
    y = xp.from_dlpack(x)
    ways[ref(type(x))] = (type(x).__dlpack_c_exchange_api__, lambda x: True)
    try:
        z = xp.from_dlpack(x)
    finally:
        del ways[ref(type(x))]
    return y, z, library.from_dlpack(xp.ones((2, 2)))


@scenario
def memory_of_any_kind() -> Any:
    owner = bytearray(64)
    address = ffi.cast("uintptr_t", ffi.from_buffer(owner))
    memory = Memory(int(address), (2, 4), "float64", owner=owner)
    legacy = Memory(int(address), (2, 4), "float64", owner=owner).__dlpack__()
    return xp.from_dlpack(memory), Memory.from_dlpack(memory), legacy


@scenario
def exchange_in_c() -> Any:
    x = xp.ones((2, 3))
    capsule = _native.exchange_api()
    table = Table(_native.inspect_capsule(capsule)[1])
    prototype = ffi.new("DLTensor *", {"device": {"device_type": 1}, "ndim": 2})
    shape = ffi.new("int64_t[]", [2, 3])
    prototype.shape, prototype.dtype = shape, {"code": 2, "bits": 64, "lanes": 1}
    y = _native.import_object(capsule, x)
    refused(_native.import_object, capsule, 5)
    for answer in (table.from_object(x), table.allocate(prototype)[0]):
        if answer.status:
            continue
        Raw.at(answer.result).delete()
    exported = table.from_object(x)
    z = None if exported.status else table.to_object(exported.result)
    if z is not None and z.status:
        Raw.at(exported.result).delete()  # a tensor that is refused stays with us
    lent = table.lend(x)[0]
    return y, z, lent, table.stream((1, 0), 7), table.stream((2, 0), 7)


@scenario
def a_look() -> Any:
    x = xp.ones((2, 3))
    return (
        str(inspect(x)),
        str(inspect(x.__dlpack__())),
        _native.inspect_capsule(x.__dlpack__()),
    )


@scenario
def a_trace() -> Any:
    x = xp.ones((3,))
    refused(_native.trace_capsule, 5)
    with trace() as t:
        a = np.from_dlpack(t.watch(x))
        b = t.watch(x).__dlpack__()
    del b
    return a, str(t)


# Memory of a device -------------------------------------------------------------------


@scenario
def a_device() -> Any:
    """Memory of the simulated driver, and an export of it that comes back."""
    from refarray import cuda

    place = xp.Device("cuda:0")
    x = xp.zeros((3,), device=place)
    y = xp.from_dlpack(x)
    z = xp.asarray(xp.ones((3,)), device=place, copy=True)
    refused(memoryview, x)
    seen = x._view.nbytes
    numbers = seen, x._buffer.memory, y._buffer.memory
    del x, y, z
    cuda.empty_cache()
    return numbers


# Profiles -----------------------------------------------------------------------------


@scenario
def a_profile() -> Any:
    """Once a profile was used, Python is asked before memory is made and lent."""
    _native.register_guard(lambda dtype, device: None, lambda: (True, 12345))
    try:
        x = xp.ones((1, 3))
        y = from_capsule(x.__dlpack__(max_version=VERSIONED))
        refused(x.__dlpack__)  # a legacy capsule cannot say that it is read-only
        return memoryview(x), y, x[0], x + 1.0
    finally:
        _native.register_guard(None, None)
