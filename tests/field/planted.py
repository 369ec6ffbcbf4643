"""NumPy with one fault planted at a time: what the battery has to notice.

Each class names a test that has to fail because of its fault; others may fail as well.
tests/testing/test_battery.py runs this file, which pytest does not collect by itself.
"""

import ctypes

import numpy as np
from arrays import DTYPES, Spy
from exchange import Exchange, load

import refarray as xp
from refarray.testing.forge import Raw

NumPy = type(load("numpy"))
held = []  # what a leak keeps


class Right(Exchange):
    """NumPy as it is."""

    adapter = NumPy()
    takes = DTYPES
    read_only = "kept"
    asks = {"max_version": (1, 0), "dl_device": None, "copy": None}
    asks_device = False
    gives_version = (1, 0)
    given_read_only = "kept"
    round_trips = 3
    #: The test that has to fail.
    condemned_by = ""


class TestNothingIsWrong(Right):
    """The only one in which no test may fail."""


class TestCopiesInSilence(Right):
    condemned_by = "test_takes_values"

    def take(self, x, **keywords):
        return np.from_dlpack(x, **keywords).copy()


class TestTakesOtherValues(Right):
    condemned_by = "test_takes_layouts"

    def take(self, x, **keywords):
        t = np.from_dlpack(x, **keywords)
        return t[..., ::-1] if t.ndim else t


class TestConverts(Right):
    condemned_by = "test_takes_values"

    def take(self, x, **keywords):
        t = np.from_dlpack(x, **keywords)
        return t.astype("float64") if t.dtype == "float32" else t


class TestTakesWhatItSaysItRefuses(Right):
    takes = [name for name in DTYPES if name != "bool"]
    condemned_by = "test_refuses_other_types"


class TestRefusesALayout(Right):
    condemned_by = "test_takes_layouts"

    def take(self, x, **keywords):
        t = np.from_dlpack(x, **keywords)
        if t.shape == (12, 4):
            raise BufferError("transposed")
        return t


class TestTakesALayoutThatItSaysItRefuses(Right):
    refused_layouts = {"strided": BufferError}
    condemned_by = "test_refuses_other_layouts"


class TestSharesWhatItSaysItCopies(Right):
    copied_layouts = ["strided"]
    condemned_by = "test_takes_layouts"


class TestForgetsReadOnly(Right):
    condemned_by = "test_our_read_only_memory"

    def take(self, x, **keywords):
        t = np.from_dlpack(x, **keywords)
        if t.flags.writeable or not t.size:
            return t
        memory = (ctypes.c_char * t.nbytes).from_address(t.ctypes.data)
        again = np.ndarray(t.shape, t.dtype, memory)
        held.append(memory)
        return again


class TestSaysThatItForgets(Right):
    read_only = "lost"
    condemned_by = "test_our_read_only_memory"


class TestLeaksOurs(Right):
    condemned_by = "test_ours_lives_as_long_as_it_is_held_there"

    def take(self, x, **keywords):
        t = np.from_dlpack(x, **keywords)
        held.append(t)
        return t


class TestLetsGoOfOursTooEarly(Right):
    condemned_by = "test_ours_lives_as_long_as_it_is_held_there"

    def take(self, x, **keywords):
        t = np.from_dlpack(x, **keywords)
        if not isinstance(x, Spy):
            return t
        held.append(x.x)  # so that the memory is there: only the deleter is early
        address, copy = t.ctypes.data, (t.shape, t.dtype)
        del t
        size = int(np.prod(copy[0])) * copy[1].itemsize
        return np.ndarray(*copy, (ctypes.c_char * size).from_address(address))


class TestCopiesNothing(Right):
    condemned_by = "test_copies_on_request"

    def take(self, x, **keywords):
        keywords.pop("copy", None)
        return np.from_dlpack(x, **keywords)


class TestAsksOtherwise(Right):
    asks = {}
    condemned_by = "test_what_it_asks"


class TestSaysThatItAsksForTheDevice(Right):
    asks_device = True
    condemned_by = "test_what_it_asks"


class TestCannotBeWritten(Right):
    writes = False
    condemned_by = "test_our_writes_are_seen_there_and_its_writes_here"


class TestGivesCopies(Right):
    condemned_by = "test_gives_layouts"

    def give(self, array, **keywords):
        return xp.from_dlpack(array.copy(), **keywords)


class TestGivesOtherValues(Right):
    condemned_by = "test_gives_values"

    def theirs(self, name):
        right = super().theirs(name)
        return right.copy() + 1 if name == "int16" else right


class TestGivesWhatItSaysItDoesNot(Right):
    gives = [name for name in DTYPES if name != "bool"]
    condemned_by = "test_gives_no_other_types"


class TestLosesReadOnly(Right):
    condemned_by = "test_its_read_only_memory"

    def give(self, array, **keywords):
        if array.flags.writeable or not array.size:
            return xp.from_dlpack(array, **keywords)
        return xp.from_dlpack(array.copy(), **keywords)


class Leaking(np.ndarray):
    def __dlpack__(self, **question):
        held.append(super().__dlpack__(**question))
        return held[-1]


class Leaks(NumPy):
    def make(self, values, shape, dtype):
        return super().make(values, shape, dtype).view(Leaking)


class TestLeaksCapsules(Right):
    adapter = Leaks()
    condemned_by = "test_a_capsule_that_nobody_takes_is_freed"


class TestGivesAnotherVersion(Right):
    condemned_by = "test_the_version_of_its_capsules"

    def export(self, array):
        return array.__dlpack__()


class TestAnnouncesAnotherDevice(Right):
    condemned_by = "test_the_device_is_that_of_the_capsule"

    def export(self, array):
        capsule = super().export(array)
        Raw(capsule).managed.dl_tensor.device.device_type = 3
        return capsule
