"""The C exchange API on Array, called through its pointers and by our importer."""

import ctypes
from types import SimpleNamespace

import numpy as np
import pytest

import refarray as xp
from refarray import profiles
from refarray._memory.native import ffi, import_object, inspect_capsule
from refarray.memory import statistics
from refarray.testing.exchange import Table, table
from refarray.testing.exchange import capsule as table_capsule
from refarray.testing.forge import Case, Raw, Tensor

CAPSULE = xp.Array.__dlpack_c_exchange_api__
NAME, ADDRESS = inspect_capsule(CAPSULE)
API = ffi.cast("DLPackExchangeAPI *", ADDRESS)


def test_the_capsule_stands_on_the_type():
    assert NAME == "dlpack_exchange_api"
    assert "__dlpack_c_exchange_api__" in vars(xp.Array)
    assert (API.header.version.major, API.header.version.minor) == (1, 3)
    assert API.header.prev_api == ffi.NULL
    for field, _ in ffi.typeof("DLPackExchangeAPI").fields[1:]:
        assert getattr(API, field) != ffi.NULL


@pytest.mark.parametrize("writeable", [True, False])
def test_an_array_becomes_a_tensor_and_a_tensor_an_array(balance, writeable):
    a = np.arange(12.0).reshape(3, 4)[::-1, 1::2]
    a.flags.writeable = writeable
    with balance:
        before = statistics()
        x = xp.from_dlpack(a)
        y = import_object(CAPSULE, x)
        assert (y.shape, y._strides, y.dtype) == (x.shape, x._strides, x.dtype)
        assert y._read_only is not writeable
        np.testing.assert_array_equal(np.from_dlpack(y), a)
        del x, y
        after = statistics()
        # The exports are of `x` to `y`, and of `y` to NumPy; the imports `x` and `y`.
        assert after.exported - before.exported == 2
        assert after.imported - before.imported == 2


def test_another_object_is_a_type_error():
    with pytest.raises(TypeError, match=r"for refarray\.Array"):
        import_object(CAPSULE, 5)
    with pytest.raises(ValueError, match="PyCapsule"):
        import_object(np.zeros(2).__dlpack__(), xp.zeros((2,)))


def test_a_table_that_gives_nothing():
    results = []

    @ffi.callback("DLPackManagedTensorFromPyObjectNoSync")
    def nothing(_object, out):
        out[0] = ffi.NULL
        return results.pop()

    table = ffi.new("DLPackExchangeAPI *")
    table.header.version.major = 1
    table.managed_tensor_from_py_object_no_sync = nothing
    make = ctypes.pythonapi.PyCapsule_New
    make.restype = ctypes.py_object
    make.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    name = b"dlpack_exchange_api"
    capsule = make(int(ffi.cast("uintptr_t", table)), name, None)
    for result in (0, -1):
        results.append(result)
        with pytest.raises(BufferError, match="no tensor"):
            import_object(capsule, 5)
    table.header.version.major = 2
    with pytest.raises(BufferError, match="no version 1"):
        import_object(capsule, 5)


class Errors:
    """What set_error was told."""

    def __init__(self):
        self.told = []
        self.callback = ffi.callback(
            "void(void *, const char *, const char *)",
            lambda _, kind, text: self.told.append(
                (ffi.string(kind).decode(), ffi.string(text).decode())
            ),
        )


def allocate(shape, dtype=(2, 64, 1), device=(1, 0)):
    errors = Errors()
    prototype = ffi.new("DLTensor *")
    extents = ffi.new("int64_t[]", list(shape) or [0])
    prototype.ndim, prototype.shape = len(shape), extents
    prototype.dtype.code, prototype.dtype.bits, prototype.dtype.lanes = dtype
    prototype.device.device_type, prototype.device.device_id = device
    out = ffi.new("DLManagedTensorVersioned **")
    status = API.managed_tensor_allocator(prototype, out, ffi.NULL, errors.callback)
    return status, out[0], errors.told


