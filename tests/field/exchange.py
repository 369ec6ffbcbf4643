"""The battery: what every exchange with a library must do, and what this one does.

A file of this folder subclasses `Exchange` (or `Takes`, `Gives`, for libraries with one
direction), and its class attributes state what the library does. Each test holds
refarray and the library against that: a dtype that is not named must be refused.
takes.py and gives.py say what each attribute means. To begin with, `adapter` and
`takes` are enough: each test that fails asks for one more of them.

    class TestExchange(Exchange):
        adapter = load("torch")
        takes = DTYPES
        refused_layouts = {"reversed": RuntimeError}

A library that does otherwise in one point overrides that test, with a mark of
conftest.py. One that needs other calls overrides `take`, `give`, `export` or `layout`.
"""

from __future__ import annotations

from typing import Any

import arrays
from arrays import numbers, ours, reads
from gives import Gives
from side import library, load, settle
from takes import Takes

__all__ = ["Exchange", "Gives", "Takes", "library", "load", "settle"]


class Exchange(Takes, Gives):
    """Both directions. The library gives what it takes, if nothing is said of that."""

    round_trips = 100

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
            for _ in range(self.round_trips):
                x = self.give(self.take(x))
                if memoryview(x).readonly:
                    break  # what becomes of read-only memory, another test says
            assert (arrays.address(x) == start) is not self.copies
            assert reads(x).tolist() == numbers(self.base).tolist()
            del x
            settle()
