"""Repaired elements and ordinary ones side by side, each as the standard wants it.

The oracles are Python's exact arithmetic, its `math` and `cmath`, and the special cases
of array API 2025.12, elementwise functions.
"""

import cmath
import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import refarray as xp

INF, NAN = math.inf, math.nan
REALS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")


def values(x):
    return np.from_dlpack(x).tolist()


def shown(x):
    """Text that tells the two zeros apart, and no NaN from another."""
    return "nan" if math.isnan(x) else repr(x)


# floor_divide ------------------------------------------------------------------------

NUMBERS = (0.0, -0.0, 0.5, 1.0, -1.0, 2.0, -2.0, 7.0, -7.5, INF, -INF, NAN)


def quotient(a, b):
    """Return floor(a / b) by the special cases of floor_divide."""
    sign = math.copysign(1, a) * math.copysign(1, b)
    if math.isnan(a) or math.isnan(b) or (math.isinf(a) and math.isinf(b)):
        return NAN
    if a == b == 0:
        return NAN
    if math.isinf(a) or b == 0:
        return sign * INF
    if math.isinf(b) or a == 0:
        return sign * 0.0
    return float(math.floor(Fraction(a) / Fraction(b)))


@pytest.mark.parametrize("dtype", REALS)
def test_floor_division_of_every_pair(dtype):
    dtype = getattr(xp, dtype)
    for a, b in product(NUMBERS, repeat=2):
        x1, x2 = xp.asarray([a], dtype=dtype), xp.asarray([b], dtype=dtype)
        wanted = shown(quotient(a, b))
        # Operands without dimensions are looked through in another way.
        for came in (x1 // x2, x1 // b, a // x2, x1 // x2[0], x1[0] // x2):
            assert shown(values(came)[0]) == wanted, (a, b)
        assert shown(float(x1[0] // x2[0])) == wanted, (a, b)


@pytest.mark.parametrize("dtype", REALS)
def test_floor_division_of_all_pairs_at_once(dtype):
    x = xp.asarray(NUMBERS, dtype=getattr(xp, dtype))
    came = values(x[:, None] // x[None, :])
    for (i, a), (j, b) in product(enumerate(NUMBERS), repeat=2):
        assert shown(came[i][j]) == shown(quotient(a, b)), (a, b)


# pow ---------------------------------------------------------------------------------


def power(a, b):
    try:
        return math.pow(a, b)  # C99, Annex F, which the special cases follow
    except ValueError:
        return NAN


@pytest.mark.parametrize("dtype", REALS)
def test_powers_of_one_half_among_others(dtype):
    dtype = getattr(xp, dtype)
    bases = (INF, -INF, 0.0, -0.0, 4.0, 0.25, 1.0, -1.0, -4.0, NAN)
    exponents = (0.5, 2.0, 1.0, 3.0, 0.0)
    x1, x2 = xp.asarray(bases, dtype=dtype), xp.asarray(exponents, dtype=dtype)
    together = values(x1[:, None] ** x2)
    for (i, a), (j, b) in product(enumerate(bases), enumerate(exponents)):
        wanted = shown(power(a, b))
        assert shown(together[i][j]) == wanted, (a, b)
        assert shown(values(x1**b)[i]) == wanted, (a, b)
        assert shown(values(x1[i] ** x2)[j]) == wanted, (a, b)


# Complex functions -------------------------------------------------------------------

ORDINARY = (0.5 + 0.25j, -1 + 2j, -1 + 0.5j, 1 - 1j, 3 + 4j, 1e-20 + 1e-20j, 0.01 - 2j)


def expm1(z):
    return z if abs(z) < 1e-10 else cmath.exp(z) - 1


def log1p(z):
    return z if abs(z) < 1e-10 else cmath.log(1 + z)


# (function, the same by cmath, an argument that needs the repair, its result)
AMONG_OTHERS = [
    ("expm1", expm1, complex(-INF, 0), -1 + 0j),
    ("expm1", expm1, complex(-0.0, 0.0), 0j),
    ("tanh", cmath.tanh, complex(INF, 2), 1 + 0j),
    ("tanh", cmath.tanh, complex(-INF, 2), -1 + 0j),
    ("tanh", cmath.tanh, complex(INF, -2), complex(1, -0.0)),
    ("tan", cmath.tan, complex(2, INF), 1j),
    ("tan", cmath.tan, complex(-2, INF), complex(-0.0, 1)),
    ("tan", cmath.tan, complex(2, -INF), complex(0, -1)),
    ("sign", lambda z: z / abs(z), 0j, 0j),
    ("log1p", log1p, complex(INF, 0), complex(INF, 0)),
]


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize(("name", "oracle", "special", "wanted"), AMONG_OTHERS)
def test_complex_special_cases_among_others(dtype, name, oracle, special, wanted):
    function, dtype = getattr(xp, name), getattr(xp, dtype)
    eps = xp.finfo(dtype).eps
    x = xp.asarray([*ORDINARY, special, *ORDINARY], dtype=dtype)
    came = values(function(x))
    for z, w in zip(ORDINARY * 2, came[:7] + came[8:], strict=True):
        # complex64 rounds the argument first.
        assert abs(w - oracle(z)) <= 16 * eps * abs(oracle(z)), z
    for alone in (came[7], complex(function(x[7])), values(function(x[7:8]))[0]):
        assert [shown(alone.real), shown(alone.imag)] == [
            shown(wanted.real),
            shown(wanted.imag),
        ]


@pytest.mark.parametrize("dtype", COMPLEX)
def test_acosh_of_nan_on_the_imaginary_axis_and_beside_it(dtype):
    dtype = getattr(xp, dtype)
    x = xp.asarray([complex(a, NAN) for a in (0, -1, 1, 0.5)] + [2 + 0j], dtype=dtype)
    on, *beside, ordinary = values(xp.acosh(x))
    assert math.isnan(on.real)
    assert math.isclose(abs(on.imag), math.pi / 2, rel_tol=1e-6)
    for z in beside:
        assert math.isnan(z.real) and math.isnan(z.imag)
    assert math.isclose(ordinary.real, math.acosh(2), rel_tol=1e-6)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_the_sign_of_any_magnitude(dtype):
    limits = np.finfo(dtype)
    eps, tiny = float(limits.eps), float(limits.smallest_subnormal)
    normal, huge = float(limits.smallest_normal), float(limits.max)
    # Their magnitude is no multiple of the smallest number; the last one overflows.
    x = [
        complex(s * 2 * scale, t * 3 * scale)
        for scale in (1.0, tiny, 5 * tiny, normal / 8, normal, huge / 8, huge / 3.5)
        for s, t in product((1, -1), repeat=2)
    ]
    came = values(xp.sign(xp.asarray(x, dtype=getattr(xp, dtype))))
    for z, w in zip(x, came, strict=True):
        wanted = complex(math.copysign(2, z.real), math.copysign(3, z.imag))
        assert abs(w - wanted / math.sqrt(13)) <= 4 * eps, z
