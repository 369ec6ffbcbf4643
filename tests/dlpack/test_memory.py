"""DLPack for memory of any kind, and for classes of one's own."""

import array
import ctypes
import mmap
import weakref
from enum import Enum
from multiprocessing.shared_memory import SharedMemory

import numpy as np
import pytest

import refarray as xp
from refarray._memory.native import export_memory
from refarray.dlpack import Exports, Tensor, from_capsule
from refarray.dlpack.structs import Flags, managed_tensor
from refarray.testing import forge
from refarray.testing.producers import Producer


class Mapped(Exports):
    """A file of numbers, in memory: a producer in six lines."""

    def __init__(self, path):
        with path.open("r+b") as file:
            self.map = mmap.mmap(file.fileno(), 0)

    def dlpack_tensor(self):
        return Tensor.from_buffer(memoryview(self.map).cast("d"))


def test_a_class_over_a_mapped_file(tmp_path):
    path = tmp_path / "numbers"
    path.write_bytes(np.arange(5.0).tobytes())
    x = xp.from_dlpack(Mapped(path))
    x[1] = 7.0
    assert np.from_dlpack(Mapped(path)).tolist() == [0.0, 7.0, 2.0, 3.0, 4.0]
    assert Mapped(path).__dlpack_device__() == (1, 0)


@pytest.mark.parametrize(
    "exporter",
    [
        array.array("d", [1.0, 2.0, 3.0]),
        (ctypes.c_double * 3)(1.0, 2.0, 3.0),
        np.array([1.0, 2.0, 3.0]),
        np.array([3.0, 0.0, 2.0, 0.0, 1.0])[::-2],
        memoryview(bytearray(np.array([1.0, 2.0, 3.0]).tobytes())).cast("d"),
        xp.asarray([1.0, 2.0, 3.0]),
    ],
    ids=["array", "ctypes", "numpy", "strided", "bytearray", "refarray"],
)
def test_every_buffer_is_shared(exporter):
    tensor = Tensor.from_buffer(exporter)
    assert (tensor.dtype, tensor.shape, tensor.read_only) == ((2, 64, 1), (3,), False)
    a = np.from_dlpack(tensor)
    assert a.tolist() == [1.0, 2.0, 3.0]
    a[2] = 9.0
    assert exporter[2] == 9.0
    a[2] = 3.0


def test_shared_memory_between_processes_lends_itself():
    shared = SharedMemory(create=True, size=64)
    try:
        tensor = Tensor.from_buffer(shared.buf.cast("q"))
        x = xp.from_dlpack(tensor)
        x[0] = 42
        assert shared.buf.cast("q")[0] == 42
        del tensor, x
    finally:
        shared.close()
        shared.unlink()


def test_constant_bytes_are_read_only():
    tensor = Tensor.from_buffer(b"abc")
    assert tensor.read_only
    assert not np.from_dlpack(tensor).flags.writeable
    with pytest.raises(BufferError, match="read-only"):
        tensor.__dlpack__()


def test_the_owner_lives_as_long_as_a_consumer():
    class Owner:
        pass

    memory = (ctypes.c_int32 * 4)(1, 2, 3, 4)
    owner = Owner()
    gone = weakref.ref(owner)
    tensor = Tensor(ctypes.addressof(memory), (2, 2), "int32", owner=owner)
    x = xp.from_dlpack(tensor)
    capsule = tensor.__dlpack__(max_version=(1, 0))
    del owner, tensor
    y = from_capsule(capsule)
    del x
    assert gone() is not None
    assert np.from_dlpack(y).tolist() == [[1, 2], [3, 4]]
    del y, capsule
    assert gone() is None


def test_a_description_of_any_type_and_device():
    tensor = Tensor(0x1000, (2,), "float8_e5m2", device=(2, 3), strides=(5,))
    assert tensor.__dlpack_device__() == (2, 3)
    capsule = tensor.__dlpack__(max_version=(1, 0))
    _, managed = managed_tensor(capsule)
    t = managed.dl_tensor
    # Float8_e5m2 has code 12 in the header.
    assert (t.dtype.code, t.dtype.bits, t.dtype.lanes) == (12, 8, 1)
    assert (t.device.device_type, t.device.device_id) == (2, 3)
    assert (t.shape[0], t.strides[0]) == (2, 5)
    with pytest.raises(BufferError, match="cannot be copied"):
        tensor.__dlpack__(copy=True)


