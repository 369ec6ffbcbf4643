"""The exchange with TVM FFI, the exchange layer of Apache TVM, on the CPU.

In CI: yes
"""

import numpy as np
import pytest
from arrays import (
    COMPLEX,
    DTYPES,
    LAYOUTS,
    Spy,
    address,
    numbers,
    ours,
    read_only,
    reads,
)
from exchange import Exchange, library, load
from traces import Traces

import refarray as xp
from refarray.dlpack import from_capsule
from refarray.testing import doubles
from refarray.testing.forge import Raw

tvm_ffi = library("tvm_ffi")

LIBRARY = "Apache TVM (tvm-ffi)"


class TestExchange(Exchange):
    adapter = load("tvm_ffi")
    takes = DTYPES
    read_only = "lost"  # its tensors carry no flags
    takes_copy = False
    asks = {}
    asks_device = False
    gives_version = (1, 3)
    gives_copy = BufferError

    def pointer(self, array):
        return array.data_ptr()

    def layout(self, array, name):
        return tvm_ffi.from_dlpack(LAYOUTS[name](np.from_dlpack(array)))


class TestTraces(Traces):
    library = load("tvm_ffi")


# To TVM FFI --------------------------------------------------------------------------


@pytest.mark.bug(None)
@pytest.mark.parametrize("name", COMPLEX)
def test_tvm_has_no_name_for_complex_but_passes_it_on(balance, name):
    """It passes complex numbers on, and has no name for their type."""
    with balance:
        x = ours(name)
        t = tvm_ffi.from_dlpack(x)
        with pytest.raises(ValueError, match="unknown type_code=5"):
            str(t.dtype)
        y = xp.from_dlpack(t)
        assert y.dtype is x.dtype
        assert address(y) == address(x)
        del x, y, t


@pytest.mark.parametrize("layout", LAYOUTS)
def test_tvm_keeps_our_strides(layout):
    x = LAYOUTS[layout](ours())
    t = tvm_ffi.from_dlpack(x)
    assert tuple(t.strides) == x._strides
    assert t.data_ptr() == (address(x) if x.size else 0)


@pytest.mark.works
def test_tvm_checks_what_it_is_told_to_check(balance):
    """`require_alignment` and `require_contiguous` are checked."""
    with balance:
        x = ours()
        tvm_ffi.from_dlpack(x, require_alignment=64, require_contiguous=True)
        with pytest.raises((ValueError, RuntimeError), match="not contiguous"):
            tvm_ffi.from_dlpack(x[::2, 1::3], require_contiguous=True)
        with pytest.raises((ValueError, RuntimeError), match="not aligned"):
            tvm_ffi.from_dlpack(x[:, 1:], require_alignment=64)
        del x


@pytest.mark.works
def test_tvm_exchanges_our_arrays_in_c_without_asking_dlpack(balance):
    """It takes our arrays by the C exchange API, without asking `__dlpack__`."""
    with balance:
        x = read_only()
        t = tvm_ffi.from_dlpack(x)
        assert t.data_ptr() == address(x)
        # Its tensors carry no flags, so on the way back nobody knows any more.
        assert not memoryview(xp.from_dlpack(t)).readonly
        del x, t


@pytest.mark.bug(None)
def test_tvm_asks_others_for_legacy_capsules_and_so_gets_no_read_only_memory():
    """It asks others for legacy capsules, and so gets no read-only memory."""
    spy = Spy(ours())
    tvm_ffi.from_dlpack(spy)
    assert spy.asked == [{}]
    with pytest.raises(BufferError, match="legacy capsule cannot say so"):
        tvm_ffi.from_dlpack(Spy(read_only()))


@pytest.mark.works
def test_a_function_of_tvm_takes_our_array_and_returns_one(balance):
    """A function of TVM takes our arrays, and returns arrays of ours."""
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


@pytest.mark.works
def test_half_precision_passes_through():
    """bfloat16 passes through it, both ways."""
    bits = np.array([0x3FC0, 0xC000], np.uint16)  # 1.5 and -2.0 in bfloat16
    capsule = tvm_ffi.from_dlpack(bits).__dlpack__()
    Raw(capsule).managed.dl_tensor.dtype.code = 4
    x = from_capsule(capsule)
    t = tvm_ffi.from_dlpack(x)
    assert str(t.dtype) == "bfloat16"
    y = xp.from_dlpack(t)
    assert str(y.dtype) == "bfloat16"
    assert address(y) == bits.ctypes.data
    assert reads(xp.astype(y, xp.float32)).tolist() == [1.5, -2.0]


@pytest.mark.bug(None)
def test_the_legacy_side_of_tvm_ignores_copy():
    """`copy=True` is refused, or ignored where a legacy capsule is asked for."""
    t = tvm_ffi.from_dlpack(numbers())
    with pytest.raises(BufferError, match="copy not yet supported"):
        xp.from_dlpack(t, copy=True)
    assert Raw(t.__dlpack__(copy=True)).first == t.data_ptr()
    with pytest.raises(AttributeError, match="to_dlpack"):
        t.__dlpack__(max_version=(0, 8))


# Others ------------------------------------------------------------------------------


def test_tvm_takes_the_exchange_table():
    for fault in doubles.producers():
        if fault.rule > 60 and fault.answer == "accepts":
            with doubles.producer(fault) as double:
                y = tvm_ffi.from_dlpack(double.array)
                # It takes a table of version (2, 0) too, and that of an instance.
                assert (double.table_calls, double.keywords) == (1, [])
                assert np.from_dlpack(y).ravel().tolist() == double.values
                del y
    with doubles.producer("exchange table raises RuntimeError") as double:
        with pytest.raises(RuntimeError, match="is not exported"):
            tvm_ffi.from_dlpack(double.array)
