"""Copies and pickles of objects that hold an address or a handle.

A copy of such an object shares what it stands for, and the owner of it; a pickle is
refused with the reason and a way out. Records of plain data are copied and pickled as
other data.
"""

import copy
import dataclasses
import gc
import importlib
import inspect
import pickle
import subprocess
import sys
import weakref

import numpy as np
import pytest

import refarray as xp
from refarray import cuda, dlpack, memory, profiles
from refarray._base.dtypes import DType
from refarray._memory.cuda_driver import driver
from refarray.dlpack import Tensor, trace
from refarray.testing.forge import Tensor as Forged
from refarray.testing.forge import forge
from refarray.testing.library import Library
from refarray.testing.simulated_driver import simulated_cuda

NAMESPACES = ["refarray"]
NAMESPACES += [f"refarray.{name}" for name in ("cuda", "dlpack", "memory", "profiles")]

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


@pytest.fixture(autouse=True)
def simulation():
    with simulated_cuda(force=True) as simulated:
        yield simulated


def traced():
    with trace() as t:
        np.from_dlpack(t.watch(xp.ones(3)))
    return t


#: Objects that hold an address or a handle, by their class.
BOUND = {
    Tensor: lambda: Tensor.from_array(xp.ones(3)),
    dlpack.Trace: traced,
    cuda.Stream: cuda.Stream,
    cuda.Event: cuda.Event,
}
#: The same, for classes that have no public name.
UNNAMED = {
    "the owner of a Tensor": lambda: Tensor.from_dlpack(np.ones(3)).owner,
    "a watched producer": lambda: trace().watch(xp.ones(3)),
    "the driver": driver,
}

#: Records: numbers, text and names, and nothing that is looked up again.
DATA = {
    dlpack.Inspection: lambda: dlpack.inspect(xp.ones((2, 3))),
    dlpack.Field: lambda: dlpack.inspect(xp.ones(3)).fields[0],
    dlpack.Flags: lambda: dlpack.Flags.READ_ONLY,
    dlpack.Step: lambda: traced().steps[3],
    memory.Statistics: memory.statistics,
    profiles.Place: lambda: profiles.place("cpu"),
    profiles.Profile: lambda: profiles.profile("jax32"),
    profiles.Transfer: lambda: profiles.Transfer("to_device", "cpu", "gpu", 8),
    xp.Device: lambda: xp.Device("cpu"),
    DType: lambda: xp.int8,
}
ERRORS = {
    dlpack.CopyError: lambda: dlpack.CopyError("sample"),
    cuda.CudaError: lambda: cuda.CudaError("sample", 2, "CUDA_ERROR_OUT_OF_MEMORY"),
    profiles.UnspecifiedError: lambda: profiles.UnspecifiedError("sample"),
}

#: An array is copied with its memory (tests/test_array.py); Exports holds nothing.
OWN_WAY = {xp.Array, dlpack.Exports}


@pytest.mark.parametrize("name", NAMESPACES)
def test_each_public_class_is_one_or_the_other(name):
    public = importlib.import_module(name)
    things = [getattr(public, exported) for exported in public.__all__]
    classes = {thing for thing in things if inspect.isclass(thing)}
    assert classes <= {*BOUND, *DATA, *ERRORS, *OWN_WAY}


def bound_objects():
    named = {kind.__name__: make for kind, make in BOUND.items()} | UNNAMED
    return pytest.mark.parametrize("make", named.values(), ids=named)


@bound_objects()
def test_a_copy_is_the_object_itself(make):
    thing = make()
    assert copy.copy(thing) is thing
    assert copy.deepcopy(thing) is thing
    assert copy.deepcopy({"inside": [thing]})["inside"][0] is thing


@bound_objects()
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_pickle_is_refused_with_the_reason(make, protocol):
    thing = make()
    words = (
        rf"a {type(thing).__name__} cannot be pickled: .* in this process only\. \w+"
    )
    for given in (thing, {"inside": [thing]}):
        with pytest.raises(TypeError, match=words):
            pickle.dumps(given, protocol)


@pytest.mark.parametrize("make", DATA.values(), ids=lambda make: type(make()).__name__)
def test_a_record_is_data(make):
    record = make()
    assert copy.copy(record) == record
    assert copy.deepcopy(record) == record
    for protocol in PROTOCOLS:
        received = pickle.loads(pickle.dumps(record, protocol))
        assert type(received) is type(record)
        assert received == record


