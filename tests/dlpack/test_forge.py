"""The forge makes what it is told, and reads what is there, without consuming it."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

from refarray.testing import _forge
from refarray.testing.forge import DTYPES, READ_ONLY, Case, Raw, Tensor, forge
from refarray.testing.producers import Producer

ODD = Tensor(
    data=0x1234567890,
    shape=(2, -3, 1 << 40),
    strides=(-5, 0, 7),
    dtype=(200, 13, 4),
    device=(77, -2),
    byte_offset=1 << 50,
    version=(9, 8),
    flags=1 << 63 | READ_ONLY,
    name="another name",
)


@pytest.mark.parametrize("version", [(9, 8), None])
def test_every_field_can_be_anything(version):
    capsule, _ = forge(ODD.but(version=version, name="by version"))
    found = Raw(capsule)
    assert found.name == ("dltensor_versioned" if version else "dltensor")
    assert found.version == version
    assert found.flags == (ODD.flags if version else 0)
    assert found.data == ODD.data
    assert found.byte_offset == ODD.byte_offset
    assert found.device == ODD.device
    assert found.dtype == ODD.dtype
    assert found.shape == ODD.shape
    assert found.strides == ODD.strides


def test_pointers_can_be_null():
    tensor = ODD.but(data=None, shape=None, strides=None, ndim=-1, deleter=None)
    found = Raw(forge(tensor.but(destructor=None))[0])
    assert (found.data, found.ndim, found.strides) == (0, -1, None)
    assert not found.has_deleter
    assert not found.has_destructor


@pytest.mark.parametrize("name", ["dltensor", "used_dltensor", "x", None])
def test_names(name):
    assert Raw(forge(ODD.but(name=name))[0]).name == name


@pytest.mark.parametrize("dtype", DTYPES)
def test_values_are_those_that_numpy_reads(dtype):
    values = [0, 1, 1, 0]
    x = Producer(Tensor.of(values, (2, 2), dtype))
    found = np.from_dlpack(x)
    assert found.dtype == dtype
    assert found.tolist() == [[0, 1], [1, 0]]
    assert Raw(x.__dlpack__(max_version=(1, 3))).values() == values


@pytest.mark.parametrize("version", [(1, 0), None])
def test_an_unused_capsule_calls_the_deleter_once(version):
    capsule, case = forge(ODD.but(version=version, name="by version"))
    del capsule
    assert (case.destructor_calls, case.deleter_calls) == (1, 1)


@pytest.mark.parametrize("version", [(1, 0), None])
def test_a_taken_tensor_waits_for_its_consumer(version):
    capsule, case = forge(ODD.but(version=version, name="by version"))
    found = Raw(capsule)
    del capsule
    found.take()
    assert (case.destructor_calls, case.deleter_calls) == (1, 0)
    found.delete()
    assert case.deleter_calls == 1


def test_reading_consumes_nothing():
    capsule, case = forge(Tensor.of([1.0], (1,)))
    for _ in range(3):
        assert Raw(capsule).values() == [1.0]
    gc.collect()
    assert (case.destructor_calls, case.deleter_calls) == (0, 0)
    assert np.from_dlpack(Handing(capsule)).tolist() == [1.0]
    assert case.deleter_calls == 1


class Handing:
    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **keywords):
        return self.capsule


def test_a_pending_exception_is_seen_to_be_lost_or_kept():
    for destructor, kept in (("right", True), ("loses error", False)):
        items = [forge(ODD.but(destructor=destructor))[0]]
        assert _forge.drop_with_pending_error(items) is kept
        assert items == []


def test_a_watched_deleter_still_runs():
    capsule, case = forge(Tensor.of([1.0], (1,)))
    found = Raw(capsule)
    watch = _forge.watch_deleter(found.address, found.legacy)
    assert _forge.watched_calls(watch) == 0
    del capsule, found
    assert _forge.watched_calls(watch) == 1
    assert case.deleter_calls == 1


def test_counts_are_exact_from_many_foreign_threads():
    case = Case(Tensor.of([1.0], (1,)))
    capsule = case.capsule()
    address = Raw(capsule).address

    def call():
        for _ in range(200):
            _forge.call_deleter_on_foreign_thread(address, False)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert case.deleter_calls == 800


@pytest.mark.parametrize("thing", [None, 42, np.zeros(1)])
def test_only_capsules_are_read(thing):
    with pytest.raises(TypeError, match="a capsule is needed"):
        Raw(thing)
