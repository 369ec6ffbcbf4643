"""Elementwise functions: dtypes taken and given, scalars, and the repaired values.

The value suite (refarray/testing/standard) holds every function to the values and
special cases of the standard; here is what it leaves out. Right values come from the
standard, mathematics, or Python's own arithmetic.
"""

from __future__ import annotations

import cmath
import json
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refarray as xp
from refarray._compute import engine
from refarray.testing.standard.functions import FUNCTIONS

INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
REALS = ["float32", "float64"]
COMPLEX = ["complex64", "complex128"]
ALL = ["bool", *INTEGERS, *REALS, *COMPLEX]

# "Should have a ... data type", function by function.
TAKEN = {
    "any": "equal not_equal",
    "numeric": "abs add conj isfinite isinf isnan multiply negative positive pow real "
    "round sign square subtract",
    "real-valued": "ceil clip floor floor_divide greater greater_equal less less_equal "
    "maximum minimum remainder trunc",
    "floating-point": "acos acosh asin asinh atan atanh cos cosh divide exp expm1 log "
    "log10 log1p log2 reciprocal sin sinh sqrt tan tanh",
    "real floating-point": "atan2 copysign hypot logaddexp nextafter signbit",
    "complex floating-point": "imag",
    "integer": "bitwise_left_shift bitwise_right_shift",
    "integer or boolean": "bitwise_and bitwise_invert bitwise_or bitwise_xor",
    "boolean": "logical_and logical_not logical_or logical_xor",
}
DTYPES = {
    "any": ALL,
    "numeric": [*INTEGERS, *REALS, *COMPLEX],
    "real-valued": [*INTEGERS, *REALS],
    "floating-point": [*REALS, *COMPLEX],
    "real floating-point": REALS,
    "complex floating-point": COMPLEX,
    "integer": INTEGERS,
    "integer or boolean": ["bool", *INTEGERS],
    "boolean": ["bool"],
}
BOOLEAN = (
    "equal not_equal greater greater_equal less less_equal isfinite isinf isnan "
    "signbit logical_and logical_not logical_or logical_xor"
).split()
COMPONENT = {"complex64": "float32", "complex128": "float64"}
BINARY = (
    "add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift "
    "bitwise_xor copysign divide equal floor_divide greater greater_equal hypot less "
    "less_equal logaddexp logical_and logical_or logical_xor maximum minimum multiply "
    "nextafter not_equal pow remainder subtract"
).split()
ROWS = [(name, words) for words, names in TAKEN.items() for name in names.split()]


def values(x: Any) -> Any:
    return np.from_dlpack(x).tolist()


def test_every_function_is_here() -> None:
    file = Path(__file__).parents[1] / "data" / "signatures.json"
    standard = json.loads(file.read_text(encoding="utf-8"))["2025.12"]
    names = sorted(standard["elementwise_functions"]["functions"])
    assert sorted(name for name, _ in ROWS) == names
    assert sorted(FUNCTIONS) == names, "in the table of the value suite too"


@pytest.mark.parametrize(("name", "words"), ROWS)
def test_dtypes_taken_and_given(name: str, words: str) -> None:
    function = getattr(xp, name)
    for dtype in ALL:
        x = xp.ones((2,), dtype=getattr(xp, dtype))
        operands = (x, x) if name in BINARY else (x,)
        if dtype not in DTYPES[words]:
            with pytest.raises(TypeError, match=f"{name}.*{dtype}"):
                function(*operands)
            continue
        wanted = dtype
        if name in BOOLEAN:
            wanted = "bool"
        elif name in ("abs", "real", "imag"):
            wanted = COMPONENT.get(dtype, dtype)
        assert function(*operands).dtype is getattr(xp, wanted)


@pytest.mark.parametrize("name", BINARY)
def test_a_scalar_on_either_side(name: str) -> None:
    function = getattr(xp, name)
    words = next(words for words, names in TAKEN.items() if name in names.split())
    dtype = DTYPES[words][-1] if words != "integer or boolean" else "int32"
    x = xp.asarray(
        [1, 0, 1] if dtype == "bool" else [1, 2, 3], dtype=getattr(xp, dtype)
    )
    scalar: Any = True if dtype == "bool" else 2
    array = xp.asarray([scalar] * 3, dtype=x.dtype)
    for came, wanted in (
        (function(x, scalar), function(x, array)),
        (function(scalar, x), function(array, x)),
    ):
        assert came.dtype is wanted.dtype
        assert values(came) == values(wanted)
    with pytest.raises(TypeError, match=name):
        function(scalar, scalar)


@pytest.mark.parametrize("foreign", [np.float32(2), np.ones(3), [1.0, 2.0, 3.0], "2"])
def test_what_is_no_operand(foreign: object) -> None:
    x = xp.ones((3,))
    for call in (
        lambda: xp.add(x, foreign),  # type: ignore[arg-type]
        lambda: xp.add(foreign, x),  # type: ignore[arg-type]
        lambda: xp.sin(foreign),  # type: ignore[arg-type]
        lambda: xp.clip(foreign, 0, 1),  # type: ignore[arg-type]
        lambda: xp.clip(x, foreign),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError):
            call()


def test_a_complex_scalar_makes_a_real_array_complex() -> None:
    x = xp.asarray([1.0, 2.0], dtype=xp.float32)
    assert (x * 1j).dtype is xp.complex64
    assert values(x * 1j) == [1j, 2j]
    with pytest.raises(TypeError, match="atan2"):
        xp.atan2(x, 1j)  # type: ignore[arg-type]


