"""The exchange with Apache Arrow: its Tensor, and its Array (one axis, immutable).

In CI: yes
"""

import numpy as np
import pytest
from arrays import (
    COMPLEX,
    INTEGERS,
    LAYOUTS,
    REAL,
    address,
    numbers,
    ours,
    raw,
    read_only,
    reads,
    watch,
)
from exchange import Exchange, library, load
from traces import Traces

import refarray as xp
from refarray.dlpack import from_capsule

pa = library("pyarrow")

LIBRARY = "Apache Arrow"
DTYPES = [*INTEGERS, *REAL]


def row(name="float64"):
    return numbers(name).reshape(-1)


def memory(thing):
    """Return the address of the values, and whether Arrow thinks it may write there."""
    if isinstance(thing, pa.Tensor):
        return thing.to_numpy().ctypes.data, thing.is_mutable
    buffer = thing.buffers()[1]
    return buffer.address, buffer.is_mutable


class TestExchange(Exchange):
    adapter = load("pyarrow")
    takes = DTYPES
    refusal = pa.ArrowInvalid  # no BufferError, but an error
    refused_layouts = {"reversed": pa.ArrowInvalid}
    read_only = "kept"
    asks = {"max_version": (1, 3), "dl_device": None, "copy": None}
    asks_device = False
    given_layouts = [name for name in LAYOUTS if name != "reversed"]
    gives_version = (1, 3)
    given_read_only = "kept"

    def pointer(self, array):
        return memory(array)[0]

    @pytest.mark.bug(None)
    def test_gives_no_other_types(self):
        """A Tensor made of bool is exported as uint8; an Array of bool is refused."""
        with pytest.raises(TypeError, match="Bit-packed boolean"):
            xp.from_dlpack(pa.array([True, False]))
        x = xp.from_dlpack(pa.Tensor.from_numpy(np.array([True, False])))
        assert x.dtype is xp.uint8, "a Tensor has forgotten by then that it held bool"
        assert reads(x).tolist() == [1, 0]

    def layout(self, array, name):
        return pa.Tensor.from_numpy(LAYOUTS[name](array.to_numpy()))


class TestTraces(Traces):
    library = load("pyarrow")


# To Arrow ----------------------------------------------------------------------------


@pytest.mark.works
@pytest.mark.parametrize("name", DTYPES)
def test_an_array_shares_every_number_but_complex(name):
    """Its Array shares what has one axis, and its FixedShapeTensorArray the others."""
    x = xp.reshape(ours(name), (-1,))
    array = pa.Array.from_dlpack(x)
    assert array.type == pa.from_numpy_dtype(name)
    assert memory(array)[0] == address(x)
    assert array.to_pylist() == row(name).tolist()


@pytest.mark.refuses
@pytest.mark.parametrize("name", ["bool", *COMPLEX])
@pytest.mark.parametrize("kind", [pa.Array, pa.Tensor])
def test_arrow_refuses_bool_and_complex(balance, name, kind):
    """bool, of which its own takes one bit, and complex numbers, by Arrow."""
    with balance:
        x = ours(name)[0, :]
        with pytest.raises(pa.ArrowInvalid, match="unsupported DLPack type"):
            kind.from_dlpack(x)
        del x


@pytest.mark.refuses
@pytest.mark.parametrize("view", [lambda a: a, lambda a: a[0, ::2], lambda a: a[:, 0]])
def test_an_array_of_arrow_takes_one_compact_axis(balance, view):
    """Several axes, or gaps, by its Array."""
    with balance:
        x = view(ours())
        with pytest.raises(pa.ArrowInvalid, match="contiguous one dimensional"):
            pa.Array.from_dlpack(x)
        del x


@pytest.mark.works
def test_parts_and_empty_arrays():
    """Parts and empty arrays are shared as they are."""
    x = ours()
    part = pa.Array.from_dlpack(x[2, 3:])
    assert part.to_pylist() == row()[27:36].tolist()
    assert memory(part)[0] == address(x) + 27 * 8
    assert pa.Array.from_dlpack(x[0, :0]).to_pylist() == []


def test_a_column_of_tensors():
    x = ours()
    column = pa.FixedShapeTensorArray.from_dlpack(x)
    assert column.to_numpy_ndarray().tolist() == numbers("float64").tolist()
    assert column.to_numpy_ndarray().ctypes.data == address(x)


@pytest.mark.works
def test_arrow_knows_what_it_must_not_write():
    """Arrow knows of our read-only memory that it must not write there."""
    x = read_only()
    assert memory(pa.Array.from_dlpack(x[0, :])) == (address(x), False)
    assert memory(pa.Tensor.from_dlpack(x)) == (address(x), False)


