"""The exchange with TVM FFI, the exchange layer of Apache TVM, on the CPU."""

import arrays
import numpy as np
import pytest
from arrays import (
    INTEGERS,
    LAYOUTS,
    REAL,
    Spy,
    address,
    numbers,
    ours,
    raw,
    read_only,
    reads,
)

import refarray as xp
from refarray.dlpack import from_capsule

tvm_ffi = pytest.importorskip(
    "tvm_ffi", reason="apache-tvm-ffi is not installed; `make field` installs it"
)

DTYPES = ["bool", *INTEGERS, *REAL]


def theirs(name="float64"):
    """Return a tensor over memory of NumPy; TVM FFI makes none itself."""
    return tvm_ffi.from_dlpack(numbers(name))


def values(tensor):
    """Return what lies in a tensor, without help from refarray's own import."""
    return np.from_dlpack(tensor).tolist()


# To TVM FFI --------------------------------------------------------------------------


@pytest.mark.parametrize("name", DTYPES)
def test_tvm_shares_every_dtype_but_complex(name):
    x = ours(name)
    t = tvm_ffi.from_dlpack(x)
    assert str(t.dtype) == name
    assert t.data_ptr() == address(x)
    assert values(t) == numbers(name).tolist()


@pytest.mark.parametrize("name", arrays.COMPLEX)
def test_tvm_has_no_name_for_complex_but_passes_it_on(balance, name):
    with balance:
        x = ours(name)
        t = tvm_ffi.from_dlpack(x)
        with pytest.raises(ValueError, match="unknown type_code=5"):
            str(t.dtype)
        y = xp.from_dlpack(t)
        assert y.dtype is x.dtype
        assert address(y) == address(x)
        del x, y, t


@pytest.mark.parametrize("layout", [*LAYOUTS, "reversed"])
def test_tvm_shares_every_layout(layout):
    view = {**LAYOUTS, "reversed": lambda a: a[::-1, ::-2]}[layout]
    x = view(ours())
    t = tvm_ffi.from_dlpack(x)
    assert tuple(t.shape) == x.shape
    assert tuple(t.strides) == x._strides
    assert t.data_ptr() == (address(x) if x.size else 0)
    assert reads(xp.from_dlpack(t)).tolist() == view(numbers("float64")).tolist()


def test_tvm_checks_what_it_is_told_to_check(balance):
    with balance:
        x = ours()
        tvm_ffi.from_dlpack(x, require_alignment=64, require_contiguous=True)
        with pytest.raises((ValueError, RuntimeError), match="not contiguous"):
            tvm_ffi.from_dlpack(x[::2, 1::3], require_contiguous=True)
        with pytest.raises((ValueError, RuntimeError), match="not aligned"):
            tvm_ffi.from_dlpack(x[:, 1:], require_alignment=64)
        del x


def test_tvm_exchanges_our_arrays_in_c_without_asking_dlpack(balance):
    with balance:
        x = read_only()
        t = tvm_ffi.from_dlpack(x)
        assert t.data_ptr() == address(x)
        # Its tensors carry no flags, so on the way back nobody knows any more.
        assert not memoryview(xp.from_dlpack(t)).readonly
        del x, t


def test_tvm_asks_others_for_legacy_capsules_and_so_gets_no_read_only_memory():
    spy = Spy(ours())
    tvm_ffi.from_dlpack(spy)
    assert spy.asked == [{}]
    with pytest.raises(BufferError, match="legacy capsule cannot say so"):
        tvm_ffi.from_dlpack(Spy(read_only()))


def test_a_function_of_tvm_takes_our_array_and_returns_one(balance):
    with balance:
        x = ours()
        seen = []
        echo = tvm_ffi.get_global_func("testing.echo")
        double = tvm_ffi.convert(lambda a: (seen.append(a.data_ptr()), a)[1])
        for function in (echo, double):
            y = function(x)
            assert type(y) is type(x)
            assert address(y) == address(x)
        assert seen == [address(x)]
        del x, y


