"""The exchange with Apache Arrow: its Array (one axis, immutable) and its Tensor."""

import arrays
import numpy as np
import pytest
from arrays import (
    INTEGERS,
    LAYOUTS,
    REAL,
    address,
    numbers,
    ours,
    raw,
    read_only,
    reads,
)

import refarray as xp
from refarray.dlpack import from_capsule

pa = pytest.importorskip(
    "pyarrow", reason="pyarrow is not installed; `make field` installs it"
)

DTYPES = [*INTEGERS, *REAL]


def row(name="float64"):
    return numbers(name).reshape(-1)


def tensor(name="float64"):
    return pa.Tensor.from_numpy(numbers(name))


def memory(thing):
    """Return the address of the values, and whether Arrow thinks it may write there."""
    if isinstance(thing, pa.Tensor):
        return thing.to_numpy().ctypes.data, thing.is_mutable
    buffer = thing.buffers()[1]
    return buffer.address, buffer.is_mutable


# To Arrow ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", DTYPES)
def test_arrow_shares_every_number_but_complex(name):
    x = ours(name)
    t = pa.Tensor.from_dlpack(x)
    assert t.type == pa.from_numpy_dtype(name)
    assert memory(t) == (address(x), True)
    assert t.to_numpy().tolist() == numbers(name).tolist()

    x = xp.reshape(ours(name), (-1,))
    array = pa.Array.from_dlpack(x)
    assert array.type == pa.from_numpy_dtype(name)
    assert memory(array)[0] == address(x)
    assert array.to_pylist() == row(name).tolist()


@pytest.mark.parametrize("name", ["bool", *arrays.COMPLEX])
@pytest.mark.parametrize("kind", [pa.Array, pa.Tensor])
def test_arrow_refuses_bool_and_complex(balance, name, kind):
    # Its own bool takes one bit. The error is no BufferError, but it is an error.
    with balance:
        x = ours(name)[0, :]
        with pytest.raises(pa.ArrowInvalid, match="unsupported DLPack type"):
            kind.from_dlpack(x)
        del x


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_tensor_of_arrow_shares_every_layout(layout):
    x = LAYOUTS[layout](ours())
    t = pa.Tensor.from_dlpack(x)
    assert t.shape == x.shape
    assert t.to_numpy().tolist() == LAYOUTS[layout](numbers("float64")).tolist()
    if x.size:
        assert memory(t)[0] == address(x)


def test_negative_strides_are_refused(balance):
    with balance:
        x = ours()[::-1, :]
        with pytest.raises(pa.ArrowInvalid, match="negative strides not supported"):
            pa.Tensor.from_dlpack(x)
        del x


@pytest.mark.parametrize("view", [lambda a: a, lambda a: a[0, ::2], lambda a: a[:, 0]])
def test_an_array_of_arrow_takes_one_compact_axis(balance, view):
    with balance:
        x = view(ours())
        with pytest.raises(pa.ArrowInvalid, match="contiguous one dimensional"):
            pa.Array.from_dlpack(x)
        del x


def test_parts_and_empty_arrays():
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


def test_arrow_knows_what_it_must_not_write():
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

    t = tensor(name)
    x = xp.from_dlpack(t)
    assert str(x.dtype) == name
    assert address(x) == memory(t)[0]
    assert reads(x).tolist() == numbers(name).tolist()
    assert not memoryview(x).readonly


def test_what_arrow_makes_of_bool():
    with pytest.raises(TypeError, match="Bit-packed boolean"):
        xp.from_dlpack(pa.array([True, False]))
    x = xp.from_dlpack(pa.Tensor.from_numpy(np.array([True, False])))
    assert x.dtype is xp.uint8, "a Tensor has forgotten by then that it held bool"
    assert reads(x).tolist() == [1, 0]


def test_what_dlpack_cannot_describe_is_refused_by_arrow(balance):
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


def test_copies_of_arrow_are_copies_and_writable():
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


def test_our_writes_are_seen_in_the_immutable_array():
    x = xp.reshape(ours(), (-1,))
    array = pa.Array.from_dlpack(x)
    x[1] = 50.0
    assert array[1].as_py() == 50.0
    back = xp.from_dlpack(array)
    assert address(back) == address(x)
    with pytest.raises(ValueError, match="read-only"):
        back[1] = 60.0


def test_writes_are_seen_on_both_sides_of_a_tensor():
    x = ours()
    t = pa.Tensor.from_dlpack(x)
    t.to_numpy()[1, 2] = 50.0
    assert reads(x)[1, 2] == 50.0
    xp.from_dlpack(t)[3, 0] = 60.0
    assert reads(x)[3, 0] == 60.0


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
        calls = arrays.watch(capsule)
        x = from_capsule(capsule)[2:]
        del array, capsule
        junk = [pa.array(np.full(48, 7.0)) for _ in range(50)]
        assert reads(x).tolist() == row()[2:].tolist()
        assert calls() == 0
        del x, junk
        assert calls() == 1


def test_round_trips_keep_one_memory(balance):
    with balance:
        x = ours()
        start = address(x)
        for _ in range(1000):
            x = xp.from_dlpack(pa.Tensor.from_dlpack(x))
        assert address(x) == start
        assert reads(x).tolist() == numbers("float64").tolist()
        del x
