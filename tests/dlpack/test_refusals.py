"""What refarray refuses: one exception of the right type, the tensor freed once.

The bad tensors are forged in C, so that nothing but refarray decides how this ends.
"""

from __future__ import annotations

import gc
import weakref
from enum import Enum

import pytest

import refarray
from refarray.dlpack import Tensor as Memory
from refarray.testing.forge import CPU, CUDA, IS_COPIED, READ_ONLY, Raw, Tensor
from refarray.testing.producers import Failing, Old, Producer, Returning

GOOD = Tensor.of([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], (2, 3))
MANY = 65  # axes: one more than refarray takes

IMPOSSIBLE = {
    "unknown type code": {"dtype": (200, 64, 1)},
    "float of 24 bits": {"dtype": (2, 24, 1)},
    "bool of one bit": {"dtype": (6, 1, 1)},
    "opaque handles": {"dtype": (3, 64, 1)},
    "four lanes": {"dtype": (2, 64, 4)},
    "no lanes": {"dtype": (2, 64, 0)},
    "unknown device": {"device": (99, 0)},
    "memory of a GPU": {"device": CUDA},
    "another CPU": {"device": (1, 1)},
    "ndim -1": {"ndim": -1},
    "ndim -2**31": {"ndim": -(2**31)},
    "ndim 65": {"shape": (1,) * MANY, "strides": (1,) * MANY},
    "ndim 2**31 - 1": {"ndim": 2**31 - 1},
    "a negative extent": {"shape": (2, -3)},
    "two negative extents": {"shape": (-2, -3)},
    "the lowest extent": {"shape": (2, -(2**63))},
    "size over 2**63": {"shape": (2**40, 2**40), "strides": (2**40, 1)},
    "bytes over 2**63": {"shape": (2**60,), "strides": (1,)},
    "bytes over 2**64": {"shape": (2**61,), "strides": (1,)},
    "size over 2**63, strides NULL": {"shape": (2**40, 2**40), "strides": None},
    "strides out of reach": {"strides": (2**62, 2**62)},
    "strides out of reach below": {"strides": (-(2**63), -(2**63))},
    "a stride over 2**63 bytes": {"strides": (2**61, 1)},
    "strides that add up to 2**64": {"shape": (2,) * 4, "strides": (2**59,) * 4},
    "strides that add up to -2**64": {"shape": (2,) * 4, "strides": (-(2**59),) * 4},
    "an element at address 0": {"data": 40, "strides": (-3, -1)},
    "elements beyond the last address": {"data": 2**64 - 16},
    "data NULL with elements": {"data": None},
    "data NULL with an offset": {"data": None, "byte_offset": 64},
    "an offset around the world": {"byte_offset": 2**64 - 1},
    "shape NULL with axes": {"shape": None, "ndim": 2},
}


@pytest.mark.parametrize("version", [(1, 3), None], ids=["versioned", "legacy"])
@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_impossible_tensors_are_refused_and_freed_once(what, version):
    x = Producer(GOOD.but(**IMPOSSIBLE[what]), legacy_only=version is None)
    with pytest.raises(BufferError) as caught:
        refarray.from_dlpack(x)
    assert type(caught.value) is BufferError
    assert str(caught.value)
    del caught
    # A device that cannot be used is refused before a capsule is asked for.
    assert x.deleter_calls == ([] if what == "memory of a GPU" else [1])


@pytest.mark.parametrize("shape", [(0, -3), (-3, 0), (0, -(2**63)), (0, 3, -1)])
def test_negative_extents_are_refused_beside_a_zero_too(shape):
    x = Producer(GOOD.but(shape=shape, strides=(1,) * len(shape), data=None))
    with pytest.raises(BufferError):
        refarray.from_dlpack(x)
    assert x.deleter_calls == [1]


@pytest.mark.parametrize("shape", [(0, 2**40), (2**40, 0), (0,) * 64])
def test_without_elements_data_may_be_null(shape):
    x = Producer(GOOD.but(shape=shape, strides=(0,) * len(shape), data=None))
    y = refarray.from_dlpack(x)
    assert (y.shape, y.size) == (shape, 0)
    del y
    assert x.deleter_calls == [1]


@pytest.mark.parametrize("major", [0, 2, 99, 2**32 - 1])
def test_other_major_versions_are_refused_whatever_else_they_say(major):
    x = Producer(GOOD.but(version=(major, 0), ndim=-5, dtype=(99, 99, 99), data=None))
    with pytest.raises(BufferError, match=str(major)):
        refarray.from_dlpack(x)
    assert x.deleter_calls == [1]


@pytest.mark.parametrize(("announced", "found"), [(CPU, CUDA), (CUDA, CPU)])
def test_a_capsule_that_contradicts_the_announcement(announced, found):
    x = Producer(GOOD.but(device=found), announce=announced)
    with pytest.raises(BufferError):
        refarray.from_dlpack(x)
    assert x.deleter_calls == ([] if announced == CUDA else [1])


@pytest.mark.parametrize(
    ("announced", "found"),
    [((1, 1), CPU), (CPU, (1, 1)), ((CUDA[0], 1), CUDA)],
)
@pytest.mark.parametrize("take", [refarray.from_dlpack, Memory.from_dlpack])
def test_the_number_of_the_device_has_to_agree_too(take, announced, found):
    x = Producer(GOOD.but(device=found), announce=announced)
    for _ in range(2):  # from the second on the type is known
        x.cases.clear()
        with pytest.raises(BufferError):
            take(x)
        assert x.deleter_calls in ([], [1])


