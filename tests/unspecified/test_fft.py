"""Fourier transforms where the standard leaves a choice.

The table: docs/reference/unspecified.md.
"""

import math

import numpy as np
import pytest

import refarray as xp

fft = xp.fft


def values(x):
    return np.from_dlpack(x).tolist()


def test_a_real_array_is_not_made_complex_unasked():
    real = xp.ones(3)
    for function in (fft.fft, fft.ifft, fft.irfft, fft.hfft, fft.fftn, fft.irfftn):
        with pytest.raises(TypeError, match="complex floating-point"):
            function(real)
    for function in (fft.fftshift, fft.ifftshift):
        with pytest.raises(TypeError, match="floating-point"):
            function(xp.arange(3))


def test_no_elements_have_no_transform():
    z = xp.ones(3, dtype=xp.complex128)
    for n in (0, -1):
        with pytest.raises(ValueError, match="at least one"):
            fft.fft(z, n=n)
        with pytest.raises(ValueError, match="at least one"):
            fft.fftfreq(n)
    for refused in (lambda: fft.fft(z[:0]), lambda: fft.irfft(z[:1])):
        with pytest.raises(ValueError, match="at least one"):
            refused()


def test_axes_named_twice_or_not_at_all():
    z = xp.ones((2, 2), dtype=xp.complex128)
    with pytest.raises(ValueError, match="twice"):
        fft.fftn(z, axes=(0, -2))
    with pytest.raises(ValueError, match="twice"):
        fft.fftshift(z, axes=(0, -2))
    copy = fft.ifftn(z, axes=())
    copy[0, 0] = 5
    assert values(z)[0][0] == 1
    for refused in (lambda: fft.irfftn(z, axes=()), lambda: fft.rfftn(xp.ones(()))):
        with pytest.raises(ValueError, match="at least one axis"):
            refused()


def test_the_last_size_of_irfftn_may_be_left_to_it():
    z = xp.ones((2, 3), dtype=xp.complex128)
    assert fft.irfftn(z, s=(2, -1), axes=(0, 1)).shape == (2, 4)


def test_a_spacing_of_zero_gives_infinite_frequencies():
    zero, *others = values(fft.fftfreq(3, d=0.0))
    assert math.isnan(zero)
    assert others == [math.inf, -math.inf]
