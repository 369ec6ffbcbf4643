"""Fourier transforms: pairs known from mathematics, sizes, norms, what is refused.

The value suite (`python -m refarray.testing.standard refarray --only 'fft.*'`) holds
every function to its defining sum.
"""

import cmath
import math

import numpy as np
import pytest

import refarray as xp

fft = xp.fft


def values(x):
    assert type(x) is xp.Array
    return np.from_dlpack(x).tolist()


def close(x, wanted):
    np.testing.assert_allclose(np.from_dlpack(x), wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", [xp.complex64, xp.complex128], ids=str)
def test_an_impulse_has_a_flat_spectrum(dtype):
    impulse = xp.asarray([0, 1, 0], dtype=dtype)
    spectrum = fft.fft(impulse)
    assert spectrum.dtype is dtype
    close(spectrum, [cmath.exp(-2j * math.pi * k / 3) for k in range(3)])
    close(fft.ifft(spectrum), [0, 1, 0])


@pytest.mark.parametrize("dtype", [xp.float32, xp.float64], ids=str)
def test_a_cosine_has_one_line(dtype):
    n = 8
    signal = xp.asarray([math.cos(2 * math.pi * 2 * k / n) for k in range(n)])
    signal = xp.astype(signal, dtype)
    spectrum = fft.rfft(signal)
    assert spectrum.dtype is xp.result_type(dtype, xp.complex64)
    close(spectrum, [0, 0, 4, 0, 0])
    back = fft.irfft(spectrum)
    assert back.dtype is dtype
    close(back, np.from_dlpack(signal))


def test_half_of_a_hermitian_signal():
    half = xp.asarray([1, 2 + 1j, 3])
    spectrum = fft.hfft(half)
    whole = [1, 2 + 1j, 3, 2 - 1j]
    roots = [[cmath.exp(-2j * math.pi * j * k / 4) for j in range(4)] for k in range(4)]
    wanted = [sum(r * v for r, v in zip(row, whole, strict=True)) for row in roots]
    close(spectrum, np.real(wanted))
    close(fft.ihfft(spectrum), [1, 2 + 1j, 3])
    assert fft.hfft(half, n=5).shape == (5,)
    for norm in ("backward", "ortho", "forward"):
        again = fft.ihfft(fft.hfft(half, norm=norm), norm=norm)
        close(again, [1, 2 + 1j, 3])


def test_norms_divide_once_forward_or_by_the_root():
    ones = xp.ones(4, dtype=xp.complex128)
    for norm, wanted in (("backward", 4), ("ortho", 2), ("forward", 1)):
        assert values(fft.fft(ones, norm=norm))[0] == wanted
    for norm, wanted in (("backward", 1), ("ortho", 2), ("forward", 4)):
        assert values(fft.ifft(ones, norm=norm))[0] == wanted
    with pytest.raises(ValueError, match="norm is"):
        fft.fft(ones, norm="both")
    with pytest.raises(ValueError, match="norm is"):
        fft.hfft(ones, norm="both")


def test_padding_and_cutting():
    x = xp.asarray([1, 2, 3], dtype=xp.complex128)
    padded = xp.asarray([1, 2, 3, 0, 0], dtype=xp.complex128)
    assert values(fft.fft(x, n=5)) == values(fft.fft(padded))
    assert values(fft.fft(x, n=2)) == [3, -1]
    assert fft.irfft(x).shape == (4,)
    assert fft.irfft(x, n=5).shape == (5,)


def test_several_axes():
    x = xp.reshape(xp.arange(6, dtype=xp.float64), (2, 3))
    z = xp.astype(x, xp.complex128)
    whole = fft.fftn(z)
    assert values(whole)[0][0] == 15
    close(fft.ifftn(whole), np.from_dlpack(z))
    close(fft.rfftn(x), np.from_dlpack(whole)[:, :2])
    close(fft.irfftn(fft.rfftn(x), s=(2, 3), axes=(0, 1)), np.from_dlpack(x))
    assert fft.rfftn(x, axes=(1, 0)).shape == (2, 3)
    assert fft.fftn(z, s=(4, -1), axes=(0, 1)).shape == (4, 3)


def test_frequencies():
    assert values(fft.fftfreq(4)) == [0, 0.25, -0.5, -0.25]
    assert values(fft.fftfreq(5, d=0.1)) == [0, 2, 4, -4, -2]
    assert values(fft.rfftfreq(4)) == [0, 0.25, 0.5]
    assert values(fft.rfftfreq(5, d=0.1)) == [0, 2, 4]
    # The number nearest to 1/3, not a multiple of a rounded 1/(n d).
    assert values(fft.fftfreq(3))[1] == 1 / 3
    assert fft.fftfreq(3, dtype=xp.float32).dtype is xp.float32
    inf = float("inf")
    assert values(fft.fftfreq(3, d=1e-300, dtype=xp.float32)) == [0, inf, -inf]
    assert fft.rfftfreq(1).dtype is xp.float64
    with pytest.raises(TypeError, match="real floating-point"):
        fft.fftfreq(3, dtype=xp.complex64)


def test_shifts_are_inverses_also_for_odd_sizes():
    x = xp.reshape(xp.arange(15, dtype=xp.float32), (3, 5))
    assert values(fft.fftshift(xp.asarray([0.0, 1, 2, -2, -1]))) == [-2, -1, 0, 1, 2]
    assert values(fft.ifftshift(fft.fftshift(x))) == values(x)
    assert values(fft.fftshift(x, axes=1)) == values(fft.fftshift(x, axes=[-1]))


def test_a_shift_of_no_axes_gives_the_same_elements():
    """All axes of an array without any, and none of them: nothing is moved."""
    for x, axes in ((xp.asarray(2.5), None), (xp.asarray([1.0, 2.0]), ())):
        for shift in (fft.fftshift, fft.ifftshift):
            out = shift(x, axes=axes)
            assert values(out) == values(x) and out.shape == x.shape
            assert not np.shares_memory(np.from_dlpack(out), np.from_dlpack(x))


def test_what_is_refused():
    z = xp.ones(3, dtype=xp.complex128)
    for function in (fft.rfft, fft.ihfft, fft.rfftn):
        with pytest.raises(TypeError, match="real floating-point"):
            function(z)
    for n in (2.0, True):
        with pytest.raises(TypeError):
            fft.fft(z, n=n)
    with pytest.raises(IndexError):
        fft.fft(z, axis=1)
    with pytest.raises(IndexError):
        fft.fft(z[0])
    # For each of the functions, whatever is wrong with it.
    for function in (fft.fft, fft.ifft, fft.irfft, fft.hfft):
        for norm in (["forward"], "both", None):
            with pytest.raises(ValueError, match="norm is 'backward', 'ortho' or"):
                function(z, norm=norm)
    for function in (fft.fftn, fft.ifftn, fft.irfftn):
        for keywords in ({"axes": 0}, {"s": 2, "axes": (0,)}, {"axes": 1.5}):
            with pytest.raises(TypeError, match="takes a sequence of integers as"):
                function(z, **keywords)
    with pytest.raises(ValueError, match="without the axes"):
        fft.fftn(z, s=(2,))
    with pytest.raises(ValueError, match="one size for each"):
        fft.fftn(z, s=(2, 2), axes=(0,))
