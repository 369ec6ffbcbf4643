"""No object that refarray hands out leads to what it computes with.

NumPy computes on views that arrays keep, and views share whole allocations. A caller
who could reach one of these could change the shape, dtype or flags of an array that
refarray uses, write to read-only memory, or reach elements outside an array. Looked at
here: pickles with their buffers outside, `__array__`, the buffer protocol and all that
is made from it, DLPack's capsules and descriptions, operands and scalars that NumPy
would call back, CUDA's array interface, and exceptions.
"""

import copy
import dataclasses
import pickle
import warnings
from contextlib import suppress

import numpy as np
import pytest

import refarray as xp
import refarray.memory
from refarray import profiles
from refarray._base import dtypes
from refarray._memory.native import Buffer
from refarray.dlpack import Tensor
from refarray.dlpack.structs import managed_tensor
from refarray.testing.simulated_driver import simulated_cuda


def pickle_buffers(x):
    sent = []
    pickle.dumps(x, 5, buffer_callback=sent.append)
    return sent


#: What a caller can get of an array, by public means.
ROUTES = {
    "pickle": pickle_buffers,
    "reduce": lambda x: list(x.__reduce_ex__(5)[1]),
    "__array__": lambda x: [x.__array__()],
    "numpy.asarray": lambda x: [np.asarray(x)],
    "memoryview": lambda x: [memoryview(x)],
    "numpy.frombuffer": lambda x: [np.frombuffer(x, np.uint8)],
    "numpy.from_dlpack": lambda x: [np.from_dlpack(x)],
    "Tensor.from_array": lambda x: [Tensor.from_array(x)],
    "Tensor.from_buffer": lambda x: [Tensor.from_buffer(x)],
    "Tensor.from_dlpack": lambda x: [Tensor.from_dlpack(x)],
    "NumPy's own sum": lambda x: [np.add(np.asarray(x), 0)],
}

#: Each looks at a part of the memory that it lies in.
LAYOUTS = {
    "row-major": lambda x: x[1:3, :],
    "one row": lambda x: x[1, :],
    "transposed": lambda x: x[:, :2].mT,
    "strided": lambda x: x[::2, ::-1],
    "one element": lambda x: x[1, 1],
    "read-only": lambda x: xp.broadcast_to(x[1, :], (2, 3)),
    "read-only row": lambda x: xp.broadcast_to(x[1, :], (1, 3)),
}


def leads_to(things):
    """Follow all public attributes that lead from one holder of memory to the next."""
    found, waiting = [], list(things)
    while waiting:
        thing = waiting.pop()
        found.append(thing)
        if isinstance(thing, pickle.PickleBuffer):
            waiting.append(memoryview(thing))
        for name in ("obj", "base", "owner"):
            following = getattr(thing, name, None)
            if following is not None and not any(following is one for one in found):
                waiting.append(following)
    return found


def taken(route, x):
    try:
        return leads_to(ROUTES[route](x))
    except (BufferError, RuntimeError, TypeError, ValueError):
        return []  # it does not take this dtype or layout


def ones(name):
    """Return 4 x 3 ones of any dtype; refarray only holds the last two, of others."""
    if name == "bfloat16":
        bits = Tensor.from_buffer(np.full((4, 3), 0x3F80, np.uint16))
        return xp.from_dlpack(dataclasses.replace(bits, dtype=(4, 16, 1)))
    return xp.from_dlpack(np.ones((4, 3), name))


#: An array itself, what is made of it, and NumPy's scalars, which are copies.
OPEN = xp.Array | pickle.PickleBuffer | memoryview | np.generic


def extent(x):
    """First and last address of the elements, by the array's own description."""
    tensor = Tensor.from_array(x)
    reaches = [(n - 1) * s for n, s in zip(tensor.shape, tensor.strides, strict=True)]
    size = tensor.dtype[1] // 8
    low = tensor.pointer + size * sum(min(reach, 0) for reach in reaches)
    high = tensor.pointer + size * (1 + sum(max(reach, 0) for reach in reaches))
    return low, high


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("route", ROUTES)
def test_nothing_reaches_beyond_the_array(route, layout):
    for name in (*map(str, dtypes.STANDARD), "float16", "bfloat16"):
        parent = ones(name)
        x = LAYOUTS[layout](parent)
        found = taken(route, x)
        assert not any(isinstance(thing, Buffer) for thing in found), name
        assert not any(thing is x._view or thing is parent._view for thing in found)
        low, high = extent(parent)
        first, last = extent(x)
        for thing in found:
            if isinstance(thing, np.ndarray | memoryview):
                start, end = np.lib.array_utils.byte_bounds(np.asarray(thing))
                if low <= start < high:  # and no copy
                    assert first <= start <= end <= last, name
            elif not isinstance(thing, OPEN):
                with pytest.raises(TypeError):  # neither array nor buffer: opaque
                    memoryview(thing)


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if "read-only" in name])
@pytest.mark.parametrize("route", ROUTES)
def test_read_only_memory_stays_read_only(route, layout):
    parent = xp.ones((4, 3))
    x = LAYOUTS[layout](parent)
    before = memoryview(parent).tolist()
    for thing in taken(route, x):
        if isinstance(thing, Tensor):
            assert thing.read_only
        with suppress(ValueError):
            if isinstance(thing, np.ndarray):
                thing.setflags(write=True)
        with suppress(TypeError, ValueError, BufferError):
            np.asarray(thing)[...] = 7
    assert memoryview(parent).tolist() == before


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("route", ROUTES)
def test_what_is_done_to_views_does_not_change_results(route, layout):
    refarray.memory.empty_cache()
    x = LAYOUTS[layout](xp.reshape(xp.arange(12, dtype=xp.float64), (4, 3)))
    _ = x + x  # the kernels' view is there
    expected = np.array(memoryview(x)) * 2
    for thing in taken(route, x):
        if isinstance(thing, np.ndarray):
            with suppress(ValueError, AttributeError), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # NumPy 2.5 deprecates it
                thing.shape = (-1,)
            with suppress(ValueError, TypeError), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                thing.dtype = np.uint8
            thing.setflags(write=False)
    np.testing.assert_array_equal(np.asarray(x + x), expected)
    if "read-only" not in layout:
        x += x
        np.testing.assert_array_equal(np.asarray(x), expected)
    shape = x.shape
    del x
    # Memory and its view are used again for an array of the same size.
    fresh = xp.full(shape, 1.5)
    assert set(memoryview(xp.reshape(fresh + 0, (-1,))).tolist()) == {1.5}


