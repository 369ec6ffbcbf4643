"""The battery: what every exchange with a library must do, and what this one does.

A file of this folder subclasses `Exchange` (or `Takes`, `Gives`, for libraries with one
direction), and its class attributes state what the library does. Each test holds
refarray and the library against that: a dtype that is not named must be refused.

    class TestExchange(Exchange):
        adapter = load("torch")
        takes = DTYPES
        refused_layouts = {"reversed": RuntimeError}

A library that does otherwise in one point overrides that test, with a mark of
conftest.py. One that needs other calls overrides `take`, `give`, `export` or `layout`.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import arrays
import numpy as np
import pytest
from arrays import DTYPES, LAYOUTS, VERSION, Spy, numbers, ours, read_only, reads, watch

import refarray as xp
from refarray.dlpack import from_capsule
from refarray.testing.adapters import Adapter
from refarray.testing.findings import NotApplicable
from refarray.testing.forge import NAMES, Raw
from refarray.testing.loading import LoadingError
from refarray.testing.loading import load as load_adapter

ADAPTERS = Path(__file__).resolve().parents[2] / "adapters"

Errors = type[BaseException] | tuple[type[BaseException], ...]


def load(name: str) -> Adapter:
    """Return the adapter of adapters/NAME.py; skip the file without its library."""
    try:
        return load_adapter(str(ADAPTERS / f"{name}.py"))
    except LoadingError as error:
        if isinstance(error.__cause__, ImportError):
            pytest.skip(_not_installed(name), allow_module_level=True)
        raise


def library(module: str, name: str | None = None) -> ModuleType:
    """Return the library's module; skip the file without it."""
    reason = _not_installed(name or module)
    imported: ModuleType = pytest.importorskip(
        module, reason=reason, exc_type=ImportError
    )
    return imported


def _not_installed(name: str) -> str:
    return f"{name} is not installed; `make field LIBRARIES={name}` installs it"


def settle() -> None:
    """Let go of what waits for the garbage collector, chains of it too."""
    for _ in range(5):
        gc.collect()


class Side:
    """What both directions need to know of a library."""

    #: From `load`: makes, reads and writes its arrays.
    adapter: Adapter
    #: The data type for all tests that are not about data types.
    base = "float64"

    def take(self, x: Any, **keywords: Any) -> Any:
        """Return the library's array over the memory of `x`."""
        return self.adapter.from_dlpack(x, **keywords)

    def give(self, array: Any, **keywords: Any) -> Any:
        """Return refarray's array over the memory of the library's."""
        return xp.from_dlpack(array, **keywords)

    def export(self, array: Any) -> object:
        """Return a capsule of the library's array."""
        return arrays.export(array)

    def pointer(self, array: Any) -> int:
        """Return where the first element of the library's array lies."""
        return Raw(self.export(array)).first

    def type_of(self, array: Any) -> str:
        """Return the name of the data type of the library's array."""
        triple = Raw(self.export(array)).dtype
        return {**NAMES, (2, 16, 1): "float16"}[triple]

    def theirs(self, name: str) -> Any:
        """Return `numbers(name)` in memory of the library."""
        return self.adapter.make(numbers(name).ravel().tolist(), (4, 12), name)

    def layout(self, array: Any, name: str) -> Any:
        """Return a view of the library's array."""
        return LAYOUTS[name](array)

    def write(self, array: Any, value: float) -> bool:
        """Set all elements of the library's array; tell whether it can be done."""
        try:
            self.adapter.write(array, value)
        except NotApplicable:
            return False
        return True


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

    def shares(self, layout: str) -> bool:
        return not self.copies and layout not in self.copied_layouts

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
            if x.size and self.shares(taken_layout):
                assert self.pointer(t) == arrays.address(x)
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
        if not self.copies and self.write(t, 60.0):
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
                    assert not self.write(t, 99.0)
                elif self.write(t, 99.0):
                    is_changed = bool(reads(x)[0, 0] == 99.0)
                    assert is_changed is (self.read_only == "lost")
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


