"""Cycles owner -> array -> owner are collected, and nothing that is in use ever is."""

import gc
import random
import subprocess
import sys
import weakref

import numpy as np
import pytest

import refarray as xp
from refarray import dlpack

pixels = np.arange(6.0).reshape(2, 3)


class Owner:
    """An owner of memory that a description names."""

    def lend(self):
        return xp.from_dlpack(
            dlpack.Tensor(pixels.ctypes.data, (2, 3), "float64", owner=self)
        )


class Lender(bytearray):
    """An owner of memory that the buffer protocol lends."""

    def __init__(self):
        super().__init__(48)

    def lend(self):
        return xp.asarray(self, copy=False)


class LenderOfView(Lender):
    """The same, by way of a memoryview."""

    def lend(self):
        return xp.asarray(memoryview(self)[8:40], copy=False)


# What an owner may keep of the array over its memory, all of it in one cycle.
KEPT = {
    "the array": lambda x: x,
    "a view": lambda x: x[1:],
    "the array and views": lambda x: [x, x[1:], x[1:][:1], xp.reshape(x, (-1,))],
    "an array that was computed with": lambda x: [x, x + x, x[1:] + x[1:]],
    "a view that was computed with": lambda x: [x[1:], x[1:] + x[1:]],
    "the array imported again": lambda x: [x, xp.from_dlpack(x), xp.asarray(x)],
    "a memoryview": memoryview,
    "an iterator": iter,
    "a description": dlpack.Tensor.from_array,
    "an imported description": dlpack.Tensor.from_dlpack,
    "an imported description, imported": lambda x: xp.from_dlpack(
        dlpack.Tensor.from_dlpack(dlpack.Tensor.from_array(x))
    ),
}


# Before 3.13 the collector of CPython crashes on a memoryview that is garbage while an
# array still uses it (python/cpython#77894), so that refarray hides it there.
LENDERS = [Owner, Lender]
if sys.version_info >= (3, 13):
    LENDERS.append(LenderOfView)


@pytest.mark.parametrize("owner", LENDERS)
@pytest.mark.parametrize("kept", KEPT)
def test_a_cycle_is_collected(owner, kept, balance):
    with balance:
        o = owner()
        o.kept = KEPT[kept](o.lend())
        gone = weakref.ref(o)
        del o
        gc.collect()
        assert gone() is None


# What else may hold the memory at that time; none of it is seen by the collector.
HOLDERS = {
    "an array": lambda x: x,
    "a view": lambda x: x[1:],
    "an array of NumPy's": np.from_dlpack,
    "a memoryview": memoryview,
    "a capsule": lambda x: x.__dlpack__(),
    "a description": dlpack.Tensor.from_array,
    "an imported description": dlpack.Tensor.from_dlpack,
}


@pytest.mark.parametrize("owner", [Owner, Lender])
@pytest.mark.parametrize("holder", HOLDERS)
def test_an_owner_in_use_is_not_collected(owner, holder):
    o = owner()
    o.kept = x = o.lend()
    held = HOLDERS[holder](x)
    alive = weakref.ref(o)
    del o, x
    gc.collect()
    assert alive() is not None
    assert alive().kept.ndim
    del held
    gc.collect()
    assert alive() is None


def test_an_owner_lives_exactly_as_long_as_it_can_be_reached():
    """Random graphs of owners and arrays, against what can be reached in Python."""
    choose = random.Random(18)
    alive: dict[int, weakref.ref] = {}
    roots: list = []
    for number in range(3000):
        what = choose.random()
        if what < 0.4 or not roots:
            o = choose.choice([Owner, Lender])()
            o.number, o.arrays = number, [o.lend()]
            alive[number] = weakref.ref(o)
            roots.append((o, o.arrays[0]))
        elif what < 0.7:
            # An owner keeps an array over the memory of another one.
            o, _ = choose.choice(roots)
            _, x = choose.choice(roots)
            o.arrays.append(KEPT[choose.choice(list(KEPT))](x))
        else:
            # Either the owner or its array stays.
            o, x = roots.pop(choose.randrange(len(roots)))
            if choose.random() < 0.3:
                roots.append((Owner(), x))
                roots[-1][0].number, roots[-1][0].arrays = -1, []
        if number % 50 == 0:
            gc.collect()
            for _, x in roots:
                # The memory of every array in use is there to be read.
                assert float(xp.sum(xp.astype(x, xp.float64))) >= 0
    reachable = {o.number for o, _ in roots}
    del o, x, _
    gc.collect()
    assert reachable - {-1} <= {n for n, ref in alive.items() if ref() is not None}
    roots.clear()
    gc.collect()
    assert [n for n, ref in alive.items() if ref() is not None] == []


def test_arrays_over_their_own_memory_are_not_tracked():
    # The collector looks at every tracked object again and again.
    x = xp.asarray([1.0, 2.0])
    assert not any(map(gc.is_tracked, (x, x[1:], x + x, xp.from_dlpack(pixels))))


COLLECTED = """
import gc, sys
import refarray as xp

class Lender(bytearray):
    pass

def make(lend):
    o = Lender(16)
    o.x = lend(o)
    o.y = o.x[8:]

class Frame:
    def __init__(self, view):
        self.pixels = xp.asarray(view, copy=False)
        self.itself = self

class Made:
    def __init__(self):
        self.bytes = bytearray(64)
    def __buffer__(self, flags):
        return memoryview(self.bytes)

make(lambda o: xp.asarray(o, copy=False))
make(lambda o: xp.asarray(memoryview(o), copy=False))
make(lambda o: xp.asarray(memoryview(o)[::-1], copy=False))
for lender in (memoryview(bytearray(64)), memoryview(bytearray(64))[::-1], Made()):
    try:
        Frame(lender)
    except (TypeError, ValueError):
        pass  # before 3.12 no class has a buffer
    gc.collect()
    del lender
    gc.collect()
make(lambda o: xp.asarray(o, copy=False))
"""


def test_a_collection_says_nothing(tmp_path):
    # CPython 3.11 writes what fails in a collection to stderr, and goes on.
    ended = subprocess.run(
        [sys.executable, "-c", COLLECTED], capture_output=True, text=True, check=True
    )
    assert ended.stderr == ""