# Repaired kernels --------------------------------------------------------------------


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("exponent", [0.5, xp.asarray(0.5), xp.asarray([0.5])])
def test_a_power_of_one_half_is_no_square_root(dtype: str, exponent: Any) -> None:
    if not isinstance(exponent, float):
        exponent = xp.astype(exponent, getattr(xp, dtype))
    x = xp.asarray([-math.inf, -0.0, 4.0, -1.0], dtype=getattr(xp, dtype))
    came = values(xp.pow(x, exponent))
    assert came[:3] == [math.inf, 0.0, 2.0]
    assert math.copysign(1, came[1]) == 1
    assert math.isnan(came[3])


def test_floor_division_with_infinities() -> None:
    x1 = xp.asarray([math.inf, -math.inf, 7.0, -7.0, math.inf])
    x2 = xp.asarray([2.0, 2.0, -math.inf, -math.inf, math.inf])
    came = values(x1 // x2)
    assert came[:4] == [math.inf, -math.inf, 0.0, 0.0]
    assert [math.copysign(1, v) for v in came[2:4]] == [-1, 1]
    assert math.isnan(came[4])


# The real part is near zero where abs(1 + x) is near 1, which includes the origin.
@pytest.mark.parametrize("dtype", COMPLEX)
def test_log1p_near_the_circle(dtype: str) -> None:
    mpmath = pytest.importorskip("mpmath")
    rng = np.random.default_rng(1)
    distance = rng.normal(size=60) * 10.0 ** rng.uniform(-15, -1, 60)
    around = (1 + distance) * np.exp(1j * rng.uniform(-3, 3, 60)) - 1
    small = (rng.normal(size=60) + 1j * rng.normal(size=60)) * 10.0 ** -rng.integers(
        1, 30, 60
    )
    x = np.concatenate([around, small]).astype(dtype)
    eps = float(np.finfo(dtype).eps)
    with mpmath.workdps(120):
        for given, came in zip(
            x.tolist(), values(xp.log1p(xp.asarray(x))), strict=True
        ):
            wanted = mpmath.log(1 + mpmath.mpc(given))
            for a, b in ((came.real, wanted.real), (came.imag, wanted.imag)):
                assert abs(mpmath.mpf(a) - b) <= 2 * eps * abs(b), given


@pytest.mark.parametrize("dtype", COMPLEX)
def test_sign_of_very_large_and_very_small_numbers(dtype: str) -> None:
    limits = np.finfo(dtype)
    tiny, huge = float(limits.smallest_subnormal), float(limits.max)
    x = np.asarray([complex(huge, -huge), complex(3 * tiny, 4 * tiny)], dtype)
    came = values(xp.sign(xp.asarray(x)))
    root = math.sqrt(0.5)
    for a, b in zip(came, [complex(root, -root), 0.6 + 0.8j], strict=True):
        assert cmath.isclose(a, b, rel_tol=4 * float(limits.eps))


def test_repairs_leave_arrays_of_every_shape_alone() -> None:
    for shape in ((), (0,), (2, 0), (2, 3)):
        z = xp.full(shape, 0.25 + 0.5j)
        x = xp.full(shape, 2.0)
        for came in (xp.expm1(z), xp.log1p(z), xp.sign(z), xp.tan(z), xp.tanh(z)):
            assert came.shape == shape
        for came in (x // x, x // 2.0, 2.0 // x, x**0.5, 2.0**x, x**x):
            assert came.shape == shape


# The rest ----------------------------------------------------------------------------


def test_clip() -> None:
    x = xp.asarray([[1, 5, 9]], dtype=xp.int8)
    assert values(xp.clip(x, 2, 6)) == [[2, 5, 6]]
    assert values(xp.clip(x)) == [[1, 5, 9]]
    assert values(xp.clip(x, max=xp.asarray([[3], [7]], dtype=xp.int8))) == [
        [1, 3, 3],
        [1, 5, 7],
    ]
    # Limits that no int8 reaches do not wrap around.
    assert values(xp.clip(x, -1000, 1000)) == [[1, 5, 9]]
    with pytest.raises(TypeError, match="clip"):
        xp.clip(x, xp.asarray([1000]))
    with pytest.raises(TypeError):
        xp.clip(x, 0.5)


def test_a_call_within_a_call() -> None:
    # As when a finalizer computes while a kernel runs.
    x = xp.asarray([1.0, 4.0, 1e300])
    for function, arguments, wanted in (
        (xp.sqrt, (x,), [1.0, 2.0, 1e150]),
        (xp.add, (x, x), [2.0, 8.0, 2e300]),
        (xp.multiply, (x, 1e300), [1e300, 4e300, math.inf]),
        (xp.subtract, (8, x), [7.0, 4.0, -1e300]),
        (xp.clip, (x, 2, 3), [2.0, 3.0, 3.0]),
        (xp.sum, (x[:2],), 5.0),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert values(engine.call(function, *arguments)) == wanted


def test_results_are_new_arrays() -> None:
    x = xp.asarray([1.0, 2.0])
    for name in ("positive", "real", "conj", "round", "clip", "trunc"):
        y = getattr(xp, name)(x)
        y[0] = 7.0
        assert values(x) == [1.0, 2.0]
