"""Pickles of arrays carry data only, and a crafted one makes arrays or exceptions.

Loading a pickle from a stranger runs what it names, with any library. refarray's names
nothing but the three things below, so a program can allow these and refuse the rest;
and whoever calls them with other arguments gets an exception, or an array.
"""

from __future__ import annotations

import io
import itertools
import os
import pickle
import pickletools

import pytest

import refarray as xp
from refarray._compute.array import _restore

ALLOWED = {
    ("refarray._compute.array", "_restore"),
    ("refarray._base.devices", "Device"),
}
X = xp.reshape(xp.arange(6, dtype=xp.int16), (2, 3))


class Allowing:
    def find_class(self, module, name):
        is_dtype = module == "refarray._base.dtypes" and name in DTYPES
        if is_dtype or (module, name) in ALLOWED:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is not allowed")


class Careful(Allowing, pickle.Unpickler):
    """What a program that trusts no pickle would use."""


class CarefulInPython(Allowing, pickle._Unpickler):
    """The same where nothing is sane: LONG_BINPUT has the other take up to 64 GiB."""


DTYPES = {str(dtype) for dtype in xp.__array_namespace_info__().dtypes().values()}


def named(data):
    """Return what a pickle names, of protocols in which it stands in one opcode."""
    return {arg for code, arg, _ in pickletools.genops(data) if code.name == "GLOBAL"}


def test_a_pickle_names_its_parts_and_nothing_else():
    assert named(pickle.dumps(X, 2)) - {"_codecs encode"} == {
        "refarray._compute.array _restore",
        "refarray._base.dtypes int16",
        "refarray._base.devices Device",
    }


@pytest.mark.parametrize("protocol", range(3, pickle.HIGHEST_PROTOCOL + 1))
def test_a_program_that_allows_only_these_can_load_it(protocol):
    found = Careful(io.BytesIO(pickle.dumps(X, protocol))).load()
    assert memoryview(found).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_what_is_beside_the_array_is_refused_there():
    class Evil:
        def __reduce__(self):
            return os.getcwd, ()

    with pytest.raises(pickle.UnpicklingError, match="getcwd"):
        Careful(io.BytesIO(pickle.dumps([X, Evil()], 5))).load()


CPU = X.device
ONE = bytes(8)
NONSENSE = {
    "fewer bytes": (xp.float64, (3,), ONE),
    "more bytes": (xp.float64, (1,), 2 * ONE),
    "half an element": (xp.float64, (3,), b"short"),
    "no bytes, much memory": (xp.float64, (2**33,), b""),
    "no bytes, more than there is": (xp.float64, (2**62,), b""),
    "a size that overflows": (xp.float64, (2**40, 2**40), b""),
    "a size that overflows to 0": (xp.float64, (2**32, 2**32), b""),
    "a negative extent": (xp.float64, (-1,), b""),
    "two negative extents": (xp.float64, (-1, -1), ONE),
    "65 axes": (xp.float64, (1,) * 65, ONE),
    "a shape that is none": (xp.float64, ("a",), ONE),
    "a shape of floats": (xp.float64, (1.0,), ONE),
    "a list for a shape": (xp.float64, [1], ONE),
    "a dtype's name": ("float64", (1,), ONE),
    "no dtype": (None, (0,), b""),
    "a list of numbers": (xp.float64, (1,), [1.0]),
    "nothing": (xp.float64, (1,), None),
    "a part of memory with gaps": (xp.float64, (1,), memoryview(2 * ONE)[::2]),
    "a device's name": (xp.float64, (1,), ONE, "cpu"),
    "an object for a device": (xp.float64, (1,), ONE, object()),
}


@pytest.mark.parametrize("what", NONSENSE)
def test_nonsense_is_refused(what, balance):
    with balance, pytest.raises((TypeError, ValueError, BufferError)):
        _restore(*NONSENSE[what])


def test_a_changed_byte_ends_in_an_array_or_an_exception(balance):
    good = pickle.dumps(X, 4)
    with balance:
        for at, byte in itertools.product(range(len(good)), (0, 1, 127, 255)):
            bad = bytearray(good)
            bad[at] = byte
            try:
                found = CarefulInPython(io.BytesIO(bytes(bad))).load()
            except Exception:
                continue
            assert not isinstance(found, xp.Array) or str(found)
            del found


def test_a_device_that_is_not_registered_is_refused():
    data = pickle.dumps(X, 2).replace(b"cpu", b"gpu")
    with pytest.raises(ValueError, match="gpu"):
        pickle.loads(data)
