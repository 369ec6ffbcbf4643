"""The Array: attributes, indexing, conversions, text, buffers, and what it refuses."""

import copy
import enum
import gc
import pickle
import weakref

import numpy as np
import pytest

import refarray as xp
from refarray._base import dtypes


def array(values, dtype=None):
    return xp.from_dlpack(np.array(values, dtype))


def values(x):
    return np.from_dlpack(x).tolist()


def test_attributes():
    x = array([[1, 2, 3], [4, 5, 6]])
    assert x.shape == (2, 3)
    assert type(x.shape) is tuple
    assert (x.ndim, x.size, x.dtype) == (2, 6, xp.int64)
    assert x.device == xp.Device("cpu")
    with pytest.raises(AttributeError):
        x.shape = (6,)


def test_transposes_are_views():
    x = array([[1, 2, 3], [4, 5, 6]])
    assert values(x.T) == values(x.mT) == [[1, 4], [2, 5], [3, 6]]
    x.T[2, 0] = 9
    assert values(x) == [[1, 2, 9], [4, 5, 6]]
    assert array(np.zeros((4, 2, 3))).mT.shape == (4, 3, 2)
    for wrong in (np.zeros(3), np.zeros((2, 2, 2))):
        with pytest.raises(ValueError, match="two-dimensional"):
            _ = array(wrong).T
    with pytest.raises(ValueError, match="at least two"):
        _ = array([1, 2]).mT


KEYS = [
    0,
    -1,
    slice(1, None),
    slice(None, None, -1),
    (slice(None), 1),
    (..., 0),
    (None, 1, ..., None),
    (1, 2),
    (slice(5, 1, -2), slice(None, None, 3)),
    (slice(2, 2),),
    (),
    (np.int64(1), np.uint8(2)),
]


@pytest.mark.parametrize("key", KEYS)
def test_basic_keys_give_views_of_the_selected_elements(key):
    a = np.arange(20).reshape(4, 5)
    x = xp.from_dlpack(a)
    y = x[key]
    assert values(y) == a[key].tolist()
    assert y.shape == np.shape(a[key])
    y[...] = -7
    a[key]  # the oracle selects the same elements of the shared memory
    assert np.all(a[key] == -7)
    assert (a == -7).sum() == np.size(a[key])


def test_masks_and_integer_arrays_give_copies():
    a = np.arange(20).reshape(4, 5)
    x = xp.from_dlpack(a)
    mask = xp.from_dlpack(a % 3 == 0)
    assert values(x[mask]) == a[a % 3 == 0].tolist()
    rows, columns = array([0, -1, 2]), array([1, 1, 4])
    assert values(x[rows, columns]) == a[[0, -1, 2], [1, 1, 4]].tolist()
    assert values(x[rows, 3]) == a[[0, -1, 2], 3].tolist()
    y = x[rows]
    y[...] = 0
    assert a[0, 1] == 1, "a copy"
    x[mask] = -1
    assert values(x) == np.where(np.arange(20).reshape(4, 5) % 3 == 0, -1, a).tolist()
    x[rows, columns] = array([7, 8, 9])
    assert a[2, 4] == 9


@pytest.mark.parametrize(
    ("key", "error"),
    [
        (4, IndexError),
        (-5, IndexError),
        ((0, 0, 0), IndexError),
        ((..., ...), IndexError),
        (1.0, IndexError),
        ("a", IndexError),
        (True, IndexError),
        ([0, 1], TypeError),
        (np.array([0, 1]), TypeError),
        (np.array(1), TypeError),
        (np.array(True), TypeError),
    ],
)
def test_what_is_no_index(key, error):
    x = array(np.zeros((4, 5)))
    with pytest.raises(error):
        x[key]
    with pytest.raises(error):
        x[key] = 1.0


@pytest.mark.parametrize(
    "around",
    [
        lambda key: (key, slice(1, 4, 2)),
        lambda key: (slice(None, None, -1), key),
        lambda key: (..., key),
        lambda key: (None, key),
        lambda key: (key, None, 1),
        lambda key: (key, ..., np.int64(-1)),
    ],
)
def test_integer_arrays_go_with_basic_items(around):
    a = np.arange(20).reshape(4, 5)
    x = array(a)
    expected = a[around(np.array([0, -1, 2]))]
    key = around(array([0, -1, 2]))
    assert x[key].shape == expected.shape
    assert values(x[key]) == expected.tolist()
    x[key] = -1
    a[around(np.array([0, -1, 2]))] = -1
    assert values(x) == a.tolist()


def test_an_index_array_out_of_range_or_of_floats_is_an_index_error():
    x = array(np.zeros((4, 5)))
    beyond = array([2**64 - 1], "uint64")  # as int64 it would be -1
    for key in (array([9]), array([0.5]), array([True, False]), beyond, (0, beyond)):
        with pytest.raises(IndexError):
            x[key]
    for key in (array([9]), beyond, (0, beyond)):
        with pytest.raises(IndexError):
            x[key] = 1.0
    with pytest.raises(IndexError):
        xp.take(x, beyond, axis=0)


