"""What CuPy lacks of NumPy is not asked of it. NumPy is CuPy here, with the same gaps.

The gaps are those of CuPy 14's source. Values are NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import refarray as xp
from refarray._memory import device_views
from refarray._memory.cupy_kernels import Kernels


class Ufunc:
    """A ufunc that reduces and accumulates if it adds or multiplies."""

    def __init__(self, ufunc: np.ufunc) -> None:
        self.ufunc = ufunc
        self.outer = ufunc.outer

    def __call__(self, *operands: Any, **named: Any) -> Any:
        return self.ufunc(*operands, **named)

    def __getattr__(self, name: str) -> Any:
        if self.ufunc not in (np.add, np.multiply):
            raise NotImplementedError(f"{self.ufunc.__name__}.{name}")

        def limited(
            array: Any,
            axis: Any = 0,
            dtype: Any = None,
            out: Any = None,
            keepdims: bool = False,
        ) -> Any:
            more = {"keepdims": keepdims} if name == "reduce" else {}
            return getattr(self.ufunc, name)(array, axis, dtype, out, **more)

        return limited


class Limited(ModuleType):
    """NumPy, as far as CuPy has it."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        if name == "vecdot":
            raise AttributeError(name)
        return Ufunc(found) if isinstance(found, np.ufunc) else found

    @property
    def fft(self) -> ModuleType:
        namespace = ModuleType("fft")
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):

            def limited(
                a: Any,
                n: Any = None,
                axis: int = -1,
                norm: Any = None,
                *,
                f: str = name,
            ) -> Any:
                return getattr(np.fft, f)(a, n, axis, norm)

            setattr(namespace, name, limited)
        return namespace

    def searchsorted(
        self, a: Any, v: Any, side: str = "left", sorter: Any = None
    ) -> Any:
        if not isinstance(v, np.ndarray):
            raise NotImplementedError("Only int or ndarray are supported for v")
        return np.searchsorted(a, v, side, sorter)

    def isin(self, element: Any, test_elements: Any, invert: bool = False) -> Any:
        assert isinstance(element, np.ndarray) and isinstance(test_elements, np.ndarray)
        return np.isin(element, test_elements, invert=invert)

    def repeat(self, a: Any, repeats: Any, axis: int | None = None) -> Any:
        assert isinstance(repeats, (int, list))
        return np.repeat(a, repeats, axis)


@pytest.fixture
def device(simulated: Any, monkeypatch: pytest.MonkeyPatch) -> xp.Device:
    monkeypatch.setattr(device_views, "np", Kernels(Limited("limited")))
    return xp.Device("cuda:0")


VALUES = np.random.default_rng(5).normal(size=(3, 4, 2))

CASES: list[tuple[Callable[[Any], Any], Callable[[Any], Any]]] = [
    (lambda x: xp.max(x), lambda a: a.max()),
    (lambda x: xp.max(x, axis=1), lambda a: a.max(1)),
    (
        lambda x: xp.min(x, axis=(0, 2), keepdims=True),
        lambda a: a.min((0, 2), None, True),
    ),
    (lambda x: xp.any(x > 1, axis=0), lambda a: (a > 1).any(0)),
    (lambda x: xp.all(x < 1, keepdims=True), lambda a: (a < 1).all(keepdims=True)),
    (lambda x: xp.sum(x, axis=1), lambda a: a.sum(1)),
    (lambda x: xp.prod(x), lambda a: a.prod()),
    (lambda x: xp.cumulative_sum(x, axis=2), lambda a: a.cumsum(2)),
    (lambda x: xp.cumulative_prod(x, axis=0), lambda a: a.cumprod(0)),
    (lambda x: xp.vecdot(x, x[:1, ...], axis=-2), lambda a: (a * a[:1]).sum(1)),
    (
        lambda x: xp.vecdot(x + 1j, x - 2j),
        lambda a: ((a - 1j) * (a - 2j)).sum(-1),
    ),
    (lambda x: xp.fft.fft(x + 0j, axis=0), lambda a: np.fft.fft(a, axis=0)),
    (
        lambda x: xp.fft.ifftn(x + 0j, norm="ortho"),
        lambda a: np.fft.ifftn(a, norm="ortho"),
    ),
    (lambda x: xp.fft.rfft(x, n=5, axis=1), lambda a: np.fft.rfft(a, 5, 1)),
    (lambda x: xp.fft.irfft(x + 0j, axis=1), lambda a: np.fft.irfft(a, axis=1)),
    (lambda x: xp.fft.hfft(x + 0j, axis=1), lambda a: np.fft.hfft(a, axis=1)),
    (lambda x: xp.fft.ihfft(x, axis=1), lambda a: np.fft.ihfft(a, axis=1)),
    (
        lambda x: xp.searchsorted(xp.sort(x[:, 0, 0]), 0.1),
        lambda a: np.searchsorted(np.sort(a[:, 0, 0]), 0.1),
    ),
    (lambda x: xp.isin(xp.astype(x, xp.int8), 1), lambda a: a.astype("i1") == 1),
    (
        lambda x: xp.isin(1, xp.astype(x, xp.int8), invert=True),
        lambda a: np.array(1 not in a.astype("i1")),
    ),
    (
        lambda x: xp.repeat(x, xp.asarray([0, 2, 1], device=x.device), axis=0),
        lambda a: np.repeat(a, [0, 2, 1], 0),
    ),
    (lambda x: xp.repeat(x, 2), lambda a: np.repeat(a, 2)),
    (
        lambda x: xp.linalg.vector_norm(x, ord=float("inf"), axis=1),
        lambda a: abs(a).max(1),
    ),
    (
        lambda x: xp.linalg.vector_norm(x[:, :0, :], ord=float("inf"), axis=1),
        lambda a: np.zeros((3, 2)),
    ),
    (
        lambda x: xp.linalg.vector_norm(
            x, ord=-float("inf"), axis=(0, 1), keepdims=True
        ),
        lambda a: abs(a).min((0, 1), keepdims=True),
    ),
    (lambda x: xp.linalg.matrix_norm(x, ord=1), lambda a: abs(a).sum(-2).max(-1)),
    (lambda x: xp.astype(10 * x, xp.int16), lambda a: (10 * a).astype("i2")),
    (lambda x: xp.std(x, axis=0), lambda a: a.std(0)),
    (lambda x: xp.sort(x, axis=1, descending=True), lambda a: -np.sort(-a, 1)),
    (lambda x: xp.unique_values(x), np.unique),
]


@pytest.mark.parametrize(("ours", "right"), CASES)
def test_results(device: xp.Device, ours: Any, right: Any) -> None:
    x = xp.asarray(VALUES, device=device)
    found = np.asarray(ours(x).to_device(xp.Device("cpu")))
    expected = right(VALUES)
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def test_nothing_to_reduce(device: xp.Device) -> None:
    with pytest.raises(ValueError, match="at least one element"):
        xp.max(xp.zeros(0, device=device))
    assert bool(xp.all(xp.zeros(0, dtype=xp.bool, device=device)))


def test_not_a_number_is_kept(device: xp.Device) -> None:
    x = xp.asarray([1.0, float("nan"), 3.0], device=device)
    assert np.isnan(float(xp.max(x))) and np.isnan(float(xp.min(x)))