# From TVM FFI ------------------------------------------------------------------------


@pytest.mark.parametrize("name", DTYPES)
def test_refarray_shares_every_dtype(name):
    t = theirs(name)
    x = xp.from_dlpack(t)
    assert str(x.dtype) == name
    assert address(x) == t.data_ptr()
    assert reads(x).tolist() == numbers(name).tolist()
    assert not memoryview(x).readonly
    assert raw(t).version == (1, 3)


@pytest.mark.parametrize("layout", [*LAYOUTS, "reversed"])
def test_refarray_shares_every_layout(layout):
    view = {**LAYOUTS, "reversed": lambda a: a[::-1, ::-2]}[layout]
    a = np.asarray(view(numbers("float64")))
    if layout == "0-d":
        a = numbers("float64")[1:2, 2:3].reshape(())
    x = xp.from_dlpack(tvm_ffi.from_dlpack(a))
    assert x.shape == a.shape
    assert reads(x).tolist() == a.tolist()


def test_half_precision_passes_through():
    bits = np.array([0x3FC0, 0xC000], np.uint16)  # 1.5 and -2.0 in bfloat16
    capsule = tvm_ffi.from_dlpack(bits).__dlpack__()
    arrays.Raw(capsule).managed.dl_tensor.dtype.code = 4
    x = from_capsule(capsule)
    t = tvm_ffi.from_dlpack(x)
    assert str(t.dtype) == "bfloat16"
    y = xp.from_dlpack(t)
    assert str(y.dtype) == "bfloat16"
    assert address(y) == bits.ctypes.data
    assert reads(xp.astype(y, xp.float32)).tolist() == [1.5, -2.0]


def test_tvm_refuses_to_copy_and_its_error_arrives_unchanged():
    t = theirs()
    with pytest.raises(BufferError, match="copy not yet supported"):
        xp.from_dlpack(t, copy=True)
    assert address(xp.from_dlpack(t, copy=False)) == t.data_ptr()
    assert address(xp.from_dlpack(t, device=xp.Device("cpu"))) == t.data_ptr()


def test_the_legacy_side_of_tvm_ignores_copy():
    t = theirs()
    assert arrays.Raw(t.__dlpack__(copy=True)).first == t.data_ptr()
    with pytest.raises(AttributeError, match="to_dlpack"):
        t.__dlpack__(max_version=(0, 8))


# Both --------------------------------------------------------------------------------


def test_writes_are_seen_on_both_sides():
    x = ours()
    t = tvm_ffi.from_dlpack(x)
    y = xp.from_dlpack(t)
    y[1, 2] = 50.0
    assert reads(x)[1, 2] == 50.0
    x[3, 0] = 60.0
    assert values(t)[3][0] == 60.0


def test_ours_lives_as_long_as_a_tensor_over_it(balance):
    with balance:
        x = ours()
        t = tvm_ffi.from_dlpack(x)
        del x
        junk = [xp.full((48,), 7.0) for _ in range(50)]
        assert values(t) == numbers("float64").tolist()
        del t, junk


def test_a_tensor_lives_as_long_as_an_array_over_it(balance):
    with balance:
        t = tvm_ffi.from_dlpack(ours())
        capsule = t.__dlpack__(max_version=(1, 0))
        calls = arrays.watch(capsule)
        x = from_capsule(capsule)[2:]
        del t, capsule
        junk = [xp.full((48,), 7.0) for _ in range(50)]
        assert reads(x).tolist() == numbers("float64")[2:].tolist()
        assert calls() == 0
        del x, junk
        assert calls() == 1


def test_round_trips_keep_one_memory(balance):
    with balance:
        x = ours()
        start = address(x)
        for _ in range(1000):
            x = xp.from_dlpack(tvm_ffi.from_dlpack(x))
        assert address(x) == start
        assert reads(x).tolist() == numbers("float64").tolist()
        del x