class Gives(Side):
    """The library's arrays in refarray."""

    #: Data types that its arrays have and refarray takes, of DTYPES.
    gives: Sequence[str]
    #: What its export raises for the other types of the adapter.
    given_refusal: Errors = BufferError
    #: Views that it can make of its arrays.
    given_layouts: Sequence[str] = tuple(LAYOUTS)
    #: The version that its capsules carry, or "legacy"; None: not stated.
    gives_version: tuple[int, int] | str | None = None
    #: We may write into its ordinary arrays.
    gives_writable = True
    #: What becomes of its read-only arrays: "kept", "lost" or the exception of its
    #: export; None: it has none.
    given_read_only: str | type[BaseException] | None = None
    #: xp.from_dlpack(..., copy=True) works, or what it raises.
    gives_copy: bool | type[BaseException] = True

    def pytest_generate_tests(self, metafunc: Any) -> None:
        if "given" in metafunc.fixturenames:
            metafunc.parametrize("given", self.gives)
        if "given_layout" in metafunc.fixturenames:
            metafunc.parametrize("given_layout", self.given_layouts)

    def test_gives_values(self, given):
        t = self.theirs(given)
        x = self.give(t)
        assert str(x.dtype) == given
        assert arrays.address(x) == self.pointer(t)
        assert reads(x).tolist() == numbers(given).tolist()
        assert memoryview(x).readonly is not self.gives_writable

    def test_gives_no_other_types(self, balance):
        with balance:
            for name in self.adapter.dtypes:
                if name not in self.gives:
                    with pytest.raises(self.given_refusal):
                        self.give(self.theirs(name))
            settle()

    def test_gives_layouts(self, given_layout, balance):
        with balance:
            t = self.layout(self.theirs(self.base), given_layout)
            x = self.give(t)
            expected = np.asarray(LAYOUTS[given_layout](numbers(self.base)))
            assert x.shape == self.adapter.shape(t) == expected.shape
            assert reads(x).tolist() == expected.tolist()
            if x.size:
                assert arrays.address(x) == self.pointer(t)
            del t, x
            settle()

    def test_its_writes_are_seen_here_and_ours_there(self):
        t = self.theirs(self.base)
        x = self.give(t)
        if self.gives_writable:
            x[1, 2] = 50.0
            assert self.adapter.read(t)[14] == 50.0
        else:
            with pytest.raises(ValueError, match="read-only"):
                x[1, 2] = 50.0
            assert self.adapter.read(t)[14] == 14.0
        if self.write(t, 60.0):
            assert reads(x).tolist() == [[60.0] * 12] * 4

    def test_its_read_only_memory(self):
        try:
            t = self.adapter.read_only(self.theirs(self.base))
        except NotApplicable:
            assert self.given_read_only is None
            return
        if isinstance(self.given_read_only, str):
            x = self.give(t)
            assert memoryview(x).readonly is (self.given_read_only == "kept")
        else:
            with pytest.raises(self.given_read_only):
                self.give(t)

    def test_its_memory_lives_as_long_as_it_is_held_here(self, balance):
        with balance:
            t = self.theirs(self.base)
            capsule = self.export(t)
            calls = watch(capsule)
            x = from_capsule(capsule)[2:]
            del t, capsule
            junk = [self.theirs(self.base) for _ in range(50)]
            settle()
            assert reads(x).tolist() == numbers(self.base)[2:].tolist()
            assert calls() == 0
            del x, junk
            settle()
            assert calls() == 1

    def test_a_capsule_that_nobody_takes_is_freed(self):
        t = self.theirs(self.base)
        capsule = self.export(t)
        calls = watch(capsule)
        del capsule
        assert calls() == 1
        assert self.adapter.read(t) == numbers(self.base).ravel().tolist()

    def test_the_consumer_may_go_first(self, balance):
        with balance:
            t = self.theirs(self.base)
            self.give(t)
            settle()
            assert self.adapter.read(t) == numbers(self.base).ravel().tolist()
            del t
            settle()

    def test_the_device_is_that_of_the_capsule(self):
        t = self.theirs(self.base)
        kind, number = t.__dlpack_device__()
        assert (int(kind), number) == Raw(self.export(t)).device == self.adapter.device

    def test_gives_copies_on_request(self):
        t = self.theirs(self.base)
        if self.gives_copy is not True:
            with pytest.raises(self.gives_copy):
                self.give(t, copy=True)
        else:
            x = self.give(t, copy=True)
            assert arrays.address(x) != self.pointer(t)
            x[1, 2] = 50.0
            assert self.adapter.read(t)[14] == 14.0
        assert arrays.address(self.give(t, copy=False)) == self.pointer(t)
        shared = self.give(t, device=xp.Device("cpu"))
        assert arrays.address(shared) == self.pointer(t)

    def test_the_version_of_its_capsules(self):
        raw = Raw(self.export(self.theirs(self.base)))
        if self.gives_version is not None:
            assert (raw.version or "legacy") == self.gives_version
        assert raw.version is None or raw.version[0] == VERSION[0]


class Exchange(Takes, Gives):
    """Both directions. The library gives what it takes, if nothing is said of that."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "gives" not in vars(cls) and "takes" in vars(cls):
            cls.gives = cls.takes

    def pytest_generate_tests(self, metafunc: Any) -> None:
        Takes.pytest_generate_tests(self, metafunc)
        Gives.pytest_generate_tests(self, metafunc)

    def test_round_trips_keep_one_memory(self, balance):
        with balance:
            x = ours(self.base)
            start = arrays.address(x)
            for _ in range(100):
                x = self.give(self.take(x))
                if memoryview(x).readonly:
                    break  # what becomes of read-only memory, another test says
            assert (arrays.address(x) == start) is not self.copies
            assert reads(x).tolist() == numbers(self.base).tolist()
            del x
            settle()