def test_copies_and_devices_are_asked_of_us(balance):
    with balance:
        x = ours()
        assert memory(pa.Tensor.from_dlpack(x, copy=False))[0] == address(x)
        assert memory(pa.Tensor.from_dlpack(x, device=(1, 0)))[0] == address(x)
        copy = pa.Tensor.from_dlpack(x, copy=True)
        assert memory(copy)[0] != address(x)
        assert copy.to_numpy().tolist() == numbers("float64").tolist()
        with pytest.raises(BufferError, match="cannot be exported to DLPack device"):
            pa.Tensor.from_dlpack(x, device=(2, 0))
        del x, copy


# From Arrow --------------------------------------------------------------------------


@pytest.mark.parametrize("name", DTYPES)
def test_refarray_shares_every_number_but_complex(name):
    array = pa.array(row(name))
    x = xp.from_dlpack(array)
    assert str(x.dtype) == name
    assert address(x) == memory(array)[0]
    assert reads(x).tolist() == row(name).tolist()
    assert memoryview(x).readonly
    assert (raw(array).version, raw(array).flags) == ((1, 3), 1)


@pytest.mark.refuses
def test_what_dlpack_cannot_describe_is_refused_by_arrow(balance):
    """Nulls, text, times, lists and chunked arrays, by Arrow."""
    with balance:
        for array, words in [
            (pa.array([1, None, 2]), "no nulls"),
            (pa.array(["text"]), "not compatible"),
            (pa.array([1], pa.timestamp("s")), "not compatible"),
            (pa.array([[1]]), "not compatible"),
        ]:
            with pytest.raises(pa.ArrowTypeError, match=words):
                xp.from_dlpack(array)
        with pytest.raises(AttributeError, match="ChunkedArray lacks them"):
            xp.from_dlpack(pa.chunked_array([[1]]))


def test_layouts():
    array = pa.array(row())
    part = array[3:7]
    x = xp.from_dlpack(part)
    assert reads(x).tolist() == [3.0, 4.0, 5.0, 6.0]
    assert address(x) == memory(array)[0] + 3 * 8
    assert xp.from_dlpack(array[:0]).shape == (0,)

    columns = np.asfortranarray(numbers("int16"))
    x = xp.from_dlpack(pa.Tensor.from_numpy(columns))
    assert x._strides == (1, 4)
    assert reads(x).tolist() == columns.tolist()

    stack = pa.FixedShapeTensorArray.from_numpy_ndarray(row().reshape(6, 2, 4))
    x = xp.from_dlpack(stack)
    assert x.shape == (6, 2, 4)
    assert reads(x).tolist() == row().reshape(6, 2, 4).tolist()


@pytest.mark.works
def test_copies_of_arrow_are_copies_and_writable():
    """Copies of its Array say that they are copies, so refarray copies no more."""
    array = pa.array(row())
    # Arrow copies and says so; refarray takes the copy as it is.
    assert raw(array, copy=True).flags == 2
    x = xp.from_dlpack(array, copy=True)
    assert x._buffer.kind == "imported"
    assert address(x) != memory(array)[0]
    x[0] = 99.0
    assert array[0].as_py() == 0.0
    assert address(xp.from_dlpack(array, copy=False)) == memory(array)[0]
    assert address(xp.from_dlpack(array, device=xp.Device("cpu"))) == memory(array)[0]


# Both --------------------------------------------------------------------------------


@pytest.mark.works
def test_our_writes_are_seen_in_the_immutable_array():
    """Our writes are seen in its immutable Array, which comes back read-only."""
    x = xp.reshape(ours(), (-1,))
    array = pa.Array.from_dlpack(x)
    x[1] = 50.0
    assert array[1].as_py() == 50.0
    back = xp.from_dlpack(array)
    assert address(back) == address(x)
    with pytest.raises(ValueError, match="read-only"):
        back[1] = 60.0


def test_ours_lives_as_long_as_arrow_holds_it(balance):
    with balance:
        x = ours()
        held = pa.Tensor.from_dlpack(x), pa.Array.from_dlpack(x[1, :])
        held += (held[1][2:],)
        del x
        junk = [xp.full((48,), 7.0) for _ in range(50)]
        assert held[0].to_numpy().tolist() == numbers("float64").tolist()
        assert held[2].to_pylist() == row()[14:24].tolist()
        del held, junk


def test_an_array_of_arrow_lives_as_long_as_ours(balance):
    with balance:
        array = pa.array(row())
        capsule = array.__dlpack__(max_version=(1, 0))
        calls = watch(capsule)
        x = from_capsule(capsule)[2:]
        del array, capsule
        junk = [pa.array(np.full(48, 7.0)) for _ in range(50)]
        assert reads(x).tolist() == row()[2:].tolist()
        assert calls() == 0
        del x, junk
        assert calls() == 1