def test_an_index_object_is_asked_once_and_what_it_raises_arrives():
    class Next:
        asked = 0

        def __index__(self):
            Next.asked += 1
            if Next.asked == 3:
                raise ZeroDivisionError
            return Next.asked

    x = array([[1, 2, 3], [4, 5, 6]])
    assert values(x[0, Next()]) == 2
    assert values(x[array([0, 1]), Next()]) == [3, 6]
    with pytest.raises(ZeroDivisionError):
        x[array([0, 1]), Next()]


def test_scalars_of_a_subclass_are_assigned_and_combined_as_plain_ones():
    class Level(enum.IntEnum):
        LOW, HIGH = 3, 300

    class Metre(float):
        pass

    x = array([1, 2], "int8")
    x[0] = Level.LOW
    assert values(x) == [3, 2]
    assert values(x + Level.LOW) == [6, 5]
    for refused in (lambda: x + Level.HIGH, lambda: x.__setitem__(0, Level.HIGH)):
        with pytest.raises(OverflowError, match="300 is outside the range of int8"):
            refused()
    y = array([1.0, 2.0], "float32")
    y[array([1])] = Metre(0.5)
    assert values(y * Metre(2.0)) == [2.0, 1.0]
    with pytest.raises(TypeError):
        x[0] = Metre(1.0)


def test_assignment_promotes_values_and_nothing_else():
    x = array([1.0, 2.0, 3.0], "float32")
    x[0] = 7
    x[1:] = array([8.0, 9.0], "float32")
    assert values(x) == [7.0, 8.0, 9.0]
    x[2] = np.float64(0.5)
    assert values(x) == [7.0, 8.0, 0.5]
    for wrong in (array(1.0, "float64"), array(1), array(True), 1j, True, "a", [1.0]):
        with pytest.raises(TypeError):
            x[0] = wrong
    i = array([1, 2], "int16")
    i[0] = array(3, "uint8")
    assert values(i) == [3, 2]
    for wrong in (1.5, array(1, "uint16")):
        with pytest.raises(TypeError):
            i[0] = wrong
    with pytest.raises(OverflowError, match="int16"):
        i[0] = 2**15
    with pytest.raises(ValueError, match="do not broadcast"):
        i[...] = array([1, 2, 3], "int16")
    with pytest.raises(ValueError, match="do not broadcast"):
        i[0] = array([1, 2], "int16")


def test_assignment_reads_before_it_writes():
    x = array(np.arange(10))
    x[1:] = x[:-1]
    assert values(x) == [0, 0, 1, 2, 3, 4, 5, 6, 7, 8]
    x[...] = x[::-1]
    assert values(x) == [8, 7, 6, 5, 4, 3, 2, 1, 0, 0]
    x[xp.ones_like(x, dtype=xp.bool)] = x[::-1]
    assert values(x) == [0, 0, 1, 2, 3, 4, 5, 6, 7, 8]
    x[x[::-1]] = x
    assert values(x) == [8, 6, 5, 4, 3, 2, 1, 0, 0, 8]
    y = array([[0, 1], [2, 3]])
    y[array([[True, True], [True, False]])] = xp.reshape(y, (-1,))[:0:-1]
    assert values(y) == [[3, 2], [1, 3]]
    mask = array([True, False, True, True])
    mask[mask[::-1]] = False
    assert values(mask) == [False, False, True, False]
    for key in (lambda part: part, lambda part: (part,), lambda part: (part, ...)):
        mask = array([True, False, False, False])
        mask[1:][key(mask[:-1])] = True
        assert values(mask) == [True, True, False, False]


def test_python_scalars_from_zero_dimensional_arrays():
    assert bool(array(0.5)) is True
    assert int(array(-3.7)) == -3
    assert float(array(True)) == 1.0
    assert complex(array(2)) == 2 + 0j
    assert range(5)[array(2, "uint8")] == 2
    assert type(float(array(1, "int8"))) is float
    for convert in (bool, int, float, complex):
        with pytest.raises(TypeError, match="without dimensions"):
            convert(array([1]))
    for convert in (int, float):
        with pytest.raises(TypeError, match="imaginary"):
            convert(array(1 + 0j))
    for wrong in (array(1.0), array(True), array(1j)):
        with pytest.raises(TypeError, match="only an array of integers"):
            range(5)[wrong]
    with pytest.raises(ValueError, match="NaN"):
        int(array(np.nan))