def test_nothing_is_added_to_a_handle(balance):
    # In `data` is a cl_mem, which OpenCL takes with an offset beside it: their sum is
    # neither a handle nor an address.
    handle = forge.Tensor(0x1000, (2, 3), (3, 1), device=(4, 0))
    taken = Tensor.from_dlpack(Producer(handle))
    assert (taken.pointer, taken.device) == (0x1000, (4, 0))
    offset = Producer(handle.but(byte_offset=16))
    with balance, pytest.raises(BufferError, match="a byte_offset of 16 cannot"):
        Tensor.from_dlpack(offset)
    assert offset.deleter_calls == [1]
    on_a_gpu = Producer(handle.but(device=(2, 0), byte_offset=16))
    assert Tensor.from_dlpack(on_a_gpu).pointer == 0x1010


@pytest.mark.parametrize("code", [0, 17])  # kDLInt, kDLFloat4_e2m1fn
def test_padded_elements_are_not_taken_for_packed(balance, code):
    # Two lanes of 4 bits: one byte if they are packed. How long they are with padding,
    # the header does not say.
    packed = forge.Tensor(0x1000, (2, 3), (3, 1), dtype=(code, 4, 2))
    assert Tensor.from_dlpack(Producer(packed)).dtype == (code, 4, 2)
    padded = Producer(packed.but(flags=Flags.IS_SUBBYTE_TYPE_PADDED))
    with balance, pytest.raises(BufferError, match="padded to whole bytes"):
        Tensor.from_dlpack(padded)
    assert padded.deleter_calls == [1]
    # For whole bytes the flag has no meaning.
    whole = forge.Tensor(
        0x1000, (2,), (1,), dtype=(code, 8, 1), flags=Flags.IS_SUBBYTE_TYPE_PADDED
    )
    assert Tensor.from_dlpack(Producer(whole)).dtype == (code, 8, 1)


@pytest.mark.parametrize(
    "dtype", [(17, 4, 1), (17, 4, 3), (6, 1, 1), (0, 12, 1), (2, 0, 1), (2, 32, 0)]
)
def test_elements_without_addresses_are_refused(dtype):
    x = Producer(forge.Tensor(0x1000, (2,), (1,), dtype=dtype))
    with pytest.raises(BufferError, match="have no addresses of their own"):
        Tensor.from_dlpack(x)
    assert x.deleter_calls == [1]


@pytest.mark.parametrize(
    ("shape", "strides", "compact"),
    [
        ((1, 3), (77, 1), (3, 1)),
        ((2, 1), (5, -9), (5, 1)),
        ((2, 0, 3), (7, 7, 7), (3, 3, 1)),
    ],
)
def test_strides_without_a_meaning_are_made_compact(shape, strides, compact):
    # PyTorch counts an empty axis as one, too.
    taken = Tensor.from_dlpack(Producer(forge.Tensor(0x1000, shape, strides)))
    assert (taken.shape, taken.strides) == (shape, compact)
    given = Tensor(0x1000, shape, "float64", strides=strides)
    raw = forge.Raw(given.__dlpack__(max_version=(1, 0)))
    assert (raw.shape, raw.strides) == (shape, compact)
    # The header: the data of a tensor without elements should be NULL.
    assert raw.data == (0 if 0 in shape else 0x1000)


