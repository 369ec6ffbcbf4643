"""Half of the battery: what becomes of our arrays in a library. Next: gives.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import arrays
import numpy as np
import pytest
from arrays import DTYPES, LAYOUTS, Spy, numbers, ours, read_only, reads
from side import Errors, Side, settle

import refarray as xp
from refarray.testing.findings import NotApplicable


class Takes(Side):
    """Our arrays in the library."""

    #: Data types that its consumer takes, of DTYPES.
    takes: Sequence[str]
    #: What it raises for all others.
    refusal: Errors = BufferError
    #: Taken, and made another type: {"float64": "float32"}.
    converts: Mapping[str, str] = {}
    #: Layouts that its consumer refuses, with the exception.
    refused_layouts: Mapping[str, Errors] = {}
    #: Layouts that it copies, though it shares others.
    copied_layouts: Sequence[str] = ()
    #: Its import always copies.
    copies = False
    #: What becomes of our read-only array: "kept", "lost", "copied" or the exception.
    read_only: str | type[BaseException] = "lost"
    #: Its from_dlpack has the keyword `copy`.
    takes_copy = True
    #: The keywords with which it asks for a capsule first; None: not stated.
    asks: Mapping[str, Any] | None = None
    #: It asks for the device.
    asks_device: bool | None = None

    def pytest_generate_tests(self, metafunc: Any) -> None:
        names = [name for name in LAYOUTS if name not in self.refused_layouts]
        if "taken" in metafunc.fixturenames:
            metafunc.parametrize("taken", self.takes)
        if "taken_layout" in metafunc.fixturenames:
            metafunc.parametrize("taken_layout", names)

    def refuse(self, x: Any, error: Errors) -> None:
        with pytest.raises(error):
            self.take(x)

    def test_takes_values(self, taken):
        x = ours(taken)
        t = self.take(x)
        assert self.adapter.shape(t) == (4, 12)
        assert self.adapter.read(t) == numbers(taken).ravel().tolist()
        assert self.type_of(t) == self.converts.get(taken, taken)
        if not self.copies and taken not in self.converts:
            assert self.pointer(t) == arrays.address(x)

    def test_refuses_other_types(self, balance):
        with balance:
            for name in DTYPES:
                if name not in self.takes:
                    self.refuse(ours(name), self.refusal)
            settle()

    def test_takes_layouts(self, taken_layout, balance):
        with balance:
            x = LAYOUTS[taken_layout](ours(self.base))
            expected = np.asarray(LAYOUTS[taken_layout](numbers(self.base)))
            t = self.take(x)
            assert self.adapter.shape(t) == x.shape == expected.shape
            assert self.adapter.read(t) == expected.ravel().tolist()
            if x.size and not self.copies:
                is_shared = self.pointer(t) == arrays.address(x)
                assert is_shared is (taken_layout not in self.copied_layouts)
            del x, t
            settle()

    def test_refuses_other_layouts(self, balance):
        with balance:
            for name, error in self.refused_layouts.items():
                self.refuse(LAYOUTS[name](ours(self.base)), error)
            settle()

    def test_our_writes_are_seen_there_and_its_writes_here(self):
        x = ours(self.base)
        t = self.take(x)
        x[1, 2] = 50.0
        assert self.adapter.read(t)[14] == (14.0 if self.copies else 50.0)
        assert self.write(t, 60.0) is self.writes
        if self.writes and not self.copies:
            assert reads(x).tolist() == [[60.0] * 12] * 4

    def test_our_read_only_memory(self, balance):
        with balance:
            x = read_only()
            if not isinstance(self.read_only, str):
                self.refuse(x, self.read_only)
            else:
                t = self.take(x)
                assert self.adapter.read(t) == numbers().ravel().tolist()
                if self.read_only == "kept":
                    assert self.adapter.is_read_only(t) is not False
                    with pytest.raises((NotApplicable, TypeError, ValueError)):
                        self.adapter.write(t, 99.0)
                elif self.read_only == "copied":
                    assert self.pointer(t) != arrays.address(x)
                else:
                    assert self.write(t, 99.0), "what cannot be written is kept"
                    assert reads(x)[0, 0] == 99.0
                del t
            del x
            settle()

    def test_ours_lives_as_long_as_it_is_held_there(self, balance):
        with balance:
            spy = Spy(ours(self.base))
            t = self.take(spy)
            spy.x = None
            junk = [xp.full((48,), 7.0) for _ in range(50)]
            settle()
            assert self.adapter.read(t) == numbers(self.base).ravel().tolist()
            # What is asked for twice is thrown away once.
            assert self.copies or spy.deleted()[-1] == 0
            del t, junk
            settle()
            assert set(spy.deleted()) == {1}

    def test_copies_on_request(self):
        x = ours(self.base)
        if not self.takes_copy:
            with pytest.raises(TypeError):
                self.take(x, copy=True)
            return
        t = self.take(x, copy=True)
        assert self.pointer(t) != arrays.address(x)
        x[1, 2] = 50.0
        assert self.adapter.read(t)[14] == 14.0
        if not self.copies:
            assert self.pointer(self.take(x, copy=False)) == arrays.address(x)

    def test_takes_the_device_cpu(self):
        x = ours(self.base)
        if self.adapter.cpu is not None:
            t = self.take(x, device=self.adapter.cpu)
            assert self.copies or self.pointer(t) == arrays.address(x)

    def test_what_it_asks(self):
        spy = Spy(ours(self.base))
        self.take(spy)
        if self.asks is not None:
            assert spy.asked[0] == dict(self.asks)
        if self.asks_device is not None:
            assert bool(spy.devices_asked) is self.asks_device