def test_a_view_that_a_finalizer_asks_for_is_the_only_one():
    # A large tuple is made on the way, and so the collector runs there (until 3.11).
    x = xp.permute_dims(xp.zeros((1,) * 23 + (2, 3)), (*range(23), 24, 23))
    array, seen = weakref.ref(x), []

    def ask(phase, info):
        if not seen:
            seen.append(weakref.ref(array()._view))

    thresholds = gc.get_threshold()
    gc.callbacks.append(ask)
    gc.set_threshold(1)
    try:
        view = x._view
    finally:
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(ask)
    assert x._view is view
    del x, view
    assert all(dead() is None for dead in seen)


def test_to_device():
    x = array([1, 2])
    assert x.to_device(xp.Device("cpu")) is x
    for wrong in (None, "cpu", 1):
        with pytest.raises(TypeError, match=r"Device\('cpu'\)"):
            x.to_device(wrong)
    with pytest.raises(ValueError, match="stream must be None"):
        x.to_device(x.device, stream=1)


def test_text():
    assert repr(array([1.0, 2.5])) == "Array([1. , 2.5], dtype=refarray.float64)"
    assert repr(array(3)) == "Array(3, dtype=refarray.int64)"
    assert repr(array([])) == "Array([], dtype=refarray.float64)"
    empty = array(np.zeros((0, 3), "bool"))
    assert repr(empty) == "Array([], shape=(0, 3), dtype=refarray.bool)"
    assert str(array([[1], [2]])) == "[[1],\n [2]]"
    large = repr(array(np.arange(10**6)))
    assert "0, " in large
    assert "..." in large
    assert len(large) < 200
    with np.printoptions(precision=1, threshold=2):
        assert repr(array([1.25, 2.5, 3.125])) == (
            "Array([1.25 , 2.5  , 3.125], dtype=refarray.float64)"
        )


def test_an_array_is_made_by_functions():
    with pytest.raises(TypeError, match="creation function"):
        xp.Array()
    with pytest.raises(TypeError, match="creation function"):
        xp.Array([1, 2])


@pytest.mark.parametrize("name", [str(d) for d in dtypes.STANDARD])
def test_pickles_and_copies_are_new_memory_with_the_same_elements(name):
    x = array(np.arange(6).reshape(2, 3).T, name)
    pickles = [pickle.loads(pickle.dumps(x, p)) for p in range(2, 6)]
    for y in (*pickles, copy.copy(x), copy.deepcopy(x)):
        assert (y.shape, y.dtype, y.device) == (x.shape, x.dtype, x.device)
        assert values(y) == values(x)
        y[0, 0] = True if name == "bool" else 7
        assert values(x)[0][0] == 0


LAYOUTS = {
    "row-major": lambda x: x,
    "transposed": lambda x: x.T,
    "strided": lambda x: x[::2, ::-1],
    "without dimensions": lambda x: x[1, 2],
    "empty": lambda x: x[:0, :],
    "read-only": lambda x: xp.broadcast_to(x, (2, 4, 6)),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_a_pickle_may_leave_the_memory_to_others(layout):
    x = layout(array(np.arange(24).reshape(4, 6)))
    buffers = []
    pickled = pickle.dumps(x, 5, buffer_callback=buffers.append)
    (sent,) = buffers
    if layout is LAYOUTS["row-major"]:
        shared = np.frombuffer(sent, np.int64)
        x[0, 0] = 100
        assert shared[0] == 100, "a copy was made"
    expected = values(x)
    del x
    for received in (sent, bytes(sent.raw()), bytearray(sent.raw())):
        y = pickle.loads(pickled, buffers=[received])
        assert values(y) == expected
        assert not np.may_share_memory(np.asarray(y), np.frombuffer(received, "u1"))
        y[...] = 5


def test_weak_references_and_no_hash():
    x = array([1])
    reference = weakref.ref(x)
    assert reference() is x
    del x
    assert reference() is None
    with pytest.raises(TypeError, match="unhashable"):
        hash(array([1]))


@pytest.mark.parametrize("other", [np.float32(1.0), np.ones(2), [1.0, 2.0], (1.0, 2.0)])
def test_operands_that_look_like_arrays_are_refused_with_the_fix(other):
    x = array([1.0, 2.0])
    operations = [lambda: x + other, lambda: x == other, lambda: x * other]
    if not isinstance(other, (list, tuple)):
        operations += [lambda: other + x]
    for operation in operations:
        with pytest.raises(TypeError, match=r"convert|asarray"):
            operation()


def test_foreign_operands_get_their_turn():
    class Foreign:
        def __radd__(self, other):
            return "theirs"

        def __eq__(self, other):
            return "theirs"

        __hash__ = None

    x = array([1.0])
    assert x + Foreign() == "theirs"
    assert (x == Foreign()) == "theirs"
    with pytest.raises(TypeError, match="unsupported operand"):
        x + object()
    assert (x == None) is False  # noqa: E711
