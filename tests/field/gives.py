"""Half of the battery: what becomes of a library's arrays in refarray.

Next: exchange.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import arrays
import numpy as np
import pytest
from arrays import LAYOUTS, VERSION, numbers, reads, watch
from side import Errors, Side, settle

import refarray as xp
from refarray.dlpack import from_capsule
from refarray.testing.findings import NotApplicable
from refarray.testing.forge import Raw
from refarray.testing.rules_capsule import unconsumed_capsule_is_freed


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
        assert self.write(t, 60.0) is self.writes
        if self.writes:
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
        # Some free without the deleter; then the rule looks at memory.
        assert calls() == 1 or not unconsumed_capsule_is_freed(self.adapter)
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