@pytest.mark.parametrize(
    "profile", ["gpu", "immutable", "adversarial", "numpy_interop"]
)
@pytest.mark.parametrize("name", ["float64", "bfloat16"])
def test_pickles_of_profiles_lend_no_view(profile, name):
    with profiles.use(profile):
        x = ones(name)[1:2, :]
        sent = pickle_buffers(x)
        found = leads_to(sent)
        assert not any(thing is x._view or isinstance(thing, Buffer) for thing in found)
        y = pickle.loads(
            pickle.dumps(x, 5, buffer_callback=lambda _: False), buffers=sent
        )
        assert (y.shape, y.dtype, y.device) == (x.shape, x.dtype, x.device)
        if name == "float64" and not profiles.active().mutable:  # it is no copy
            assert memoryview(sent[0]).readonly


# ---- Exports -------------------------------------------------------------------------


@pytest.mark.parametrize("version", [None, (1, 3)])
def test_the_fields_of_a_capsule_are_its_own(version):
    x = xp.reshape(xp.arange(6), (2, 3))
    capsule = x.__dlpack__(max_version=version)
    tensor = managed_tensor(capsule)[1].dl_tensor
    tensor.shape[0], tensor.strides[0], tensor.ndim = 100, 100, 1
    assert x.shape == (2, 3)
    assert np.from_dlpack(x).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert memoryview(x + x).tolist() == [[0, 2, 4], [6, 8, 10]]


def test_the_cuda_array_interface_is_the_callers_own():
    with simulated_cuda(force=True):
        x = xp.asarray([1.0, 2.0], device=xp.Device("cuda:0"))
        first = x.__cuda_array_interface__
        first["shape"] = (100,)
        assert x.__cuda_array_interface__["shape"] == x.shape == (2,)


# ---- Operands that NumPy would call back ---------------------------------------------

HOOKS = ("array_ufunc", "array_function", "array", "array_wrap", "array_finalize")


class Called(Exception):
    """A hook of an operand was called; its arguments may be the kernels' views."""


def hook(self, *args, **kwargs):
    raise Called


NAMES = {f"__{name}__": hook for name in HOOKS}
NAMES["__array_interface__"] = NAMES["__array_struct__"] = property(hook)
Real, Integer = type("Real", (float,), NAMES), type("Integer", (int,), NAMES)

CALLS = {
    name: getattr(xp, name) for name in xp.__all__ if callable(getattr(xp, name))
} | {
    name: getattr(xp.Array, name)
    for name in dir(xp.Array)
    if name.startswith("__") and callable(getattr(xp.Array, name))
}


@pytest.mark.parametrize("profile", ["strict", "pedantic", "adversarial", "gpu"])
def test_scalars_are_shown_no_view(profile):
    asked = 0
    with profiles.use(profile):
        for x, scalar in (
            (xp.asarray([1.0, 2.0]), Real(1.0)),
            (xp.asarray([1.0, 2.0]), Integer(1)),
            (xp.asarray([1, 2]), Integer(1)),
        ):
            mask = xp.asarray([True, False])
            for arguments in (
                *((x, scalar), (scalar, x), (x, scalar, scalar), (scalar,)),
                *((mask, x, scalar), (x, mask, scalar), ([scalar, scalar],)),
                *(((2,), scalar), (x, 0, scalar), (x, slice(None), scalar)),
            ):
                for function in CALLS.values():
                    try:
                        function(*arguments)
                        asked += 1
                    except Called:
                        raise
                    except Exception as error:
                        assert not isinstance(error.__context__, Called), function
    assert asked > 100


# ---- Exceptions ----------------------------------------------------------------------


def test_exceptions_carry_no_view():
    x = xp.ones((2, 3))
    seen = 0
    for function in CALLS.values():
        for arguments in ((x, x), (x, "text"), (x, x, x), (x, 99), (x[0, :], x), (x,)):
            try:
                function(*arguments)
            except Exception as error:
                chain = error
                while chain is not None:
                    held = [*chain.args, *vars(chain).values()]
                    held.append(getattr(chain, "obj", None))  # of an AttributeError
                    held += leads_to(one for one in held if one is not None)
                    assert not any(isinstance(one, np.ndarray | Buffer) for one in held)
                    chain = chain.__cause__ or chain.__context__
                    seen += 1
    assert seen > 100


def test_the_copies_of_an_array_have_views_of_their_own():
    x = xp.ones(3)
    for y in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x, 5))):
        assert y._view is not x._view
        assert not np.shares_memory(y._view, x._view)