@pytest.mark.parametrize("announced", [1, (1,), (1, None), ("cpu", 0), (1, 0, 0)])
def test_an_announcement_that_is_no_pair(announced):
    x = Producer(GOOD)
    x.announced = announced
    with pytest.raises((BufferError, TypeError)):
        refarray.from_dlpack(x)
    assert x.deleter_calls in ([], [1])


@pytest.mark.parametrize("number", [2**31, 2**40, 2**70, -(2**70)])
@pytest.mark.parametrize("place", [0, 1])
def test_an_announcement_that_no_device_can_have(number, place):
    announced = [1, 0]
    announced[place] = number
    for function in (refarray.from_dlpack, Memory.from_dlpack):
        x = Producer(GOOD)
        x.announced = tuple(announced)
        with pytest.raises(BufferError, match=f"{number}.* was announced"):
            function(x)
        assert x.deleter_calls == [1]


class DeviceType(Enum):
    """As the standard has it, and pybind11: its members do not equal their numbers."""

    CPU = 1


@pytest.mark.parametrize(
    "keywords", [{}, {"copy": False}, {"device": refarray.Device("cpu")}]
)
def test_an_announcement_may_have_an_enum(keywords):
    x = Producer(GOOD)
    x.announced = (DeviceType.CPU, 0)
    assert refarray.from_dlpack(x, **keywords).shape == (2, 3)
    assert x.asked("dl_device") == [None]
    assert Memory.from_dlpack(x).device == CPU


@pytest.mark.parametrize("take", [refarray.from_dlpack, Memory.from_dlpack])
def test_the_number_beside_an_enum_counts(take):
    x = Producer(GOOD)
    x.announced = (DeviceType.CPU, 1)
    with pytest.raises(BufferError, match=r"\(1, 1\)"):
        take(x)
    assert x.deleter_calls == [1]


def test_copy_false_that_needs_a_copy_raises_both():
    x = Producer(GOOD.but(flags=IS_COPIED))
    with pytest.raises(BufferError) as caught:
        refarray.from_dlpack(x, copy=False)
    assert isinstance(caught.value, ValueError)
    del caught
    assert x.deleter_calls == [1]


@pytest.mark.parametrize("ignore_copy", [False, True])
def test_copy_true_is_verified(ignore_copy):
    x = Producer(GOOD, ignore_copy=ignore_copy)
    y = refarray.from_dlpack(x, copy=True)
    assert Raw(y.__dlpack__(max_version=(1, 3))).first != GOOD.data
    del y
    assert x.deleter_calls == [1]


def test_copy_true_of_read_only_memory_is_writable():
    y = refarray.from_dlpack(Producer(GOOD.but(flags=READ_ONLY)), copy=True)
    assert not memoryview(y).readonly


@pytest.mark.parametrize("keywords", [{}, {"copy": True}, {"copy": False}])
def test_old_producers_are_asked_again(keywords):
    x = Producer(GOOD)
    y = refarray.from_dlpack(Old(x), **keywords)
    assert memoryview(y).tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert [name for name, _ in x.calls].count("__dlpack__") == 1


@pytest.mark.parametrize("in_device", [False, True])
@pytest.mark.parametrize("kind", [BufferError, TypeError, KeyError, MemoryError])
def test_exceptions_of_a_producer_arrive_unchanged(kind, in_device):
    error = kind("sample")
    with pytest.raises(kind) as caught:
        refarray.from_dlpack(Failing(error, in_device))
    assert caught.value is error


def test_what_a_producer_raises_does_not_keep_the_producer():
    class Fails:
        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **keywords):
            raise TypeError("sample")

    gc.collect()
    gc.disable()
    try:
        for _ in range(3):  # from the second on the type is known
            x = Fails()
            seen = weakref.ref(x)
            with pytest.raises(TypeError, match="sample") as caught:
                refarray.from_dlpack(x)
            del caught, x
            assert seen() is None
    finally:
        gc.enable()


def test_a_producer_whose_type_has_no_hash():
    class Compares(type):
        def __eq__(cls, other):
            return cls is other

    class Unhashable(Producer, metaclass=Compares):
        pass

    for _ in range(2):
        x = Unhashable(GOOD)
        y = refarray.from_dlpack(x)
        assert memoryview(y).tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
        del y
        assert x.deleter_calls == [1]


@pytest.mark.parametrize("thing", [None, 42, "dltensor", object()])
def test_what_is_no_capsule_is_refused(thing):
    with pytest.raises((BufferError, TypeError)):
        refarray.from_dlpack(Returning(thing))


@pytest.mark.parametrize("name", ["used_dltensor_versioned", "dltensor2", "", None])
def test_capsules_of_another_name_are_left_alone(name):
    x = Producer(GOOD.but(name=name), keep_capsules=True)
    with pytest.raises(ValueError, match="the capsule"):
        refarray.from_dlpack(x)
    assert x.deleter_calls == [0]
    assert Raw(x.capsules[0]).name == name


def test_a_capsule_is_taken_once():
    x = Producer(GOOD, keep_capsules=True)
    y = refarray.from_dlpack(x)
    with pytest.raises(ValueError, match="consumed"):
        refarray.from_dlpack(Returning(x.capsules[0]))
    assert x.deleter_calls == [0]
    del y
    assert x.deleter_calls == [1]
