"""fftarray: arrays that know position and frequency."""

import math

import fftarray as fa
import pytest

import refarray as xp

# 16 points from -4, half a unit apart.
DIM = fa.dim("x", n=16, d_pos=0.5, pos_min=-4.0, freq_min=-1.0)


def positions():
    return fa.coords_from_dim(DIM, "pos", xp=xp)


def elements(array):
    values = array.values(array.spaces, xp=xp)
    assert isinstance(values, xp.Array)
    return memoryview(values).tolist()


def test_coordinates():
    assert elements(positions()) == [-4 + 0.5 * i for i in range(16)]


def test_there_and_back():
    x = fa.exp(-(positions() ** 2))
    back = x.into_space("freq").into_space("pos")
    for came, wanted in zip(elements(fa.real(back)), elements(x), strict=True):
        assert came == pytest.approx(wanted, abs=1e-14)


def test_the_transform_of_a_gaussian_is_a_gaussian():
    x = fa.exp(-math.pi * positions() ** 2).into_space("freq")
    frequencies = [-1 + i / 8 for i in range(16)]
    assert max(map(abs, elements(fa.imag(x)))) < 1e-12
    for came, f in zip(elements(fa.real(x)), frequencies, strict=True):
        # Two samples per unit add the same curve, two units of frequency away.
        wanted = sum(math.exp(-math.pi * (f + 2 * k) ** 2) for k in range(-2, 3))
        assert came == pytest.approx(wanted, abs=1e-12)


def test_integration():
    total = fa.integrate(fa.exp(-math.pi * positions() ** 2))
    assert float(total.values((), xp=xp)) == pytest.approx(1, abs=1e-5)
