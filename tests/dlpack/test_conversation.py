"""What `from_dlpack` asks producers of every age, and what it makes of their answers.

Each keyword of `__dlpack__` came in one version of the standard: `stream` in 2021.12,
and `max_version`, `dl_device` and `copy` in 2023.12. Libraries have taken up the last
three one at a time. Each flag of a tensor is a promise about its memory.

Source: array API 2025.12, array.__dlpack__, notes, and from_dlpack, `copy`; DLPack 1.3,
DLPACK_FLAG_BITMASK_READ_ONLY and DLPACK_FLAG_BITMASK_IS_COPIED.
"""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

import refarray as xp
from refarray.testing.forge import CUDA, IS_COPIED, READ_ONLY, Tensor
from refarray.testing.producers import Producer

GOOD = Tensor.of([1.0, 2.0, 3.0], (3,))
TAKE = [xp.from_dlpack, xp.asarray]


class Knows(Producer):
    """A producer whose `__dlpack__` takes some keywords only.

    `questions` are the sets of keywords that it was asked with, each noted once.
    """

    def __init__(self, tensor: Tensor, *known: str, **options: Any) -> None:
        super().__init__(tensor, **options)
        self.known = set(known)
        self.questions: list[set[str]] = []

    def __dlpack__(self, **keywords: Any) -> object:
        if set(keywords) not in self.questions:
            self.questions.append(set(keywords))
        unknown = set(keywords) - self.known
        if unknown:
            raise TypeError(f"unexpected keyword argument {unknown.pop()!r}")
        return super().__dlpack__(**keywords)


def address(x: xp.Array) -> int:
    return xp.dlpack.Tensor.from_array(x).pointer


# Producers of every age --------------------------------------------------------------

AGES = {
    "2021.12": {"stream"},
    "without a keyword": set(),
    "max_version only": {"stream", "max_version"},
    "2023.12": {"stream", "max_version", "dl_device", "copy"},
}


@pytest.mark.parametrize("copy", [None, False, True])
@pytest.mark.parametrize("age", AGES)
def test_a_producer_is_asked_again_for_less_until_it_understands(age, copy):
    x = Knows(GOOD, *AGES[age])
    y = xp.from_dlpack(x, copy=copy)
    assert memoryview(y).tolist() == [1.0, 2.0, 3.0]
    assert (address(y) == GOOD.data) is (copy is not True)
    question = {"max_version"} if copy is None else {"max_version", "copy"}
    wanted = [question]
    for fewer in ({"max_version"}, set()):
        if not wanted[-1] <= x.known and fewer != wanted[-1]:
            wanted.append(fewer)
    assert x.questions == wanted
    del y
    assert x.deleter_calls == [1]


@pytest.mark.parametrize("copy", [False, True])
def test_one_that_knows_max_version_only_may_still_lend_read_only_memory(copy):
    # A legacy capsule could not say that the memory is read-only.
    x = Knows(GOOD.but(flags=READ_ONLY), "stream", "max_version")
    y = xp.from_dlpack(x, copy=copy)
    assert x.asked("max_version") == [(1, 3)]
    assert memoryview(y).readonly is not copy


def test_one_that_knows_no_dl_device_is_asked_again_and_refused_once():
    x = Knows(GOOD.but(device=CUDA), "stream", "max_version")
    with pytest.raises(BufferError, match=r"\(2, 0\)"):
        xp.from_dlpack(x, device=xp.Device("cpu"))
    assert x.questions == [{"max_version", "dl_device"}, {"max_version"}]
    assert x.deleter_calls == [1]


# What the flags promise --------------------------------------------------------------


@pytest.mark.parametrize("copy", [None, False, True])
@pytest.mark.parametrize("flags", [0, READ_ONLY, IS_COPIED, IS_COPIED | READ_ONLY])
@pytest.mark.parametrize("take", TAKE)
def test_each_flag_with_each_copy(take, flags, copy):
    x = Producer(GOOD.but(flags=flags), ignore_copy=True)
    if copy is False and flags & IS_COPIED:
        with pytest.raises(ValueError, match="copy=False"):
            take(x, copy=copy)
        assert x.deleter_calls == [1]
        return
    y = take(x, copy=copy)
    # The flag says that the memory is the consumer's alone: a second copy is a waste,
    # unless the first one cannot be written.
    taken_over = copy is not True or flags == IS_COPIED
    assert (address(y) == GOOD.data) is taken_over
    assert x.deleter_calls == [0 if taken_over else 1]
    read_only = copy is not True and bool(flags & READ_ONLY)
    assert memoryview(y).readonly is read_only
    if copy is True:
        y[0] = 1.0  # raises if it is read-only
    assert memoryview(y).tolist() == [1.0, 2.0, 3.0]
    del y
    assert x.deleter_calls == [1]


@pytest.mark.parametrize("take", TAKE)
def test_a_legacy_capsule_promises_no_copy(take):
    x = Producer(GOOD, legacy_only=True, ignore_copy=True)
    y = take(x, copy=True)
    assert address(y) != GOOD.data
    assert x.deleter_calls == [1]


# What stays of a producer's type -----------------------------------------------------


def references() -> int:
    """Return how many weak references there are in this process."""
    gc.collect()
    return sum(isinstance(thing, weakref.ref) for thing in gc.get_objects())


def test_types_made_on_the_fly_do_not_pile_up():
    def take_one() -> weakref.ref[type]:
        kind = type("Made", (Producer,), {})
        for _ in range(3):  # from the second on the type is known
            assert xp.from_dlpack(kind(GOOD)).shape == (3,)
        return weakref.ref(kind)

    before = references()
    made = [take_one() for _ in range(1000)]
    gc.collect()
    assert [kind() for kind in made if kind() is not None] == []
    # What is remembered of types that are gone is bounded too, by 256 entries.
    made.clear()
    assert references() - before <= 256