@pytest.mark.parametrize(
    "layout", ["strided", "reversed", "transposed", "0-d", "empty"]
)
def test_a_copy_is_compact_and_new(layout):
    a = np.arange(24, dtype="int16").reshape(4, 6)
    a = {
        "strided": a[::2, 1::3],
        "reversed": a[::-1, ::-1],
        "transposed": a.T,
        "0-d": a[1:2, 1:2].reshape(()),
        "empty": a[:0],
    }[layout]
    tensor = Tensor.from_dlpack(a)
    capsule = tensor.__dlpack__(max_version=(1, 0), copy=True)
    assert managed_tensor(capsule)[1].flags == Flags.IS_COPIED
    x = from_capsule(capsule)
    np.testing.assert_array_equal(np.from_dlpack(x), a)
    if a.size:
        x[...] = -1
        assert -1 not in a


@pytest.mark.parametrize("read_only", [False, True])
def test_what_a_producer_says_of_writing_is_passed_on(read_only):
    a = np.arange(3.0)
    a.flags.writeable = not read_only
    tensor = Tensor.from_dlpack(a)
    assert tensor.read_only is read_only
    assert np.from_dlpack(tensor).flags.writeable is not read_only
    # A copy belongs to the consumer alone, and may be written.
    capsule = tensor.__dlpack__(max_version=(1, 0), copy=True)
    assert managed_tensor(capsule)[1].flags == Flags.IS_COPIED
    x = from_capsule(capsule)
    x[0] = 9.0
    assert a.tolist() == [0.0, 1.0, 2.0]


def test_a_copy_has_all_lanes_of_an_element():
    # Vectors of four floats: the bytes are those of three rows of four.
    a = np.arange(24, dtype="float32").reshape(6, 4)
    tensor = Tensor(a.ctypes.data, (3,), (2, 32, 4), strides=(2,), owner=a)
    capsule = tensor.__dlpack__(max_version=(1, 0), copy=True)
    raw = forge.Raw(capsule)
    assert (raw.shape, raw.strides, raw.dtype) == ((3,), (1,), (2, 32, 4))
    copied = bytes(forge.ffi.buffer(forge.ffi.cast("char *", raw.first), 48))
    assert copied == a[::2].tobytes()


def test_the_stream_reaches_the_owner():
    seen = []
    tensor = Tensor(0x1000, (2,), "float32", device=(2, 0), synchronize=seen.append)
    for stream in (None, 1, 2, 99, -1):
        tensor.__dlpack__(stream=stream, max_version=(1, 0))
    assert seen == [None, 1, 2, 99], "-1 asks for no synchronisation"


@pytest.mark.parametrize(
    ("arguments", "keywords", "error", "words"),
    [
        ((0, (2,), "int8"), {}, ValueError, "address of no element"),
        ((-8, (2,), "int8"), {}, ValueError, "address of no element"),
        ((8, (-2,), "int8"), {}, ValueError, "negative"),
        ((8, (2,), "int7"), {}, ValueError, "known names: bool, int8"),
        ((8, (2,), (2, 12, 1)), {}, ValueError, "no whole bytes"),
        ((8, (2,), (2, 32)), {}, TypeError, "a dtype is"),
        ((8, (2,), np.float32), {}, TypeError, "a dtype is"),
        ((8, (2,), "int8"), {"strides": (1, 1)}, ValueError, "do not fit"),
        (("8", (2,), "int8"), {}, TypeError, "pointer is an address"),
        ((8, (2,), "int8"), {"device": (1,)}, TypeError, "device_type, device_id"),
        ((8, (2,), "int8"), {"device": "10"}, TypeError, "device takes a sequence"),
        ((8, (2,), "int8"), {"device": (1.5, 0)}, TypeError, "device takes a sequence"),
        ((8, (2,), "int8"), {"device": None}, TypeError, "device takes a sequence"),
        ((8, (2,), "int8"), {"device": (2**31, 0)}, ValueError, "32 bits"),
        ((8, (2,), "int8"), {"device": (1, -(2**31) - 1)}, ValueError, "32 bits"),
        ((2**64, (2,), "int8"), {}, ValueError, "address of no element"),
        ((8, (2,), "int8"), {"strides": (1.0,)}, TypeError, "strides takes a sequence"),
        ((8, (2,), "int8"), {"strides": 1}, TypeError, "strides takes a sequence"),
        ((8, 2.5, "int8"), {}, TypeError, "shape takes a sequence"),
    ],
)
def test_what_describes_no_memory(arguments, keywords, error, words):
    with pytest.raises(error, match=words):
        Tensor(*arguments, **keywords)