@pytest.mark.parametrize("make", ERRORS.values(), ids=[e.__name__ for e in ERRORS])
def test_an_error_is_data(make):
    error = make()
    copies = [copy.copy(error), copy.deepcopy(error)]
    copies += [pickle.loads(pickle.dumps(error, protocol)) for protocol in PROTOCOLS]
    for received in copies:
        assert type(received) is type(error)
        assert (received.args, vars(received)) == (error.args, vars(error))


@pytest.mark.parametrize(
    "make",
    [
        lambda: xp.ones(3).__dlpack__(),
        lambda: xp.Array.__dlpack_c_exchange_api__,
        lambda: dlpack.structs.managed_tensor(xp.ones(3).__dlpack__())[1],
        lambda: iter(xp.ones(3)),
    ],
    ids=["capsule", "exchange API", "struct", "iterator"],
)
def test_what_belongs_to_others_has_no_copy(make):
    thing = make()
    for function in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            function(thing)


# ---- Tensor --------------------------------------------------------------------------


class Holder:
    def __init__(self, tensor):
        self.tensor = tensor


@pytest.mark.parametrize(
    "duplicate",
    [
        copy.copy,
        copy.deepcopy,
        dataclasses.replace,
        lambda t: copy.deepcopy(Holder(t)).tensor,
        lambda t: copy.copy(Holder(t)).tensor,
        lambda t: dataclasses.replace(t, read_only=True),
    ],
    ids=["copy", "deepcopy", "replace", "deepcopy of a holder", "holder", "changed"],
)
def test_a_copy_of_a_tensor_keeps_the_owner(duplicate):
    x = xp.asarray([1.0, 2.0, 3.0])
    gone = weakref.ref(x)
    tensor = duplicate(Tensor.from_array(x))
    x[0] = 7.0  # seen, for it is the same memory
    del x
    gc.collect()
    assert gone() is not None
    # As much memory of the same size: if the first had been freed, it would be here.
    others = [xp.zeros(3) for _ in range(8)]
    assert np.from_dlpack(tensor).tolist() == [7.0, 2.0, 3.0]
    del tensor
    gc.collect()
    assert gone() is None
    assert len(others) == 8


def test_the_fields_of_a_tensor_are_numbers():
    # A copy of the owner beside the address of the original's memory would be stale.
    x = xp.ones(3)
    tensor = Tensor.from_array(x)
    fields = dataclasses.asdict(tensor)
    assert "owner" not in fields
    assert fields["pointer"] == tensor.pointer
    assert tensor.owner is x


# ---- Streams and events --------------------------------------------------------------


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_a_copy_of_a_stream_keeps_it(simulation, duplicate):
    stream = cuda.Stream()
    handle = stream.handle
    same = duplicate(stream)
    del stream
    gc.collect()
    same.synchronize()
    with same:
        assert cuda.current_stream().handle == handle
    event = duplicate(same.record())
    gc.collect()
    event.synchronize()
    assert event.query()


# ---- Inspections ---------------------------------------------------------------------

SHOW = """\
import pickle, sys
from refarray.dlpack import inspection_memory
inspection_memory.Memory.read = None  # no memory may be read from here on
found = pickle.load(sys.stdin.buffer)
print(found, found.to_dict(), found.svg(), found._repr_html_(), sep="\\n")
"""


def test_an_inspection_can_be_shown_where_the_memory_is_not():
    x = xp.reshape(xp.arange(6, dtype=xp.float64), (2, 3))
    found = dlpack.inspect(x)
    pickled = pickle.dumps(found)
    shown = subprocess.run(
        [sys.executable, "-c", SHOW], input=pickled, capture_output=True, check=True
    )
    expected = [str(found), found.to_dict(), found.svg(), found._repr_html_()]
    assert shown.stdout.decode().rstrip("\n") == "\n".join(map(str, expected))
    assert [element.value for element in found.elements] == [
        0.0,
        1.0,
        2.0,
        3.0,
        4.0,
        5.0,
    ]


# ---- Doubles -------------------------------------------------------------------------


def test_a_copied_array_of_the_test_double_frees_once():
    capsule, case = forge(Forged.of([1.0, 2.0], (2,)))

    class Once:
        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **keywords):
            return capsule

    array = Library().from_dlpack(Once())
    arrays = [array, copy.copy(array), copy.copy(array.owner)]
    del array, arrays
    gc.collect()
    assert case.deleter_calls == 1