@pytest.mark.parametrize(
    ("shape", "strides"), [((2, 3), [3, 1]), ((), []), ((0, 4), [4, 1])]
)
def test_the_allocator_makes_a_compact_tensor(balance, shape, strides):
    with balance:
        before = statistics()
        status, managed, told = allocate(shape)
        assert (status, told) == (0, [])
        # NumPy's array of this shape has as many bytes.
        made = np.zeros(shape).nbytes
        assert statistics().live_bytes - before.live_bytes == made
        tensor = managed.dl_tensor
        n = len(shape)
        assert [tensor.shape[i] for i in range(n)] == list(shape)
        assert [tensor.strides[i] for i in range(n)] == strides
        if 0 not in shape:
            assert int(ffi.cast("intptr_t", tensor.data)) % 64 == 0
        managed.deleter(managed)


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (((2,), (2, 64, 1), (2, 0)), "BufferError"),
        (((2,), (2, 4, 1)), "BufferError"),
        (((2,), (2, 0, 1)), "BufferError"),
        (((-2,),), "BufferError"),
        (((2**62, 2**62),), "BufferError"),
        (((2**50,),), "MemoryError"),
    ],
)
def test_the_allocator_says_why_not(arguments, kind):
    status, managed, told = allocate(*arguments)
    assert status == -1
    assert managed == ffi.NULL
    assert [k for k, _ in told] == [kind]


def test_the_allocator_reads_no_other_field_of_the_prototype():
    # The header: only dtype, ndim, shape and device of the prototype are used.
    errors = Errors()
    shape = ffi.new("int64_t[]", [2, 3])
    prototype = ffi.new("DLTensor *", {"ndim": 2, "shape": shape})
    prototype.dtype.code, prototype.dtype.bits, prototype.dtype.lanes = 2, 64, 1
    prototype.device.device_type = 1
    prototype.data = ffi.cast("void *", 0xDEADBEEF0)
    prototype.strides = ffi.cast("int64_t *", 0xDEADBEEF0)
    prototype.byte_offset = 2**63
    out = ffi.new("DLManagedTensorVersioned **")
    call = API.managed_tensor_allocator
    assert call(prototype, out, ffi.NULL, errors.callback) == 0
    assert [out[0].dl_tensor.strides[i] for i in range(2)] == [3, 1]
    assert out[0].dl_tensor.byte_offset == 0
    out[0].deleter(out[0])


def test_a_host_has_no_stream():
    out = ffi.new("void **", ffi.cast("void *", 1))
    assert API.current_work_stream(1, 0, out) == 0
    assert out[0] == ffi.NULL


# ---- Who owns a tensor after a failure -----------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"dtype": (17, 8, 1)},
        {"dtype": (2, 64, 4)},
        {"device": (99, 0)},  # not of a type that other tests may register
        {"version": (2, 0)},
        {"ndim": 65},
        {"data": None},
        {"shape": (2**62, 2)},
    ],
)
def test_a_tensor_that_is_refused_stays_with_the_caller(changes):
    # The caller deletes it. So do torch 2.13, and tvm-ffi, which relies on it; a callee
    # that deletes it too has tvm-ffi free it twice.
    case = Case(Tensor.of([1.0, 2.0], (2,)).but(**changes))
    answer = Table(ADDRESS).to_object(case.address)
    assert isinstance(answer.error, BufferError)
    assert case.deleter_calls == 0
    Raw.at(case.address).delete()
    assert case.deleter_calls == 1


def test_a_tensor_that_our_import_refuses_is_deleted_once():
    # Here refarray is the caller: the other library made a tensor for it.
    case = Case(Tensor.of([1.0], (1,)).but(dtype=(17, 8, 1)))
    theirs = SimpleNamespace(exchange_capsule=case.capsule)
    with pytest.raises(BufferError, match="type code 17"):
        import_object(table_capsule(table()), theirs)
    assert case.deleter_calls == 1


def test_a_tensor_that_is_taken_belongs_to_the_array():
    case = Case(Tensor.of([1.0, 2.0], (2,)))
    x = Table(ADDRESS).to_object(case.address).result
    assert x[1] == 2.0
    assert case.deleter_calls == 0
    del x
    assert case.deleter_calls == 1


# ---- A description without flags -----------------------------------------------------


def test_read_only_memory_is_not_described_as_writable():
    a = np.arange(4.0)
    assert Table(ADDRESS).lend(xp.from_dlpack(a))[1].values() == a.tolist()
    a.flags.writeable = False
    read_only = [xp.from_dlpack(a), xp.from_dlpack(a)[1:], xp.asarray(b"ab")]
    read_only += [xp.broadcast_to(xp.ones(1), (3,))]
    for x in read_only:
        answer, _ = Table(ADDRESS).lend(x)
        assert isinstance(answer.error, BufferError)
        assert "read-only" in str(answer.error)
    with profiles.use("immutable"):
        assert isinstance(Table(ADDRESS).lend(xp.ones(2))[0].error, BufferError)