@pytest.mark.parametrize(
    ("pointer", "strides"), [(8, (2**62,)), (8, (-1,)), (2**64 - 8, (1,))]
)
def test_a_layout_that_leaves_the_address_space_is_refused(pointer, strides):
    tensor = Tensor(pointer, (2,), "int64", strides=strides)
    with pytest.raises(ValueError, match="cannot be exported"):
        tensor.__dlpack__()


@pytest.mark.parametrize(
    ("keywords", "error"),
    [
        ({"copy": 1}, TypeError),
        ({"stream": 1}, ValueError),
        ({"dl_device": (2, 0)}, BufferError),
        ({"dl_device": 1}, TypeError),
        ({"max_version": "1.0"}, TypeError),
    ],
)
def test_what_cannot_be_exported_as_asked(keywords, error):
    with pytest.raises(error):
        Tensor.from_buffer(bytearray(4)).__dlpack__(**keywords)


def test_a_device_may_be_named_by_an_enum():
    class Place(Enum):  # its members do not equal their numbers
        HOST = 1
        GPU = 2

    tensor = Tensor.from_buffer(bytearray(b"abc"))
    capsule = tensor.__dlpack__(dl_device=(Place.HOST, 0))
    assert bytes(from_capsule(capsule)) == b"abc"
    with pytest.raises(BufferError, match=r"not on \(2, 0\)"):
        tensor.__dlpack__(dl_device=(Place.GPU, 0))


NUMBERS = (8, (2,), (1,), (0, 8, 1), (1, 0), None, 0, (1, 0))


@pytest.mark.parametrize(
    ("place", "given", "error"),
    [
        (3, (2**8, 8, 1), ValueError),
        (3, (-1, 8, 1), ValueError),
        (3, (0, 320, 1), ValueError),  # as 8 bits it would be exported as 64
        (3, (0, 8, 2**16), ValueError),
        (3, (0, 2**30, 2**3), ValueError),  # their product is 2**33
        (3, (0, 2**40, 1), OverflowError),
        (3, 8, TypeError),
        (3, (0, 8), TypeError),
        (4, 1, TypeError),
        (4, (1, 0, 0), TypeError),
    ],
)
def test_numbers_that_do_not_fit_a_field_are_not_exported(place, given, error):
    assert from_capsule(export_memory(*NUMBERS[:1], (0,), *NUMBERS[2:])).size == 0
    arguments = [*NUMBERS]
    arguments[place] = given
    with pytest.raises(error):
        export_memory(*arguments)


def test_the_largest_element_is_exported_whole():
    capsule = export_memory(2**20, (2,), (1,), (2, 255, 65528), (1, 0), None, 0, (1, 0))
    dtype = managed_tensor(capsule)[1].dl_tensor.dtype
    assert (dtype.code, dtype.bits, dtype.lanes) == (2, 255, 65528)


def test_records_and_text_are_no_numbers():
    for exporter in (np.zeros(2, "i4,f8"), np.zeros(2, ">f8"), np.array(["a"])):
        with pytest.raises(BufferError, match="a buffer may hold"):
            Tensor.from_buffer(exporter)
    with pytest.raises(BufferError, match="no buffer"):
        Tensor.from_buffer(np.zeros(2, "M8[s]"))
    with pytest.raises(TypeError, match="bytes-like"):
        Tensor.from_buffer(5)


def test_descriptions_of_the_same_memory_are_equal():
    x = xp.arange(3)
    first, second = Tensor.from_array(x), Tensor.from_array(x[:])
    assert first == second
    assert len({first, second, Tensor.from_array(x[1:])}) == 2


def test_the_method_is_required():
    with pytest.raises(TypeError, match="abstract"):
        Exports()


def test_what_is_no_producer():
    for given in (None, [1.0], object()):
        with pytest.raises(AttributeError, match="lacks them"):
            Tensor.from_dlpack(given)
