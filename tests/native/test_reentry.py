"""Python code that runs in the midst of C: finalizers, overridden methods, kernels."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import refarray as xp
from refarray import _native
from refarray._memory.native import allocate, elementwise, join

CPU = xp.Device("cpu")
pytestmark = pytest.mark.usefixtures("unguarded")
NEGATIVE = {xp.float64.key: (np.negative, xp.float64)}


class Finalizer:
    """Garbage that only the collector finds, and that then calls a function."""

    def __init__(self, function: Callable[[], None]) -> None:
        self.itself = self
        self.function = function

    def __del__(self) -> None:
        self.function()


def with_a_finalizer(function: Callable[[], None], act: Callable[[], Any]) -> Any:
    """Return act(), in which the collector runs as soon as a tuple is made."""
    gc.collect()
    gc.disable()
    Finalizer(function)
    kept = [tuple([n] * size) for n in range(3000) for size in (4, 5)]
    gc.set_threshold(1)
    gc.enable()
    try:
        return act()
    finally:
        gc.set_threshold(700, 10, 10)
        del kept


def new() -> xp.Array:
    x: xp.Array = allocate((3,), xp.float64, CPU, True)
    return x


def test_a_plan_may_go_while_the_views_are_made() -> None:
    class Kernel:
        def __call__(self, x: Any, out: Any) -> None:
            np.copyto(out, 7.0)

    plans = {xp.float64.key: (Kernel(), xp.float64)}
    x = new()
    out = with_a_finalizer(plans.clear, lambda: elementwise(plans, x))
    assert list(out._view) == [7, 7, 7]


def test_a_list_may_be_filled_anew_while_the_views_are_made() -> None:
    arrays = [new(), new(), new()]

    def fill_anew() -> None:
        arrays[:] = [new(), new(), new()]

    out = with_a_finalizer(fill_anew, lambda: join(np.concatenate, arrays, 0))
    assert out.shape == (9,)


@pytest.mark.needs("GIL")  # else the collector takes its time
def test_a_list_may_be_emptied_while_it_is_read() -> None:
    arrays = [new() for _ in range(40)]
    try:
        out = with_a_finalizer(arrays.clear, lambda: join(np.concatenate, arrays, 0))
    except IndexError:
        pass  # as soon as a tuple of its length was made
    else:
        assert out.shape == (120,)
    assert arrays == []


def test_a_list_that_tells_another_length() -> None:
    class Longer(list[xp.Array]):
        def __len__(self) -> int:
            return next(lengths)

    lengths = iter([2, 9, 9, 9, 9])
    assert join(np.concatenate, Longer([new(), new()]), 0) is None
    arrays = Longer([new(), new()])
    lengths = iter([2] * 20)
    assert xp.concat(arrays).shape == (6,)


def test_what_a_kernel_raises_is_raised_once() -> None:
    calls = 0

    def kernel(*operands: Any) -> None:
        nonlocal calls
        calls += 1
        raise RuntimeError("the first time")

    for act in (
        lambda: elementwise({xp.float64.key: (kernel, xp.float64)}, new()),
        lambda: _native.call(kernel, 1),
    ):
        calls = 0
        with pytest.raises(RuntimeError, match="the first time"):
            act()
        assert calls == 1


def test_a_kernel_in_a_kernel() -> None:
    def kernel(x: Any, out: Any) -> None:
        with np.errstate(all="raise"):
            np.copyto(out, elementwise(NEGATIVE, new())._view)

    out = elementwise({xp.float64.key: (kernel, xp.float64)}, new())
    assert list(out._view) == [0, 0, 0]
